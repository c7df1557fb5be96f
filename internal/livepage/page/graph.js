// The network on a canvas: where nodes are, what they show, and what people do
// with them. Links have a layer of their own that is painted again only when
// they change.

import { byId, element, format } from "./model.js";
import { rampOf, onTheme } from "./theme.js";
import { paint, paintLinks, sizeOf, lasting } from "./paint.js";

const canvas = byId("graph"), sky = byId("sky"), tip = byId("tip");
const ctx = canvas.getContext("2d");
const layer = document.createElement("canvas"), under = layer.getContext("2d");
const still = matchMedia("(prefers-reduced-motion: reduce)");

let scene = null, frame = null, quantity = 0, ring = [];
let xs = new Float32Array(0), ys = xs, shown = xs, target = xs, radius = 6;
let low = 0, high = 1, width = 0, height = 0, ratio = 1;
let out = new Uint8Array(0), down = new Uint8Array(0), mark = [];
let hovered = -1, pinned = -1, pulses = [], trails = [], box = null, flown = null;
let dirty = true, linksDirty = true, quiet = 0, running = false;
let picked = () => {};
export const stats = { fps: 0, drawMs: 0, drawn: 0, recent: [] }; // recent: ms of the latest frames drawn

export function onPick(f) { picked = f; }
export function pinnedNode() { return pinned; }

export function begin(s) {
  scene = s; frame = null; pinned = hovered = -1; pulses = []; trails = []; box = flown = null;
  const n = s.nodes.length;
  xs = new Float32Array(n); ys = new Float32Array(n); shown = new Float32Array(n).fill(NaN); target = new Float32Array(n).fill(NaN);
  out = new Uint8Array(s.edges.length); down = new Uint8Array(n); mark = new Array(n).fill("");
  for (const m of s.marks) mark[m.node] = m.kind;
  canvas.setAttribute("aria-label", `The network: ${n} nodes, ${s.edges.length} links. Arrow keys go from node to node, Enter pins one, Escape lets it go.`);
  setQuantity(0);
  resize();
}

export function setQuantity(k) {
  quantity = k;
  ring = ringOf(scene.quantities[k]);
  shown.fill(NaN);
  if (frame) take(frame); else bounds();
  touch();
}

// ringOf returns the quantities of a group that learners are compared by: that
// of the chosen quantity if it has a scale, else the first that has one.
function ringOf(q) {
  const fit = o => o?.group && o.high > o.low, group = (fit(q) ? q : scene.quantities.find(fit))?.group;
  const list = group ? scene.quantities.map((o, i) => o.group === group ? i : -1).filter(i => i >= 0) : [];
  return list.length < 2 ? [] : list;
}

// take shows a frame.
export function take(f) {
  frame = f;
  const v = f.values?.[quantity];
  for (let i = 0; i < target.length; i++) { const x = v?.[i]; target[i] = x === null || x === undefined ? NaN : x; }
  bounds();
  if (f.out && changed(out, f.out)) linksDirty = true;
  if (f.down) changed(down, f.down);
  if (f.pos) move(f);
  if (hovered >= 0) hover(hovered); // its numbers are others now
  if (f.pulses && !still.matches && f.pulses.length <= 300 && scene.layout !== "moving") {
    const now = performance.now();
    for (const e of f.pulses) pulses.push({ e, from: now + Math.random() * 120, back: Math.random() < 0.5 });
    if (pulses.length > 900) pulses.splice(0, pulses.length - 900);
  }
  touch();
}

// changed marks the indices in a field and says whether that is news.
function changed(field, indices) {
  const next = new Uint8Array(field.length);
  for (const i of indices) next[i] = 1;
  const news = next.some((v, i) => v !== field[i]);
  field.set(next);
  return news;
}

function bounds() {
  const q = scene.quantities[quantity];
  low = q?.low ?? 0; high = q?.high ?? 1;
  if (!(high > low)) {
    low = Infinity; high = -Infinity;
    for (const v of target) if (!Number.isNaN(v)) { low = Math.min(low, v); high = Math.max(high, v); }
    if (!(high > low)) { high = Number.isFinite(low) ? low + 1e-9 : 1; low = Number.isFinite(low) ? low : 0; }
  }
  byId("low").textContent = format(low, q?.unit);
  byId("high").textContent = format(high, q?.unit);
}

export function drawRamp() {
  const r = byId("ramp"), c = r.getContext("2d"), colors = rampOf(scene?.quantities[quantity]);
  for (let i = 0; i < 64; i++) { c.fillStyle = colors[i]; c.fillRect(i * r.width / 64, 0, r.width / 64 + 1, r.height); }
}

function resize() {
  ratio = Math.min(devicePixelRatio || 1, 2);
  width = sky.clientWidth; height = sky.clientHeight;
  canvas.width = layer.width = Math.max(1, Math.round(width * ratio));
  canvas.height = layer.height = Math.max(1, Math.round(height * ratio));
  place();
  touch();
}

// place turns the scene's positions into pixels.
function place() {
  if (!scene) return;
  linksDirty = true;
  const n = scene.nodes.length, area = Math.max(width * height, 1);
  radius = Math.max(1.6, Math.min(10, 0.16 * Math.sqrt(area / Math.max(n, 1))));
  if (scene.layout === "moving") { if (frame?.pos) fly(frame); return; }
  const p = scene.positions;
  if (!p) return;
  let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
  for (let i = 0; i < n; i++) { x0 = Math.min(x0, p[2 * i]); x1 = Math.max(x1, p[2 * i]); y0 = Math.min(y0, p[2 * i + 1]); y1 = Math.max(y1, p[2 * i + 1]); }
  const pad = radius * 2.6 + 6, sx = (width - 2 * pad) / Math.max(x1 - x0, 1e-6), sy = (height - 2 * pad) / Math.max(y1 - y0, 1e-6);
  const fx = Math.min(sx, 1.7 * sy), fy = Math.min(sy, 1.7 * sx); // a little stretching fills the space
  for (let i = 0; i < n; i++) {
    xs[i] = width / 2 + (p[2 * i] - (x0 + x1) / 2) * fx;
    ys[i] = height / 2 + (p[2 * i + 1] - (y0 + y1) / 2) * fy;
  }
}

// move shows robots where a frame says they are.
function move(f) {
  if (!still.matches) { trails.push(f.pos); if (trails.length > 40) trails.shift(); }
  fly(f);
}

// cut ends the trails: what comes next does not follow what was.
export function cut() { trails = []; }

const shows = id => byId(id).checked;
for (const id of ["arrows", "trails", "links", "follow"]) byId(id).addEventListener("change", () => { if (frame?.pos) fly(frame); touch(); });

// fly keeps all robots in view: the view follows them without jumping, or holds
// all places where they have been.
function fly(f) {
  const p = f.pos, n = scene.nodes.length;
  let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
  for (let i = 0; i < n; i++) { x0 = Math.min(x0, p[2 * i]); x1 = Math.max(x1, p[2 * i]); y0 = Math.min(y0, p[2 * i + 1]); y1 = Math.max(y1, p[2 * i + 1]); }
  flown = flown ? [Math.min(flown[0], x0), Math.max(flown[1], x1), Math.min(flown[2], y0), Math.max(flown[3], y1)] : [x0, x1, y0, y1];
  const follow = shows("follow");
  if (!follow) [x0, x1, y0, y1] = flown;
  const want = { x: (x0 + x1) / 2, y: (y0 + y1) / 2, size: Math.max(x1 - x0, (y1 - y0) * width / Math.max(height, 1), 1e-3) * 1.25 };
  box = box && follow ? { x: want.x, y: want.y, size: want.size > box.size || want.size < 0.6 * box.size ? want.size : box.size } : want;
  const scale = width / box.size;
  for (let i = 0; i < n; i++) { xs[i] = width / 2 + (p[2 * i] - box.x) * scale; ys[i] = height / 2 - (p[2 * i + 1] - box.y) * scale; }
  linksDirty = true;
}

export function touch() {
  dirty = true; quiet = 0;
  if (!running && scene) { running = true; requestAnimationFrame(tick); }
}

let times = [];
function tick(now) {
  times.push(now);
  while (times.length > 1 && now - times[0] > 1000) times.shift();
  if (times.length > 1) stats.fps = 1000 * (times.length - 1) / Math.max(now - times[0], 1);
  const active = dirty || pulses.length > 0;
  if (active) {
    const from = performance.now();
    dirty = draw(now);
    const took = performance.now() - from;
    stats.drawMs += (took - stats.drawMs) * 0.1;
    stats.recent.push(took);
    if (stats.recent.length > 120) stats.recent.shift();
    stats.drawn++;
    quiet = 0;
  } else quiet++;
  if (quiet > 30 || document.hidden) { running = false; times = []; return; }
  requestAnimationFrame(tick);
}

// draw paints everything and says whether colours are still on their way.
function draw(now) {
  const moving = settle();
  pulses = pulses.filter(p => now - p.from < lasting);
  const view = { scene, frame, quantity, ring, xs, ys, shown, radius, low, high, width, height, ratio, out, down, mark, hovered, pinned, pulses, box, trails: shows("trails") ? trails : [], arrows: shows("arrows"), links: shows("links") };
  if (linksDirty) { paintLinks(under, view); linksDirty = false; }
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  ctx.clearRect(0, 0, canvas.width, canvas.height);
  ctx.drawImage(layer, 0, 0);
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  paint(ctx, view, now);
  return moving;
}

// settle lets colours glide to their values.
function settle() {
  const span = Math.max(high - low, 1e-12);
  let moving = false;
  for (let i = 0; i < shown.length; i++) {
    const to = target[i];
    if (Number.isNaN(to) || Number.isNaN(shown[i]) || still.matches) { shown[i] = to; continue; }
    const gap = to - shown[i];
    if (Math.abs(gap) < span / 128) shown[i] = to; else { shown[i] += 0.2 * gap; moving = true; }
  }
  return moving;
}

const size = i => sizeOf(mark[i], radius);

// where says where a node is drawn, in pixels of the page's canvas.
export function where(i) { return { x: xs[i], y: ys[i], r: size(i), ratio }; }

function nearest(x, y, reach) {
  let best = -1, least = reach * reach;
  for (let i = 0; i < xs.length; i++) {
    const d = (xs[i] - x) ** 2 + (ys[i] - y) ** 2;
    if (d < least) { least = d; best = i; }
  }
  return best;
}

// numbersOf lists what is known of a node.
export function numbersOf(i) {
  const list = [];
  if (!scene) return list;
  if (mark[i]) list.push(["role", mark[i]]);
  list.push(["state", down[i] ? "down" : "up"]);
  scene.quantities.forEach((q, k) => { const v = frame?.values?.[k]?.[i]; if (v !== null && v !== undefined) list.push([q.name, format(v, q.unit)]); });
  if (frame?.vel) list.push(["speed", format(Math.hypot(frame.vel[2 * i], frame.vel[2 * i + 1]), "m/s")]);
  return list;
}

function hover(i) {
  if (i === hovered && i < 0) return;
  hovered = i;
  tip.hidden = i < 0;
  if (i >= 0) {
    const q = scene.quantities[quantity], v = frame?.values?.[quantity]?.[i];
    tip.replaceChildren(element("b", scene.nodes[i]), "\n" + (down[i] ? "down" : q && v !== null && v !== undefined ? q.name + " " + format(v, q.unit) : mark[i] || ""));
    tip.style.left = Math.max(4, Math.min(width - tip.offsetWidth - 4, xs[i] + 14)) + "px";
    tip.style.top = Math.max(4, Math.min(height - tip.offsetHeight - 4, ys[i] + 14)) + "px";
  }
  touch();
}

export function pin(i) {
  pinned = i;
  picked(i);
  touch();
}

// neighbour finds the node next to one in a direction.
function neighbour(i, dx, dy) {
  let best = i, least = Infinity;
  for (let j = 0; j < xs.length; j++) {
    const x = xs[j] - xs[i], y = ys[j] - ys[i], along = x * dx + y * dy, across = Math.abs(x * dy - y * dx);
    if (j !== i && along > 0 && along + 2 * across < least) { least = along + 2 * across; best = j; }
  }
  return best;
}

const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
canvas.addEventListener("keydown", e => {
  if (!scene || scene.nodes.length === 0 || e.ctrlKey || e.altKey || e.metaKey) return;
  if (ways[e.key]) hover(hovered < 0 ? Math.max(pinned, 0) : neighbour(hovered, ...ways[e.key]));
  else if (e.key === "Enter" && hovered >= 0) pin(hovered);
  else return;
  e.preventDefault();
});
canvas.addEventListener("blur", () => hover(-1));
canvas.addEventListener("pointermove", e => { if (scene) hover(nearest(e.offsetX, e.offsetY, radius * 2 + 8)); });
canvas.addEventListener("pointerleave", () => hover(-1));
canvas.addEventListener("click", e => { if (scene) pin(nearest(e.offsetX, e.offsetY, radius * 2 + 8)); });
new ResizeObserver(() => { if (scene) { resize(); draw(performance.now()); } }).observe(sky); // at once, or the picture would be blank for a moment
document.addEventListener("visibilitychange", () => { if (!document.hidden) touch(); });
onTheme(() => { linksDirty = true; drawRamp(); touch(); });
