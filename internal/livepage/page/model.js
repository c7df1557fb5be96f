// What the page knows of the run. Whatever comes in is checked: a scene or a
// frame that does not fit is refused whole.

const isText = v => typeof v === "string" && v.length <= 2000;
const isList = (v, n) => Array.isArray(v) && (n === undefined || v.length === n);
const isIndex = (v, n) => Number.isInteger(v) && v >= 0 && v < n;
const isNumber = v => v === null || Number.isFinite(v);

function demand(ok, what) { if (!ok) throw new Error("malformed: " + what); }

export function checkScene(s) {
  demand(s && typeof s === "object", "scene");
  const scene = { title: "", about: "", task: "", time: "", down: "down", layout: "none", nodes: [], groups: null, positions: null, edges: [], weak: [], marks: [], learners: [], looks: [], hero: null, clock: null, trials: false, quantities: [], curves: [], counters: [], controls: [], taps: [], ...drop(s) };
  for (const name of ["title", "about", "task", "time", "down", "layout"]) demand(isText(scene[name]), name);
  for (const name of ["nodes", "edges", "weak", "marks", "learners", "quantities", "curves", "counters", "controls", "taps", "looks"]) demand(isList(scene[name]), name);
  const n = scene.nodes.length;
  demand(n <= 200000 && scene.edges.length <= 2000000, "size");
  demand(scene.nodes.every(isText) && scene.learners.every(isText), "names");
  demand(scene.edges.every(e => isList(e, 2) && isIndex(e[0], n) && isIndex(e[1], n)), "edges");
  demand(scene.weak.every(k => isIndex(k, scene.edges.length)), "weak");
  demand(scene.marks.every(m => m && isIndex(m.node, n) && isText(m.kind)), "marks");
  for (const list of [scene.quantities, scene.curves, scene.counters, scene.controls]) demand(list.length <= 64 && list.every(q => q && isText(q.name)), "items");
  demand(typeof scene.trials === "boolean" && !(scene.trials && scene.learners.length === 0), "trials");
  demand(n * scene.taps.length <= 65536 && scene.taps.every(t => t && isText(t.name) && isText(t.group)), "taps");
  demand(scene.controls.every(c => c.kind !== "choice" || isList(c.options) && c.options.every(isText)), "options");
  demand(scene.looks.every(k => isIndex(k, 64)), "looks");
  if (scene.hero) demand(isText(scene.hero.chart) && isIndex(scene.hero.learner, scene.learners.length), "hero");
  if (scene.clock) demand(Number.isFinite(scene.clock.start) && scene.clock.every > 0 && Number.isFinite(scene.clock.every), "clock");
  if (scene.positions) demand(isList(scene.positions, 2 * n) && scene.positions.every(Number.isFinite), "positions");
  return scene;
}

function drop(s) { return Object.fromEntries(Object.entries(s).filter(([, v]) => v !== null)); }

export function checkFrame(scene, f) {
  const n = scene.nodes.length, e = scene.edges.length;
  demand(f && typeof f === "object" && Number.isFinite(f.t), "frame");
  if (f.values) {
    demand(isList(f.values, scene.quantities.length), "values");
    for (const v of f.values) demand(v === null || isList(v, n) && v.every(isNumber), "values");
  }
  for (const [name, size] of [["down", n], ["liars", n], ["out", e], ["pulses", e]]) if (f[name]) demand(isList(f[name]) && f[name].every(i => isIndex(i, size)), name);
  if (f.said) demand(Object.entries(f.said).every(([i, text]) => isIndex(Number(i), n) && isText(text)), "said");
  if (f.taps) demand(Number.isFinite(f.taps.step) && isIndex(f.taps.learner, scene.learners.length) && typeof f.taps.cells === "string" && f.taps.cells.length === 4 * Math.ceil(n * scene.taps.length / 3), "taps");
  for (const name of ["pos", "vel"]) if (f[name]) demand(isList(f[name], 2 * n) && f[name].every(Number.isFinite), name);
  if (f.links) demand(isList(f.links) && f.links.length <= 2000000 && f.links.every(l => isList(l, 2) && isIndex(l[0], n) && isIndex(l[1], n)), "links");
  for (const [name, size] of [["curves", scene.curves.length], ["counters", scene.counters.length], ["settings", scene.controls.length]]) if (f[name]) demand(isList(f[name], size) && f[name].every(isNumber), name);
  if (f.progress) demand(["done", "of", "left"].every(name => Number.isFinite(f.progress[name])), "progress");
  if (f.trial) checkTrial(scene, f.trial);
  return f;
}

function checkTrial(scene, t) {
  const n = scene.nodes.length, node = v => isList(v, n);
  demand(t && isIndex(t.source, n) && Number.isInteger(t.truth) && isIndex(t.shown, scene.learners.length), "trial");
  demand(isList(t.hops) && t.hops.length > 0 && t.hops.length <= 64 && t.hops.every(v => node(v) && v.every(Number.isFinite)), "hops");
  demand(isList(t.answers, scene.learners.length) && t.answers.every(v => node(v) && v.every(Number.isInteger)), "answers");
}

function checkMoment(scene, m) {
  demand(m && Number.isFinite(m.t) && isList(m.shares, scene.learners.length) && m.shares.every(isNumber), "moment");
  demand(isList(m.out) && m.out.every(i => isIndex(i, scene.edges.length)), "out");
  checkTrial(scene, m.trial);
}

// checkStory checks what a demo kept of its run for telling.
export function checkStory(scene, s) {
  demand(s && typeof s === "object", "story");
  for (const m of [s.before, s.after]) if (m) checkMoment(scene, m);
  const o = s.opened;
  if (!o) return s;
  const list = (v, n) => isList(v, n) && v.every(Number.isFinite);
  demand(isIndex(o.node, scene.nodes.length) && Number.isInteger(o.columns) && o.columns > 0 && isList(o.updates) && o.updates.length > 0 && list(o.trained), "opened");
  for (const u of o.updates) {
    checkMoment(scene, u);
    demand(isList(u.heard) && u.heard.every(h => h && isIndex(h.from, scene.nodes.length) && Number.isFinite(h.value)), "heard");
    demand(isList(u.belief, 2) && u.belief.every(b => list(b, o.columns)) && list(u.error, 2) && list(u.taps, o.trained.length), "update");
  }
  return s;
}

export function checkHistory(scene, h) {
  demand(h && isList(h.t) && isList(h.curves, scene.curves.length) && h.t.every(Number.isFinite), "history");
  for (const c of h.curves) demand(isList(c, h.t.length) && c.every(isNumber), "history");
  return h;
}

// format writes a number for people: four digits, none that say nothing.
export function format(v, unit) {
  if (v === null || v === undefined || Number.isNaN(v)) return "–";
  let text;
  if (Number.isInteger(v) && Math.abs(v) < 1e9) text = v.toLocaleString("en");
  else if (v !== 0 && (Math.abs(v) >= 1e6 || Math.abs(v) < 1e-3)) text = v.toExponential(2);
  else { const four = Number(v.toPrecision(4)); text = Math.abs(four) < 1000 ? String(four) : four.toLocaleString("en"); }
  return unit === "%" ? text + " %" : unit ? text + " " + unit : text;
}

// moment writes a time of the scene: seconds as such, what is counted by name, and of a
// scene with a clock what that shows.
export const moment = (scene, t) => scene.clock ? dated(scene, t) : scene.time === "s" ? format(t, "s") : `${scene.time} ${format(t)}`;

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], two = v => String(v).padStart(2, "0");

// clocked returns what the clock of a scene shows at a time: seconds of the place, and back.
export const clocked = (scene, t) => scene.clock ? scene.clock.start + t * scene.clock.every : t;
export const unclocked = (scene, v) => scene.clock ? (v - scene.clock.start) / scene.clock.every : v;

// day, hour and year write parts of seconds of the place.
const at = v => new Date(1000 * v);
export const day = v => `${at(v).getUTCDate()} ${months[at(v).getUTCMonth()]}`;
export const hour = v => `${two(at(v).getUTCHours())}:${two(at(v).getUTCMinutes())}`;
export const year = v => String(at(v).getUTCFullYear());

// dated writes a time by the clock: the date, and the hour where steps are shorter than days.
function dated(scene, t) {
  const v = clocked(scene, t);
  return `${day(v)} ${year(v)}` + (scene.clock.every % 86400 ? `, ${hour(v)}` : "");
}

// element makes an element with text; text is never read as HTML.
export function element(tag, text, attributes = {}) {
  const e = document.createElement(tag);
  if (text !== undefined && text !== null) e.textContent = text;
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  return e;
}

// write puts a text, unless it is there: the browser lays nothing out for what stays.
export function write(e, text) { if (e.textContent !== text) e.textContent = text; }

export const byId = id => document.getElementById(id);
