// Curves over time, drawn by uPlot. One chart per title.

import { byId, element, format, moment, clocked, unclocked, day, hour, year, write } from "./model.js";
import { phrase, explain, hint, wordOf } from "./words.js";
import { theme, learnerColor, learnerDash, onTheme } from "./theme.js";

const most = 3000; // points of a curve; beyond, every second is dropped
const few = 40; // points up to which each is marked: one alone is no line
let scene = null, charts = [], times = [], series = [], mark = null, held = null, marks = [], timer = 0, sought = null;

// onSeek names who hears of the time at which a chart is clicked.
export function onSeek(f) { sought = f; }

export function begin(s) {
  scene = s; times = []; series = s.curves.map(() => []); mark = held = null; marks = [];
  build();
}

function build() {
  for (const c of charts) c.plot?.destroy();
  charts = [];
  byId("charts").replaceChildren();
  const titles = [...new Set(scene.curves.map(c => c.chart))];
  for (const title of titles) {
    const index = scene.curves.map((c, k) => c.chart === title ? k : -1).filter(k => k >= 0);
    const card = element("section", null, { class: "card chart", "aria-label": title }), names = element("ul", null, { class: "names" }), plot = element("div", null, { class: "plot" });
    const values = index.filter(k => !scene.curves[k].edge).map(k => {
      const li = element("li"), sample = element("canvas", null, { width: 44, height: 16, "aria-hidden": "true" }), b = element("b", "–");
      b.dataset.curve = k;
      const word = wordOf(scene.curves[k].name);
      li.append(sample, (title === titles[0] ? explain : hint)(element("span", scene.curves[k].name, word ? { class: "word" } : {}), word), b);
      names.append(li);
      return { k, sample, b };
    });
    const head = element("h2"), when = element("span");
    head.append(...phrase(title), when);
    card.append(head, ...notes(index), names, plot);
    byId("charts").append(card);
    const blank = element("p", scene.curves[index[0]].blank || "No numbers yet.", { class: "blank" });
    plot.append(blank);
    charts.push({ index, values, when, blank, holder: plot, plot: null });
  }
  paintSamples();
  later();
}

// notes are the sentences that say what a chart shows.
const notes = index => index.map(k => scene.curves[k].note).filter(text => typeof text === "string" && text).map(text => element("p", text, { class: "note" }));

function paintSamples() {
  for (const c of charts) for (const v of c.values) {
    const x = v.sample.getContext("2d");
    x.clearRect(0, 0, 44, 16);
    x.strokeStyle = learnerColor(scene.curves[v.k].learner); x.lineWidth = 5; x.setLineDash(dashOf(c, v.k).map(d => 2 * d));
    x.beginPath(); x.moveTo(0, 8); x.lineTo(44, 8); x.stroke();
  }
}

function make(chart) {
  const about = scene.curves[chart.index[0]], axis = { stroke: () => theme.soft, grid: { stroke: () => theme.rule, width: 1 }, ticks: { stroke: () => theme.rule, width: 1 }, font: "11px system-ui, sans-serif" };
  const decades = (u, list) => about.log ? powers(list) : list, label = v => (Math.abs(v) < 1e-3 || Math.abs(v) >= 1e5) && v !== 0 ? v.toExponential(0).replace("+", "") : format(v, about.unit === "%" ? "%" : "");
  const options = {
    width: chart.holder.clientWidth || 300, height: chart.holder.clientHeight || 180, legend: { show: false }, padding: [marks.length > 0 ? room : 8, 14, 0, 0],
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    scales: { x: { time: Boolean(scene.clock), range: (u, low, high) => about.recent ? recently(about.recent, low, high) : [low, high] }, y: { distr: about.log ? 3 : 1, ...about.unit === "%" && !about.log ? { range: percents } : {} } },
    tzDate: v => uPlot.tzDate(new Date(1000 * v), "UTC"),
    axes: [scene.clock ? { ...axis, size: 42, values: (u, list, axis, space, step) => dates(list, step) } : { ...axis, size: 28 }, { ...axis, size: 58, ...about.log ? { filter: decades } : {}, grid: { ...axis.grid, filter: decades }, ticks: { ...axis.ticks, filter: decades }, values: (u, list) => list.map(v => v === null ? "" : label(v)) }],
    series: [{ label: scene.time }, ...chart.index.map(k => ({ label: scene.curves[k].name, stroke: () => learnerColor(scene.curves[k].learner), dash: dashOf(chart, k), width: scene.curves[k].edge ? 0 : scene.trials && scene.curves[k].learner === 0 ? 4 : 2, points: { show: u => !scene.curves[k].edge && u.data[0].length < few, size: 5, fill: () => learnerColor(scene.curves[k].learner) }, spanGaps: false }))],
    bands: bands(chart),
    hooks: { draw: [line, events], setLegend: [u => read(chart, u.cursor.idx)] },
  };
  chart.plot = new uPlot(options, data(chart), chart.holder);
  chart.plot.over.addEventListener("click", e => { if (sought) sought(unclocked(scene, chart.plot.posToVal(e.offsetX, "x"))); });
}

const heights = 5; // numbers beside a logarithmic axis

// powers keeps of the numbers beside a logarithmic axis powers of ten, and of many every
// second or third.
function powers(list) {
  const exponents = list.map(v => Math.round(Math.log10(v))), whole = list.map((v, i) => Math.abs(Math.log10(v) - exponents[i]) < 1e-6), step = Math.ceil(whole.filter(Boolean).length / heights);
  return list.map((v, i) => whole[i] && exponents[i] % step === 0 ? v : null);
}

// percents is the range of shares between low and high: they end at 100.
function percents(u, low, high) {
  if (low === null || high === null) return [0, 100];
  const air = Math.max(1, 0.08 * (high - low));
  return [low < 0 ? low - air : Math.max(0, low - air), high > 100 ? high + air : Math.min(100, high + air)];
}

// recently is the part of the time that a chart of the latest shows, up to the moment of
// a replay.
function recently(long, low, high) {
  const now = held?.t ?? mark, part = long * (scene.clock?.every ?? 1), to = Math.min(Math.max(now === null ? high : clocked(scene, now), low + part), high);
  return [Math.max(low, to - part), to];
}

// dashOf is the dash of a curve; one that is alone in a chart needs none.
const dashOf = (chart, k) => chart.index.length === 1 ? [] : learnerDash(scene.curves[k].learner);

// dates writes times below the axis: the hour, and the day where it changes; of whole days
// the year where that does.
function dates(list, step) {
  const whole = step >= 86400, large = whole ? year : day;
  return list.map((v, i) => (whole ? day(v) : hour(v)) + (i === 0 || large(v) !== large(list[i - 1]) ? "\n" + large(v) : ""));
}

// bands fills what is between the two ends of an interval.
function bands(chart) {
  const end = name => chart.index.findIndex(k => scene.curves[k].edge === name);
  if (end("low") < 0 || end("high") < 0) return [];
  return [{ series: [end("high") + 1, end("low") + 1], fill: () => learnerColor(scene.curves[chart.index[end("low")]].learner) + "38" }]; // the style sheet has colours of six digits
}

const lines = 2, tall = 13, room = lines * tall + 6; // of the words above a chart, pixels

// note keeps what happened, if it is worth a mark on the axis of time.
export function note(w) {
  if (w.anew === true && Number.isFinite(w.t)) forget(w.t);
  if (typeof w.mark !== "string" || !w.mark || !Number.isFinite(w.t)) return;
  const first = marks.length === 0, place = marks.findIndex(m => m.t > w.t);
  marks.splice(place < 0 ? marks.length : place, 0, { t: w.t, text: w.mark.slice(0, 60) });
  if (marks.length > 200) marks.shift();
  if (first) for (const c of charts) if (c.plot) { c.plot.destroy(); c.plot = null; } // with room for words
  later();
}

// forget leaves out what was before everything began anew.
function forget(t) {
  const from = times.findIndex(v => v >= t), keep = list => from < 0 ? [] : list.slice(from);
  series = series.map(keep); times = keep(times);
  marks = []; // also those of the same moment
  later();
}

// unmark forgets what happened; it is told again after a reconnection.
export function unmark() { marks = []; }

// marked are the marks, for tests and the curious.
export const marked = () => marks;

// events draws a line for what happened, with its words above the chart where there
// is room for them: the latest first, in two lines.
function events(u) {
  const { ctx, bbox } = u, ratio = devicePixelRatio || 1, ends = new Array(lines).fill(Infinity);
  ctx.save();
  ctx.strokeStyle = theme.soft; ctx.fillStyle = theme.soft; ctx.lineWidth = ratio; ctx.setLineDash([3 * ratio, 3 * ratio]);
  ctx.font = `${11 * ratio}px system-ui, sans-serif`; ctx.textBaseline = "middle"; ctx.textAlign = "left";
  for (const m of marks.toReversed()) {
    const x = Math.round(u.valToPos(clocked(scene, m.t), "x", true)), wide = ctx.measureText(m.text).width;
    if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1) continue;
    const from = Math.max(bbox.left, Math.min(x + 3 * ratio, bbox.left + bbox.width - wide)), row = ends.findIndex(end => from + wide + 8 * ratio < end), y = bbox.top - (row + 0.6) * tall * ratio;
    ctx.globalAlpha = row < 0 ? 0.35 : 0.9;
    ctx.beginPath(); ctx.moveTo(x, row < 0 ? bbox.top : y + 5 * ratio); ctx.lineTo(x, bbox.top + bbox.height); ctx.stroke();
    if (row < 0) continue;
    ends[row] = from;
    ctx.fillText(m.text, from, y);
  }
  ctx.restore();
}

// line marks the moment that a replay or an act shows.
function line(u) {
  const t = held?.t ?? mark;
  if (t === null) return;
  const x = u.valToPos(clocked(scene, t), "x", true);
  if (x < u.bbox.left || x > u.bbox.left + u.bbox.width) return;
  u.ctx.save();
  u.ctx.strokeStyle = theme.accent; u.ctx.lineWidth = 2; u.ctx.setLineDash([]);
  u.ctx.beginPath(); u.ctx.moveTo(x, u.bbox.top); u.ctx.lineTo(x, u.bbox.top + u.bbox.height); u.ctx.stroke();
  u.ctx.restore();
}

const data = chart => [scene.clock ? times.map(t => clocked(scene, t)) : times, ...chart.index.map(k => scene.curves[k].log ? series[k].map(v => v > 0 ? v : null) : series[k])];

let latest = null;
function read(chart, at) {
  for (const v of chart.values) write(v.b, format(at !== null && at !== undefined ? series[v.k][at] : held ? then(v.k) : latest?.[v.k], scene.curves[v.k].unit));
}

// then is the number of a curve at the moment that is told: that of the story, or the
// last one before.
function then(k) {
  const c = scene.curves[k];
  return c.chart === scene.curves[0].chart && c.learner >= 0 ? held.shares[c.learner] : series[k][times.findLastIndex(t => t <= held.t)];
}

// hold shows the numbers of a moment of the story; null those of the run again.
export function hold(m) {
  held = m;
  for (const c of charts) { c.when.textContent = m ? `, at ${moment(scene, m.t)}` : ""; read(c, null); }
  later();
}

// points are what is drawn, for tests and the curious.
export const points = { times: () => times, values: k => series[k], axis: () => charts[0]?.plot?.axes[0]._values };

// past sets all that was before.
export function past(h) {
  times = h.t.slice();
  series = h.curves.map(c => c.slice());
  later();
}

// add appends the numbers of a frame.
export function add(f) {
  if (!f.curves) return;
  latest = f.curves;
  const last = times[times.length - 1];
  if (last !== undefined && f.t < last) { times = []; series = series.map(() => []); } // the run began anew
  if (f.t === last) f.curves.forEach((v, k) => { series[k][times.length - 1] = v; });
  else { times.push(f.t); f.curves.forEach((v, k) => series[k].push(v)); }
  if (times.length > most) {
    times = times.filter((_, i) => i % 2 === 0);
    series = series.map(s => s.filter((_, i) => i % 2 === 0));
  }
  if (charts.length > 0 && !pointed(charts[0])) read(charts[0], null); // as the numbers in large type
  later();
}

// pointed says that somebody looks at the numbers of another time.
const pointed = c => c.plot && c.plot.cursor.idx !== null && c.plot.cursor.left >= 0;

// at shows the numbers of a moment of a replay.
export function at(f) {
  mark = f.t; latest = f.curves ?? null;
  for (const c of charts) {
    read(c, null);
    if (c.plot && scene.curves[c.index[0]].recent) c.plot.setData(data(c)); else c.plot?.redraw(false);
  }
}

// later draws soon, and not more often than eyes can follow.
function later() {
  if (timer) return;
  timer = setTimeout(() => {
    timer = 0;
    if (document.hidden || typeof uPlot === "undefined") return;
    for (const c of charts) {
      c.blank.hidden = c.index.some(k => series[k].some(v => v !== null && !Number.isNaN(v)));
      if (!pointed(c)) read(c, null);
      if (c.plot) c.plot.setData(data(c)); else if (times.length > 0) make(c);
    }
  }, 125);
}

new ResizeObserver(() => {
  for (const c of charts) if (c.plot && c.holder.clientWidth > 0 && (c.plot.width !== c.holder.clientWidth || c.plot.height !== c.holder.clientHeight)) c.plot.setSize({ width: c.holder.clientWidth, height: c.holder.clientHeight });
}).observe(document.body); // on a telephone charts stand between other things
document.addEventListener("visibilitychange", () => { if (!document.hidden && scene) later(); });
onTheme(() => { if (scene) { paintSamples(); for (const c of charts) c.plot?.redraw(false); } });
