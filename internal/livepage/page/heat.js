// The taps of all nodes at once: a row per node, a column per tap. In consensus a
// column has one colour; nodes with taps of their own are a mosaic. Detectors, which
// are told answers, have taller rows.

import { byId, element, format } from "./model.js";
import { theme, hue, onTheme } from "./theme.js";
import { letter } from "./trial.js";
import { phrase } from "./words.js";

const gutter = 22, heading = 22, gap = 3, tallest = 6, least = 2, times = 3; // pixels; a detector's row is so many times as tall
let scene = null, taps = null, cells = new Int8Array(0), frame = null, columns = 0, canvas = null, ctx = null, said = null, caption = null, low = null, high = null, ramp = null, whose = null;
let width = 0, height = 0, column = 8, tops = [], lefts = [], groups = [], told = new Set(), at = null, timer = 0;

// begin builds the map for a scene that has taps.
export function begin(s) {
  const box = byId("heat");
  scene = s; taps = null; frame = null; at = null; columns = s.taps.length; canvas = null;
  groups = [...new Set(s.taps.map(t => t.group))];
  told = new Set(s.marks.filter(m => m.kind === "detector").map(m => m.node));
  box.replaceChildren();
  box.hidden = true;
  if (columns === 0) return;
  const head = element("h2");
  whose = element("span", "");
  head.append(...phrase("The taps of all nodes"), whose);
  canvas = element("canvas", null, { tabindex: "0", role: "application" });
  ctx = canvas.getContext("2d");
  low = element("span"); high = element("span");
  ramp = element("canvas", null, { width: 120, height: 10, "aria-hidden": "true" });
  const scale = element("p", null, { class: "scale" });
  scale.append(low, ramp, high);
  said = element("p", "", { class: "cell", "aria-live": "polite" });
  caption = element("p", "", { class: "caption" });
  const holder = element("div", null, { class: "map" });
  holder.append(canvas);
  box.append(head, caption, holder, said, scale);
  listen();
  new ResizeObserver(resize).observe(holder);
}

// take shows the taps of a frame.
export function take(f) {
  if (!canvas || !f.taps) return;
  frame = f;
  const first = taps === null, same = taps?.cells === f.taps.cells && taps.step === f.taps.step && taps.learner === f.taps.learner;
  if (same && !first) return;
  taps = f.taps;
  cells = Int8Array.from(atob(taps.cells), c => c.charCodeAt(0));
  byId("heat").hidden = false;
  whose.textContent = " · " + scene.learners[taps.learner];
  if (first) resize();
  later();
}

const short = v => format(Number(v.toPrecision(2)), "");

// value returns a tap, null where a node has none.
const value = (i, k) => cells[i * columns + k] === -128 ? null : cells[i * columns + k] * taps.step;

// later draws soon, and not more often than eyes can follow.
function later() {
  if (timer === 0) timer = setTimeout(() => { timer = 0; if (!document.hidden) draw(); }, 150);
}

function resize() {
  const holder = canvas?.parentElement;
  if (!holder || holder.clientWidth === 0) return;
  const ratio = Math.min(devicePixelRatio || 1, 2), n = scene.nodes.length, row = Math.max(least, Math.min(tallest, Math.floor(300 / (n + (times - 1) * told.size))));
  width = holder.clientWidth;
  column = (width - gutter - gap * (groups.length - 1)) / columns;
  lefts = scene.taps.map((t, k) => gutter + k * column + gap * groups.indexOf(t.group));
  tops = [heading];
  for (let i = 0; i < n; i++) tops.push(tops[i] + (told.has(i) ? times : 1) * row + (community(i + 1) !== community(i) ? gap : 0));
  height = tops[n];
  canvas.style.height = height + "px";
  canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (taps) draw();
}

const community = i => scene.groups?.[i] ?? 0;
const tall = i => tops[i + 1] - tops[i] - (community(i + 1) !== community(i) ? gap : 0);

// color returns that of a level, -1 to 1. What is small is seen, too: it goes by the
// square root.
const color = v => theme.judged[Math.round(31.5 * (1 + Math.sign(v) * Math.sqrt(Math.abs(v))))];

function draw() {
  if (!taps || width === 0) return;
  ctx.clearRect(0, 0, width, height);
  for (let i = 0; i < scene.nodes.length; i++) for (let k = 0; k < columns; k++) {
    const v = cells[i * columns + k];
    ctx.fillStyle = v === -128 ? theme.blank : color(v / 127);
    ctx.fillRect(lefts[k], tops[i], column - 0.6, tall(i) - (tall(i) > 3 ? 1 : 0));
  }
  ctx.fillStyle = theme.soft; ctx.font = "11px system-ui, sans-serif"; ctx.textAlign = "center"; ctx.textBaseline = "middle";
  groups.forEach(name => { const own = scene.taps.map((t, k) => t.group === name ? k : -1).filter(k => k >= 0); ctx.fillText(column * own.length < 42 ? name.replace(/\D+/, "") : name, lefts[own[0]] + column * own.length / 2, heading / 2 - 4); });
  const shown = [...new Set(scene.taps.map(t => t.name))];
  scene.taps.forEach((t, k) => { ctx.fillStyle = hue(shown.indexOf(t.name), 1); ctx.fillRect(lefts[k], heading - 6, column - 0.6, 3); });
  drawSide();
  drawAt();
  words();
}

// drawSide marks what kind of node a row is.
function drawSide() {
  const liars = new Set(frame?.liars ?? []);
  for (let i = 0; i < scene.nodes.length; i++) {
    const y = tops[i] + tall(i) / 2;
    if (liars.has(i)) { ctx.fillStyle = theme.down; ctx.font = "bold 12px system-ui, sans-serif"; ctx.fillText("!", gutter - 6, y); }
    else if (told.has(i)) { ctx.fillStyle = theme.ink; ctx.fillRect(gutter - 9, y - 2.5, 5, 5); }
    if (scene.groups && (i === 0 || community(i) !== community(i - 1))) {
      let end = i;
      while (end < scene.nodes.length && community(end) === community(i)) end++;
      ctx.fillStyle = hue(community(i), 1); ctx.font = "700 12px system-ui, sans-serif";
      ctx.fillText(letter(community(i)), 6, (tops[i] + tops[end]) / 2);
    }
  }
}

function drawAt() {
  if (!at) return;
  ctx.strokeStyle = theme.ink; ctx.lineWidth = 1.5;
  ctx.strokeRect(lefts[at.k] - 1, tops[at.i] - 1, column + 1, tall(at.i) + 1);
  tell();
}

// words say in numbers what eyes see.
function words() {
  let total = 0, apart = 0;
  const honest = scene.nodes.map((_, i) => i).filter(i => !frame.liars?.includes(i) && cells[i * columns] !== -128), n = honest.length;
  for (let k = 0; k < columns; k++) {
    const list = honest.map(i => cells[i * columns + k]), mean = list.reduce((a, b) => a + b, 0) / n;
    for (const v of list) { total += v * v; apart += (v - mean) ** 2; }
  }
  const moved = honest.filter(i => cells.subarray(i * columns, (i + 1) * columns).some(v => Math.abs(v) > 1)), alone = moved.every(i => told.has(i));
  const share = total > 0 ? Math.round(100 * Math.sqrt(apart / total)) : 0;
  const text = total === 0 ? "No node has learned anything yet: all have the taps they were trained with."
    : share <= 25 ? `One colour per column: nodes agree. They differ by ${share} % of what was learned.`
      : moved.length <= n / 3 ? `${moved.length} of ${n} nodes have taps of their own; the others are as trained${alone ? ": only detectors are told answers" : ""}.`
        : `A mosaic: nodes differ by ${share} % of what was learned.`;
  if (caption.textContent !== text) caption.textContent = text;
  canvas.setAttribute("aria-label", `The taps of ${scene.nodes.length} nodes, ${columns} each. ${text} Arrow keys go from tap to tap.`);
  const most = total > 0 ? short(127 * taps.step) + " " : "";
  low.textContent = most + "less"; high.textContent = most + "more than as trained, at a usual signal";
  const c = ramp.getContext("2d");
  for (let i = 0; i < 64; i++) { c.fillStyle = color(i / 31.5 - 1); c.fillRect(i * ramp.width / 64, 0, ramp.width / 64 + 1, ramp.height); }
}

// tell says which tap is looked at.
function tell() {
  const v = value(at.i, at.k), t = scene.taps[at.k];
  const text = `${scene.nodes[at.i]}${frame.liars?.includes(at.i) ? ", which lies" : ""}: ${t.group} for ${t.name} ` + (v === null ? "–" : v === 0 ? "as trained" : `${short(Math.abs(v))} ${v > 0 ? "more" : "less"} than as trained`);
  if (said.textContent !== text) said.textContent = text;
}

// find returns the cell at a place of the canvas.
function find(x, y) {
  const k = scene.taps.findIndex((_, k) => x >= lefts[k] && x < lefts[k] + column), i = scene.nodes.findIndex((_, i) => y >= tops[i] && y < tops[i + 1]);
  return k >= 0 && i >= 0 ? { i, k } : null;
}

const ways = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

function look(to) { at = to; if (!at) said.textContent = ""; draw(); }

function listen() {
  canvas.addEventListener("pointermove", e => { if (taps) look(find(e.offsetX, e.offsetY)); });
  canvas.addEventListener("click", e => { if (taps) look(find(e.offsetX, e.offsetY)); });
  canvas.addEventListener("pointerleave", () => look(null));
  canvas.addEventListener("blur", () => look(null));
  canvas.addEventListener("keydown", e => {
    if (!taps || e.ctrlKey || e.altKey || e.metaKey) return;
    if (e.key === "Escape" && at) look(null);
    else if (ways[e.key]) look(at ? { i: Math.max(0, Math.min(scene.nodes.length - 1, at.i + ways[e.key][0])), k: Math.max(0, Math.min(columns - 1, at.k + ways[e.key][1])) } : { i: 0, k: 0 });
    else return;
    e.preventDefault(); e.stopPropagation();
  });
}

onTheme(() => { if (canvas && taps) draw(); });
document.addEventListener("visibilitychange", () => { if (canvas && taps) later(); });

// cellsNow are what is drawn, for tests and the curious.
export const cellsNow = () => ({ cells: [...cells], step: taps?.step ?? 0, learner: taps?.learner ?? -1, columns });
