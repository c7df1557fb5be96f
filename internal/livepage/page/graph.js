// Networks on canvases: where nodes are, what they show, and what people do with
// them. Links have a layer of their own that is painted again only when they
// change. A demo has two pictures, which share what is pinned and when to draw.

import { byId, element, format } from "./model.js";
import { rampOf, onTheme } from "./theme.js";
import { paint, paintLinks, sizeOf, lasting } from "./paint.js";
import { paintTrial, paintStill, beside, squeezed, letter } from "./trial.js";

const still = matchMedia("(prefers-reduced-motion: reduce)");
const shows = id => byId(id).checked;

let scene = null, pinned = -1, pictures = [], picked = () => {}, moves = () => false;
export const stats = { fps: 0, drawMs: 0, drawn: 0, recent: [] }; // recent: ms of the latest frames drawn

export function onPick(f) { picked = f; }
export function pinnedNode() { return pinned; }

// onFrame names who is asked before every drawing, with the time in ms, and says
// whether there is more to come.
export function onFrame(f) { moves = f; }

// Picture is one network on a canvas: of the first learner on the left, and of a
// scene with trials of the learner on show on the right.
class Picture {
  constructor(canvas, sky, tip) {
    this.canvas = byId(canvas); this.sky = byId(sky); this.tip = byId(tip);
    this.ctx = this.canvas.getContext("2d");
    this.layer = document.createElement("canvas");
    this.under = this.layer.getContext("2d");
    this.main = canvas === "graph";
    this.shot = null; // what a trial shows; see trial.js
    this.learner = 0;
    this.listen();
  }

  begin() {
    const n = scene.nodes.length;
    Object.assign(this, { frame: null, hovered: -1, pulses: [], trails: [], box: null, flown: null, shot: null, low: 0, high: 1, radius: 6, named: [], dirty: true, linksDirty: true });
    this.xs = new Float32Array(n); this.ys = new Float32Array(n);
    this.shown = new Float32Array(n).fill(NaN); this.target = new Float32Array(n).fill(NaN);
    this.out = new Uint8Array(scene.edges.length); this.down = new Uint8Array(n); this.mark = new Array(n).fill("");
    for (const m of scene.marks) this.mark[m.node] = m.kind;
    const what = scene.trials ? (this.main ? "The network as it was trained" : "The network that learns") : "The network";
    this.canvas.setAttribute("aria-label", `${what}: ${n} nodes, ${scene.edges.length} links. Arrow keys go from node to node, Enter pins one, Escape lets it go.`);
    this.setQuantity(scene.trials ? -1 : 0);
    this.resize();
  }

  // setQuantity colours nodes by a quantity, of this picture's learner if it has
  // one for each; -1 is the trial itself.
  setQuantity(k) {
    const q = scene.quantities[k];
    this.chosen = k;
    this.quantity = scene.trials && q?.group ? scene.quantities.findIndex(o => o.group === q.group && o.learner === this.learner) : k;
    if (this.quantity < 0 && k >= 0) this.quantity = k;
    this.ring = scene.trials ? [] : ringOf(q);
    this.shown.fill(NaN);
    this.linksDirty = true;
    if (this.frame) this.take(this.frame); else this.bounds();
    this.touch();
  }

  // follow shows another learner.
  follow(learner) {
    if (learner === this.learner) return;
    this.learner = learner;
    this.setQuantity(this.chosen);
  }

  // take shows a frame.
  take(f) {
    this.frame = f;
    const v = f.values?.[this.quantity], target = this.target;
    for (let i = 0; i < target.length; i++) { const x = v?.[i]; target[i] = x === null || x === undefined ? NaN : x; }
    this.bounds();
    if (!this.shot?.out && f.out && changed(this.out, f.out)) this.linksDirty = true;
    this.lost = null;
    if (f.down && changed(this.down, f.down)) this.linksDirty = true;
    if (f.pos) this.move(f);
    if (this.hovered >= 0) this.hover(this.hovered); // its numbers are others now
    if (f.pulses && !still.matches && f.pulses.length <= 300 && scene.layout !== "moving" && this.quantity >= 0) {
      const now = performance.now();
      for (const e of f.pulses) this.pulses.push({ e, from: now + Math.random() * 120, back: Math.random() < 0.5 });
      if (this.pulses.length > 900) this.pulses.splice(0, this.pulses.length - 900);
    }
    this.touch();
  }

  // show sets what a trial shows, with links as they were then.
  show(shot) {
    const out = shot?.out ?? this.frame?.out, was = this.shot;
    if (out && out !== this.lost && changed(this.out, out)) this.linksDirty = true;
    this.lost = out;
    this.shot = shot;
    const still = this.painted(); // of the network, in the layer of the links
    if (still !== this.stood) { this.stood = still; this.linksDirty = true; }
    if (this.hovered >= 0 && (was?.trial !== shot?.trial || was?.answers > 0 !== shot?.answers > 0)) this.hover(this.hovered); // what is said of it is of this signal
    this.touch();
  }

  // painted says what else is in the layer of the links: nodes that are up, now or in what
  // was before; nothing beside an open node, where the network is narrower.
  painted() { return this.quantity >= 0 || this.shot?.open ? "" : this.past() ? "past" : "now"; }

  // past says that a moment is shown that was before: of an act.
  past() { return Boolean(this.shot?.out); }

  // at returns where a node is drawn: beside a node that is open the network is narrower.
  at(i) { return this.xs[i] * beside(this.shot?.open); }

  bounds() {
    const q = scene.quantities[this.quantity];
    this.low = q?.low ?? 0; this.high = q?.high ?? 1;
    if (!(this.high > this.low)) {
      let low = Infinity, high = -Infinity;
      for (const v of this.target) if (!Number.isNaN(v)) { low = Math.min(low, v); high = Math.max(high, v); }
      if (!(high > low)) { high = Number.isFinite(low) ? low + 1 : 1; low = Number.isFinite(low) ? low : 0; }
      this.low = low; this.high = high;
    }
    if (!this.main) return;
    byId("low").textContent = format(this.low, q?.unit);
    byId("high").textContent = format(this.high, q?.unit);
  }

  resize() {
    this.ratio = Math.min(devicePixelRatio || 1, 2);
    this.width = this.sky.clientWidth; this.height = this.sky.clientHeight;
    this.canvas.width = this.layer.width = Math.max(1, Math.round(this.width * this.ratio));
    this.canvas.height = this.layer.height = Math.max(1, Math.round(this.height * this.ratio));
    this.place();
    this.touch();
  }

  // place turns the scene's positions into pixels.
  place() {
    const { width, height, xs, ys } = this;
    this.linksDirty = true;
    const n = scene.nodes.length, area = Math.max(width * height, 1);
    this.radius = Math.max(1.6, Math.min(10, (scene.trials ? 0.12 : 0.16) * Math.sqrt(area / Math.max(n, 1))));
    if (scene.layout === "moving") { if (this.frame?.pos) this.fly(this.frame); return; }
    const p = scene.positions;
    if (!p) return;
    let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
    for (let i = 0; i < n; i++) { x0 = Math.min(x0, p[2 * i]); x1 = Math.max(x1, p[2 * i]); y0 = Math.min(y0, p[2 * i + 1]); y1 = Math.max(y1, p[2 * i + 1]); }
    const pad = this.radius * 2.6 + (scene.trials ? 18 : 6), sx = (width - 2 * pad) / Math.max(x1 - x0, 1e-6), sy = (height - 2 * pad) / Math.max(y1 - y0, 1e-6);
    const fx = Math.min(sx, 1.7 * sy), fy = Math.min(sy, 1.7 * sx); // a little stretching fills the space
    for (let i = 0; i < n; i++) {
      xs[i] = width / 2 + (p[2 * i] - (x0 + x1) / 2) * fx;
      ys[i] = height / 2 + (p[2 * i + 1] - (y0 + y1) / 2) * fy;
    }
  }

  // move shows robots where a frame says they are.
  move(f) {
    if (!still.matches) { this.trails.push(f.pos); if (this.trails.length > 40) this.trails.shift(); }
    this.fly(f);
  }

  // fly keeps all robots in view: the view follows them without jumping, or holds
  // all places where they have been.
  fly(f) {
    const p = f.pos, n = scene.nodes.length, { width, height } = this;
    let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
    for (let i = 0; i < n; i++) { x0 = Math.min(x0, p[2 * i]); x1 = Math.max(x1, p[2 * i]); y0 = Math.min(y0, p[2 * i + 1]); y1 = Math.max(y1, p[2 * i + 1]); }
    const flown = this.flown = this.flown ? [Math.min(this.flown[0], x0), Math.max(this.flown[1], x1), Math.min(this.flown[2], y0), Math.max(this.flown[3], y1)] : [x0, x1, y0, y1];
    const follow = shows("follow");
    if (!follow) [x0, x1, y0, y1] = flown;
    const want = { x: (x0 + x1) / 2, y: (y0 + y1) / 2, size: Math.max(x1 - x0, (y1 - y0) * width / Math.max(height, 1), 1e-3) * 1.25 };
    const box = this.box = this.box && follow ? { x: want.x, y: want.y, size: want.size > this.box.size || want.size < 0.6 * this.box.size ? want.size : this.box.size } : want;
    const scale = width / box.size;
    for (let i = 0; i < n; i++) { this.xs[i] = width / 2 + (p[2 * i] - box.x) * scale; this.ys[i] = height / 2 - (p[2 * i + 1] - box.y) * scale; }
    this.linksDirty = true;
  }

  touch() { this.dirty = true; wake(); }

  active() { return this.dirty || this.pulses.length > 0; }

  // draw paints everything and keeps whether colours are still on their way.
  draw(now) {
    const { ctx, canvas, ratio } = this;
    this.dirty = this.settle();
    this.pulses = this.pulses.filter(p => now - p.from < lasting);
    const view = { ...this, scene, pinned, ...this.past() ? { down: new Uint8Array(this.down.length), liars: [] } : { liars: this.frame?.liars ?? [] }, trails: shows("trails") ? this.trails : [], arrows: shows("arrows"), links: shows("links"), gone: scene.trials };
    if (this.linksDirty) {
      paintLinks(this.under, view);
      if (scene.trials && this.painted()) paintStill(this.under, view);
      this.linksDirty = false;
    }
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, canvas.width, canvas.height);
    const fit = beside(this.shot?.open); // a node that is open has its card beside the network
    if (fit < 1) { view.fit = fit; view.xs = this.xs.map(x => x * fit); ctx.globalAlpha = 1 - 0.7 * (1 - fit) / (1 - squeezed); }
    ctx.drawImage(this.layer, 0, 0, fit * canvas.width, canvas.height);
    ctx.globalAlpha = 1;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (this.quantity < 0) paintTrial(ctx, view, now); else paint(ctx, view, now);
  }

  // settle lets colours glide to their values.
  settle() {
    const { shown, target } = this, span = Math.max(this.high - this.low, 1e-12);
    let moving = false;
    for (let i = 0; i < shown.length; i++) {
      const to = target[i];
      if (Number.isNaN(to) || Number.isNaN(shown[i]) || still.matches) { shown[i] = to; continue; }
      const gap = to - shown[i];
      if (Math.abs(gap) < span / 128) shown[i] = to; else { shown[i] += 0.2 * gap; moving = true; }
    }
    return moving;
  }

  nearest(x, y, reach) {
    let best = -1, least = reach * reach;
    for (let i = 0; i < this.xs.length; i++) {
      const d = (this.at(i) - x) ** 2 + (this.ys[i] - y) ** 2;
      if (d < least) { least = d; best = i; }
    }
    return best;
  }

  hover(i) {
    if (i === this.hovered && i < 0) return;
    const { tip, ys, width, height } = this;
    this.hovered = i;
    tip.hidden = i < 0;
    if (i >= 0) {
      tip.replaceChildren(element("b", scene.nodes[i]), "\n" + this.word(i));
      tip.style.left = Math.max(4, Math.min(width - tip.offsetWidth - 4, this.at(i) + 14)) + "px";
      tip.style.top = Math.max(4, Math.min(height - tip.offsetHeight - 4, ys[i] + 14)) + "px";
    }
    this.touch();
  }

  // word says about a node what its colour says.
  word(i) {
    const q = scene.quantities[this.quantity], v = this.frame?.values?.[this.quantity]?.[i], said = this.frame?.said?.[i];
    if (this.down[i] && !this.past()) return said ?? scene.down;
    if (q && v !== null && v !== undefined) return q.name + " " + format(v, q.unit) + (said ? "\n" + said : "");
    return this.quantity < 0 && this.shot && this.answered(i) || this.mark[i] || "";
  }

  // answered says what a node has to do with the signal that is shown.
  answered(i) {
    const { trial, answers } = this.shot, said = trial.answers[this.learner]?.[i] ?? -1;
    if (i === trial.source) return "source: this pulse starts here";
    if (said < 0) return "";
    if (!(answers > 0)) return "detector: no answer yet";
    return `says ${letter(said)}, which is ${said === trial.truth ? "right" : `wrong: it was ${letter(trial.truth)}`}`;
  }

  // neighbour finds the node next to one in a direction.
  neighbour(i, dx, dy) {
    let best = i, least = Infinity;
    for (let j = 0; j < this.xs.length; j++) {
      const x = this.xs[j] - this.xs[i], y = this.ys[j] - this.ys[i], along = x * dx + y * dy, across = Math.abs(x * dy - y * dx);
      if (j !== i && along > 0 && along + 2 * across < least) { least = along + 2 * across; best = j; }
    }
    return best;
  }

  listen() {
    const { canvas } = this, near = e => this.nearest(e.offsetX, e.offsetY, this.radius * 2 + 8);
    canvas.addEventListener("keydown", e => {
      if (!scene || scene.nodes.length === 0 || e.ctrlKey || e.altKey || e.metaKey) return;
      if (ways[e.key]) this.hover(this.hovered < 0 ? Math.max(pinned, 0) : this.neighbour(this.hovered, ...ways[e.key]));
      else if (e.key === "Enter" && this.hovered >= 0) pin(this.hovered);
      else return;
      e.preventDefault();
      e.stopPropagation();
    });
    canvas.addEventListener("blur", () => { if (scene) this.hover(-1); });
    canvas.addEventListener("pointermove", e => { if (scene) this.hover(near(e)); });
    canvas.addEventListener("pointerleave", () => { if (scene) this.hover(-1); });
    canvas.addEventListener("click", e => { if (scene) pin(near(e)); });
    new ResizeObserver(() => { if (pictures.includes(this)) { this.resize(); this.draw(performance.now()); } }).observe(this.sky); // at once, or the picture would be blank for a moment
  }
}

const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
export const left = new Picture("graph", "sky", "tip");
export const right = new Picture("graph2", "sky2", "tip2");

export function begin(s) {
  scene = s; pinned = -1;
  byId("sky2").hidden = !s.trials;
  pictures = s.trials ? [left, right] : [left];
  left.learner = 0;
  right.learner = s.learners.length - 1;
  for (const p of pictures) p.begin();
}

export function setQuantity(k) { for (const p of pictures) p.setQuantity(k); }

// take shows a frame.
export function take(f) {
  if (f.trial) right.follow(f.trial.shown);
  for (const p of pictures) p.take(f);
}

// cut ends the trails: what comes next does not follow what was.
export function cut() { for (const p of pictures) p.trails = []; }

// ringOf returns the quantities of a group that learners are compared by: that
// of the chosen quantity if it has a scale, else the first that has one.
function ringOf(q) {
  const fit = o => o?.group && o.high > o.low, group = (fit(q) ? q : scene.quantities.find(fit))?.group;
  const list = group ? scene.quantities.map((o, i) => o.group === group ? i : -1).filter(i => i >= 0) : [];
  return list.length < 2 ? [] : list;
}

// changed marks the indices in a field and says whether that is news.
function changed(field, indices) {
  const next = new Uint8Array(field.length);
  for (const i of indices) next[i] = 1;
  const news = next.some((v, i) => v !== field[i]);
  field.set(next);
  return news;
}

export function drawRamp() {
  const r = byId("ramp"), c = r.getContext("2d"), colors = rampOf(scene?.quantities[left.quantity]);
  byId("scale").hidden = !scene || scene.quantities.length === 0 || left.quantity < 0;
  for (let i = 0; i < 64; i++) { c.fillStyle = colors[i]; c.fillRect(i * r.width / 64, 0, r.width / 64 + 1, r.height); }
}

let quiet = 0, running = false, times = [];

// wake draws until nothing moves.
export function wake() {
  quiet = 0;
  if (!running && scene) { running = true; requestAnimationFrame(tick); }
}

function tick(now) {
  times.push(now);
  while (times.length > 1 && now - times[0] > 1000) times.shift();
  if (times.length > 1) stats.fps = 1000 * (times.length - 1) / Math.max(now - times[0], 1);
  const more = moves(now), active = pictures.filter(p => p.active());
  if (active.length > 0) {
    const from = performance.now();
    for (const p of active) p.draw(now);
    const took = performance.now() - from;
    stats.drawMs += (took - stats.drawMs) * 0.1;
    stats.recent.push(took);
    if (stats.recent.length > 120) stats.recent.shift();
    stats.drawn++;
  }
  if (active.length > 0 || more) quiet = 0; else quiet++;
  if (quiet > 30 || document.hidden) { running = false; times = []; return; }
  requestAnimationFrame(tick);
}

// where says where a node is drawn, in pixels of the page's canvas.
export function where(i) { return { x: left.xs[i], y: left.ys[i], r: sizeOf(left.mark[i], left.radius), ratio: left.ratio }; }

// numbersOf lists what is known of a node.
export function numbersOf(i) {
  const list = [];
  if (!scene) return list;
  if (left.mark[i]) list.push(["role", left.mark[i]]);
  const said = left.frame?.said?.[i];
  if (left.down[i] || said || scene.down === "down") list.push(["state", said ?? (left.down[i] ? scene.down : "up")]);
  scene.quantities.forEach((q, k) => { const v = left.frame?.values?.[k]?.[i]; if (v !== null && v !== undefined) list.push([q.name, format(v, q.unit)]); });
  const vel = left.frame?.vel;
  if (vel) list.push(["speed", format(Math.hypot(vel[2 * i], vel[2 * i + 1]), "m/s")]);
  return list;
}

export function pin(i) {
  pinned = i;
  picked(i);
  for (const p of pictures) p.touch();
}

for (const id of ["arrows", "trails", "links", "follow"]) byId(id).addEventListener("change", () => { for (const p of pictures) { if (p.frame?.pos) p.fly(p.frame); p.touch(); } });
document.addEventListener("visibilitychange", () => { if (!document.hidden) for (const p of pictures) p.touch(); });
onTheme(() => { drawRamp(); for (const p of pictures) { p.linksDirty = true; p.touch(); } });
