// Painting. Every function takes what it needs of the view and keeps nothing.

import { theme, rampOf, learnerColor } from "./theme.js";

export const lasting = 520; // ms that a message is on its way

// sizeOf returns half the width of a node.
export const sizeOf = (mark, radius) => mark === "detector" ? radius * 1.25 : radius;

const bin = (v, low, high) => Math.max(0, Math.min(63, Math.round(63 * (v - low) / (high - low))));

// paint paints all that stands above the links.
export function paint(ctx, view, now) {
  if (view.scene.layout === "moving") { drawTrails(ctx, view); if (view.arrows) drawArrows(ctx, view); }
  drawPulses(ctx, view, now);
  drawNodes(ctx, view);
  drawMarks(ctx, view);
  drawRings(ctx, view);
  drawChosen(ctx, view);
  if (view.box) drawMetre(ctx, view);
}

// drawMetre draws how long a metre is, or ten, or a tenth.
function drawMetre(ctx, { width, height, box }) {
  const scale = width / box.size, metres = 10 ** Math.floor(Math.log10(width / 4 / scale)), long = metres * scale;
  ctx.strokeStyle = ctx.fillStyle = theme.soft; ctx.lineWidth = 2;
  ctx.beginPath(); ctx.moveTo(10, height - 10); ctx.lineTo(10 + long, height - 10); ctx.stroke();
  ctx.font = "12px system-ui, sans-serif";
  ctx.fillText(`${Number(metres.toPrecision(1))} m`, 10, height - 16);
}

// paintLinks paints the layer of the links, and the names of few nodes.
export function paintLinks(under, view) {
  drawLinks(under, view);
  view.named.length = 0;
  if (view.scene.layout !== "moving" && !view.scene.trials && view.scene.nodes.length <= few) drawNames(under, view);
}

const few = 40; // nodes up to which names are written beside them

// shortOf is what of a name stands beside a node; its explanation has all of it.
const shortOf = name => { const text = name.split(",")[0]; return text.length > 24 ? text.slice(0, 23) + "…" : text; };

// drawNames writes names beside nodes: to the right, to the left, below or above, wherever
// they cover neither a node nor another name. Where they would, they are left out.
function drawNames(under, { scene, xs, ys, width, height, radius, mark, ring, named }) {
  const tall = 13, air = 3, far = i => ring.length > 0 ? sizeOf(mark[i], radius) * 1.75 + 3 + radius * 0.25 : sizeOf(mark[i], radius);
  const taken = scene.nodes.map((_, i) => [xs[i] - far(i), ys[i] - far(i), xs[i] + far(i), ys[i] + far(i)]);
  under.font = "12px system-ui, sans-serif"; under.textBaseline = "middle"; under.textAlign = "left"; under.lineJoin = "round";
  under.setLineDash([]); under.lineWidth = 3; under.strokeStyle = theme.card; under.fillStyle = theme.soft;
  scene.nodes.forEach((name, i) => {
    const text = shortOf(name), wide = under.measureText(text).width, r = far(i) + air;
    for (const [x, y] of [[xs[i] + r, ys[i]], [xs[i] - r - wide, ys[i]], [xs[i] - wide / 2, ys[i] + r + tall / 2], [xs[i] - wide / 2, ys[i] - r - tall / 2]]) {
      const box = [x, y - tall / 2, x + wide, y + tall / 2];
      if (x < 0 || box[2] > width || box[1] < 0 || box[3] > height || taken.some(t => t[0] < box[2] && box[0] < t[2] && t[1] < box[3] && box[1] < t[3])) continue;
      taken.push(box); named.push(text);
      under.strokeText(text, x, y); under.fillText(text, x, y);
      return;
    }
  });
}

function drawLinks(under, { scene, frame, xs, ys, width, height, ratio, out, gone, links: shown }) {
  under.setTransform(ratio, 0, 0, ratio, 0, 0);
  under.clearRect(0, 0, width, height);
  const moving = scene.layout === "moving", links = !moving ? scene.edges : shown ? frame?.links ?? [] : [];
  under.lineWidth = links.length > 3000 ? 0.5 : links.length > 800 ? 0.8 : 1.1;
  for (const lost of gone ? [0] : [1, 0]) {
    under.strokeStyle = lost ? theme["edge-out"] : theme.edge;
    under.setLineDash(lost && links.length < 3000 ? [3, 4] : []);
    under.beginPath();
    for (let k = 0; k < links.length; k++) {
      if ((moving ? 0 : out[k]) !== lost) continue;
      const [a, b] = links[k];
      under.moveTo(xs[a], ys[a]); under.lineTo(xs[b], ys[b]);
    }
    under.stroke();
  }
  if (moving || scene.weak.length === 0) return;
  under.strokeStyle = theme.bad; under.lineWidth *= 2; under.setLineDash([]);
  under.beginPath();
  for (const k of scene.weak) if (!out[k]) { const [a, b] = links[k]; under.moveTo(xs[a], ys[a]); under.lineTo(xs[b], ys[b]); }
  under.stroke();
}

function drawNodes(ctx, { scene, quantity, xs, ys, shown, radius, low, high, down, mark }) {
  const n = scene.nodes.length, colors = rampOf(scene.quantities[quantity]);
  const bins = new Map();
  for (let i = 0; i < n; i++) {
    const color = down[i] ? theme.down : Number.isNaN(shown[i]) ? (scene.layout === "moving" && scene.quantities.length === 0 ? theme.robot : theme.blank) : colors[bin(shown[i], low, high)];
    let list = bins.get(color);
    if (!list) bins.set(color, list = []);
    list.push(i);
  }
  for (const [color, list] of bins) {
    ctx.fillStyle = color;
    ctx.beginPath();
    for (const i of list) {
      const r = sizeOf(mark[i], radius), x = xs[i], y = ys[i];
      if (mark[i] === "detector") ctx.roundRect(x - r, y - r, 2 * r, 2 * r, r * 0.35);
      else { ctx.moveTo(x + r, y); ctx.arc(x, y, r, 0, 2 * Math.PI); }
    }
    ctx.fill();
  }
  ctx.strokeStyle = theme.card;
  ctx.lineWidth = Math.max(1, radius * 0.22);
  ctx.beginPath();
  for (let i = 0; i < n; i++) if (down[i]) {
    const r = sizeOf(mark[i], radius) * 0.4;
    ctx.moveTo(xs[i] - r, ys[i] - r); ctx.lineTo(xs[i] + r, ys[i] + r); ctx.moveTo(xs[i] + r, ys[i] - r); ctx.lineTo(xs[i] - r, ys[i] + r);
  }
  ctx.stroke();
}

function drawMarks(ctx, { xs, ys, radius, mark }) {
  ctx.strokeStyle = theme.ink;
  ctx.lineWidth = Math.max(1.2, radius * 0.16);
  for (let i = 0; i < mark.length; i++) {
    if (!mark[i]) continue;
    const x = xs[i], y = ys[i];
    ctx.beginPath();
    if (mark[i] === "source") { const d = radius * 1.75; ctx.moveTo(x, y - d); ctx.lineTo(x + d, y); ctx.lineTo(x, y + d); ctx.lineTo(x - d, y); ctx.closePath(); }
    else if (mark[i] === "detector") { const r = sizeOf(mark[i], radius) + ctx.lineWidth / 2; ctx.roundRect(x - r, y - r, 2 * r, 2 * r, r * 0.35); }
    else { ctx.setLineDash([2, 2]); ctx.arc(x, y, radius * 1.5, 0, 2 * Math.PI); }
    ctx.stroke();
    ctx.setLineDash([]);
  }
}

// drawRings puts a ring around nodes that have the chosen quantity for several
// learners: an arc each, as long as its value is good.
function drawRings(ctx, { scene, frame, ring, xs, ys, radius, down, mark }) {
  if (ring.length === 0 || !frame?.values) return;
  const part = 2 * Math.PI / ring.length, gap = 0.12;
  ctx.lineWidth = Math.max(2, radius * 0.42);
  ring.forEach((q, k) => {
    const about = scene.quantities[q], values = frame.values[q];
    if (!values || !(about.high > about.low)) return;
    for (let i = 0; i < values.length; i++) {
      if (values[i] === null || down[i]) continue;
      let share = Math.max(0, Math.min(1, (values[i] - about.low) / (about.high - about.low)));
      const r = sizeOf(mark[i], radius) * 1.75 + 3, from = -Math.PI / 2 + k * part + gap / 2;
      ctx.strokeStyle = theme.rule;
      ctx.beginPath(); ctx.arc(xs[i], ys[i], r, from, from + part - gap); ctx.stroke();
      ctx.strokeStyle = learnerColor(about.learner);
      ctx.beginPath(); ctx.arc(xs[i], ys[i], r, from, from + share * (part - gap)); ctx.stroke();
    }
  });
}

function drawPulses(ctx, { scene, xs, ys, radius, pulses }, now) {
  if (pulses.length === 0) return;
  ctx.fillStyle = theme.pulse;
  const r = Math.max(1.4, radius * 0.24);
  for (const p of pulses) {
    const t = (now - p.from) / lasting, e = scene.edges[p.e];
    if (t < 0 || !e) continue;
    const [a, b] = p.back ? [e[1], e[0]] : e, s = t * t * (3 - 2 * t);
    ctx.globalAlpha = Math.sin(Math.PI * t) * 0.9;
    ctx.beginPath(); ctx.arc(xs[a] + (xs[b] - xs[a]) * s, ys[a] + (ys[b] - ys[a]) * s, r, 0, 2 * Math.PI); ctx.fill();
  }
  ctx.globalAlpha = 1;
}

function drawTrails(ctx, { scene, width, height, trails, box }) {
  if (trails.length < 2 || !box) return;
  const scale = width / box.size, n = scene.nodes.length, step = n > 500 ? 4 : 1;
  ctx.strokeStyle = theme.trail; ctx.lineWidth = 1.4;
  ctx.beginPath();
  for (let i = 0; i < n; i++) for (let k = 0; k < trails.length; k += step) {
    const p = trails[k], x = width / 2 + (p[2 * i] - box.x) * scale, y = height / 2 - (p[2 * i + 1] - box.y) * scale;
    if (k) ctx.lineTo(x, y); else ctx.moveTo(x, y);
  }
  ctx.stroke();
}

function drawArrows(ctx, { scene, frame, xs, ys, radius, down }) {
  const v = frame?.vel;
  if (!v) return;
  let fastest = 1e-9;
  for (let i = 0; i < v.length; i += 2) fastest = Math.max(fastest, Math.hypot(v[i], v[i + 1]));
  const scale = 4.2 * radius / fastest;
  ctx.strokeStyle = theme.ink; ctx.lineWidth = 1.3;
  ctx.beginPath();
  for (let i = 0; i < scene.nodes.length; i++) {
    const dx = v[2 * i] * scale, dy = -v[2 * i + 1] * scale, long = Math.hypot(dx, dy);
    if (long < radius || down[i]) continue;
    const ux = dx / long, uy = dy / long, h = Math.min(4, long / 3), x = xs[i] + dx, y = ys[i] + dy;
    ctx.moveTo(xs[i], ys[i]); ctx.lineTo(x, y);
    ctx.moveTo(x - h * (ux - 0.6 * uy), y - h * (uy + 0.6 * ux)); ctx.lineTo(x, y); ctx.lineTo(x - h * (ux + 0.6 * uy), y - h * (uy - 0.6 * ux));
  }
  ctx.stroke();
}

function drawChosen(ctx, { xs, ys, radius, mark, hovered, pinned }) {
  for (const [i, wide] of [[hovered, 1.5], [pinned, 2.5]]) {
    if (i < 0) continue;
    ctx.strokeStyle = theme.accent; ctx.lineWidth = wide;
    ctx.beginPath();
    ctx.arc(xs[i], ys[i], sizeOf(mark[i], radius) + 4 + wide, 0, 2 * Math.PI);
    ctx.stroke();
  }
}
