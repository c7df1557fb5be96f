// Painting of a signal in a demo: communities in their hues, the pulse as it
// spreads, detectors in the colour of what they believe, and a node that is open.
//
// A shot says what is to be seen:
//
//   trial    the signal: its source, the truth, hops and answers
//   hop      how far it has spread, between two hops if not whole
//   answers  from 0, not given yet, to 1
//   out      links that were lost then; null for those of the frame
//   flash    { edges, part }: links that snap, from 0 to 1
//   open     { node, columns, taps, ghost, scale, belief, error, heard, part, fade }: a node seen from within

import { theme, hue } from "./theme.js";

// What does not change from frame to frame is painted by paintStill, once.

const bound = (v, low = 0, high = 1) => Math.max(low, Math.min(high, v));
const smooth = t => t * t * (3 - 2 * t);
// squeezed is the share of the width that the network has beside an open node.
export const squeezed = 0.46;

// beside returns what share of the width the network has.
export const beside = open => open ? 1 - (1 - squeezed) * smooth(bound(open.fade * 3)) : 1;

export const letter = g => String.fromCharCode(65 + g % 26);

// paintStill paints communities and the nodes in them above the links.
export function paintStill(ctx, view, dim = 1) {
  ctx.textAlign = "center"; ctx.textBaseline = "middle"; ctx.setLineDash([]);
  drawCommunities(ctx, view, dim);
  ctx.globalAlpha = dim;
  drawMembers(ctx, view);
  ctx.globalAlpha = 1;
}

// paintTrial paints what stands above that. Beside a node that is open the network is
// narrower, and nothing of it was painted before.
export function paintTrial(ctx, view, now) {
  const { shot } = view, dim = shot?.open ? 1 - 0.78 * bound(shot.open.fade * 4) : 1;
  if (shot?.open) paintStill(ctx, view, dim);
  ctx.textAlign = "center"; ctx.textBaseline = "middle"; ctx.lineCap = "round";
  if (shot?.flash) drawFlash(ctx, view);
  const now01 = shot ? levels(shot) : null;
  ctx.globalAlpha = dim;
  if (shot) { drawSpread(ctx, view); drawSignal(ctx, view, now01); }
  if (shot) drawSource(ctx, view, now01, now);
  ctx.globalAlpha = 1;
  drawDetectors(ctx, view, dim);
  drawDown(ctx, view);
  drawPinned(ctx, view);
  if (shot?.open) drawOpen(ctx, view);
}

// peak returns the largest value of a hop, which is asked for in every frame.
const peaks = new WeakMap();
function peak(hop) {
  if (!peaks.has(hop)) peaks.set(hop, Math.max(1e-9, ...hop));
  return peaks.get(hop);
}

// levels returns how strong the signal is at each node, 0 to 1, as eyes see it.
function levels({ trial, hop }) {
  const k = Math.min(Math.floor(hop), trial.hops.length - 1), a = trial.hops[k], b = trial.hops[Math.min(k + 1, trial.hops.length - 1)], part = smooth(bound(hop - k));
  const ma = peak(a), mb = peak(b);
  return a.map((v, i) => Math.sqrt(bound((1 - part) * v / ma + part * b[i] / mb)));
}

// middles returns the centre of each community and how far it reaches.
function middles({ scene, xs, ys }) {
  const list = [];
  (scene.groups ?? []).forEach((g, i) => { const m = list[g] ??= { x: 0, y: 0, n: 0, r: 0 }; m.x += xs[i]; m.y += ys[i]; m.n++; });
  for (const m of list) { m.x /= m.n; m.y /= m.n; }
  scene.groups?.forEach((g, i) => { const m = list[g]; m.r = Math.max(m.r, Math.hypot(xs[i] - m.x, ys[i] - m.y)); });
  return list;
}

function drawCommunities(ctx, view, dim) {
  const { radius, width, height, fit = 1 } = view, middle = width * fit / 2, size = Math.max(13, Math.min(22, 2.6 * radius));
  middles(view).forEach((m, g) => {
    const r = m.r + 3.2 * radius, glow = ctx.createRadialGradient(m.x, m.y, 0, m.x, m.y, r);
    glow.addColorStop(0, hue(g, theme.tint)); glow.addColorStop(0.72, hue(g, theme.tint * 0.8)); glow.addColorStop(1, hue(g, 0));
    ctx.globalAlpha = dim;
    ctx.fillStyle = glow;
    ctx.beginPath(); ctx.arc(m.x, m.y, r, 0, 2 * Math.PI); ctx.fill();
    const dx = m.x - middle, dy = m.y - height / 2, long = Math.hypot(dx, dy) || 1, far = m.r + 1.5 * radius + size * 0.5;
    ctx.fillStyle = hue(g, 0.85); ctx.font = `700 ${size}px system-ui, sans-serif`;
    ctx.fillText(letter(g), bound(m.x + dx / long * far, size, width * fit - size), bound(m.y + dy / long * far, size * 0.7, height - size * 0.7));
  });
  ctx.globalAlpha = 1;
}

// drawFlash lights up the links that snap, and lets them fall apart.
function drawFlash(ctx, { scene, xs, ys, shot }) {
  const { edges, part } = shot.flash;
  if (part >= 1) return;
  const light = part < 0.25 ? part * 4 : 1 - (part - 0.25) / 0.75, gap = bound((part - 0.25) / 0.75) * 0.5;
  ctx.strokeStyle = theme.snap; ctx.globalAlpha = light; ctx.lineWidth = 0.8 + 1.1 * light;
  ctx.beginPath();
  for (const k of edges) {
    const [a, b] = scene.edges[k], dx = xs[b] - xs[a], dy = ys[b] - ys[a];
    ctx.moveTo(xs[a], ys[a]); ctx.lineTo(xs[a] + dx * (0.5 - gap), ys[a] + dy * (0.5 - gap));
    ctx.moveTo(xs[b], ys[b]); ctx.lineTo(xs[b] - dx * (0.5 - gap), ys[b] - dy * (0.5 - gap));
  }
  ctx.stroke();
  ctx.globalAlpha = 1;
}

// drawSpread draws what runs along links between two hops: as much as a node has.
function drawSpread(ctx, { scene, xs, ys, radius, shot }) {
  const { trial, hop } = shot, k = Math.floor(hop), part = hop - k;
  if (part <= 0 || k >= trial.hops.length - 1) return;
  const from = trial.hops[k], most = peak(from), s = smooth(part), before = ctx.globalAlpha;
  ctx.strokeStyle = ctx.fillStyle = hue(trial.truth, 1);
  const run = (a, b) => {
    const v = Math.sqrt(bound(from[a] / most));
    if (v < 0.3) return;
    const x = xs[a] + (xs[b] - xs[a]) * s, y = ys[a] + (ys[b] - ys[a]) * s;
    ctx.globalAlpha = before * v * v * Math.sin(Math.PI * part) * 0.4;
    ctx.lineWidth = radius * (0.06 + 0.16 * v * v);
    ctx.beginPath(); ctx.moveTo(xs[a], ys[a]); ctx.lineTo(x, y); ctx.stroke();
    ctx.globalAlpha = before * v * Math.sin(Math.PI * part);
    ctx.beginPath(); ctx.arc(x, y, radius * (0.1 + 0.26 * v * v), 0, 2 * Math.PI); ctx.fill();
  };
  for (const [a, b] of scene.edges) { run(a, b); run(b, a); }
  ctx.globalAlpha = before;
}

// drawMembers draws the nodes that do not answer, in the hue of their community.
function drawMembers(ctx, { scene, xs, ys, radius, mark, down }) {
  ctx.lineWidth = Math.max(1, radius * 0.16);
  for (let i = 0; i < xs.length; i++) {
    if (mark[i] === "detector" || down[i]) continue;
    ctx.beginPath(); ctx.arc(xs[i], ys[i], radius * 0.86, 0, 2 * Math.PI);
    ctx.fillStyle = theme.card; ctx.fill();
    ctx.fillStyle = hue(scene.groups?.[i] ?? 0, 0.34); ctx.fill();
    ctx.strokeStyle = hue(scene.groups?.[i] ?? 0, 0.9); ctx.stroke();
  }
}

// drawSignal draws how strong the signal is at them: a dot, with a glow where it is much.
function drawSignal(ctx, { xs, ys, radius, mark, shot, down }, strong) {
  const before = ctx.globalAlpha;
  ctx.fillStyle = hue(shot.trial.truth, 1);
  for (let i = 0; i < xs.length; i++) {
    const v = strong[i];
    if (!(v > 0.06) || mark[i] === "detector" || down[i]) continue;
    if (v > 0.3 && i !== shot.trial.source) {
      ctx.globalAlpha = before * 0.3 * v;
      ctx.beginPath(); ctx.arc(xs[i], ys[i], radius * (1 + 1.1 * v), 0, 2 * Math.PI); ctx.fill();
      ctx.globalAlpha = before;
    }
    ctx.beginPath(); ctx.arc(xs[i], ys[i], radius * 0.8 * v, 0, 2 * Math.PI); ctx.fill();
  }
}

function drawSource(ctx, { xs, ys, radius, shot }, strong, now) {
  const { trial } = shot, x = xs[trial.source], y = ys[trial.source], color = trial.truth;
  const breath = theme.still ? 0.5 : 0.5 + 0.5 * Math.sin(now / 420), r = radius * (3.4 + 0.7 * breath), glow = ctx.createRadialGradient(x, y, 0, x, y, r);
  glow.addColorStop(0, hue(color, 0.95)); glow.addColorStop(0.35, hue(color, 0.5)); glow.addColorStop(1, hue(color, 0));
  ctx.fillStyle = glow;
  ctx.beginPath(); ctx.arc(x, y, r, 0, 2 * Math.PI); ctx.fill();
  ctx.fillStyle = "#fff";
  star(ctx, x, y, radius * 1.15);
  ctx.fill();
  ctx.strokeStyle = hue(color, 1); ctx.lineWidth = Math.max(1.5, radius * 0.24); ctx.stroke();
}

function star(ctx, x, y, r) {
  ctx.beginPath();
  for (let k = 0; k < 8; k++) {
    const a = k * Math.PI / 4 - Math.PI / 2, d = k % 2 ? r * 0.5 : r;
    ctx[k ? "lineTo" : "moveTo"](x + d * Math.cos(a), y + d * Math.sin(a));
  }
  ctx.closePath();
}

function drawDetectors(ctx, view, dim) {
  const { mark, learner, shot, down } = view;
  for (let i = 0; i < mark.length; i++) {
    if (mark[i] !== "detector" || down[i]) continue;
    const said = shot && shot.answers > 0 ? shot.trial.answers[learner]?.[i] ?? -1 : -1;
    ctx.globalAlpha = shot?.open && shot.open.node !== i ? dim : 1;
    drawDetector(ctx, view, i, said);
  }
  ctx.globalAlpha = 1;
}

function drawDetector(ctx, { scene, xs, ys, radius, shot }, i, said) {
  const x = xs[i], y = ys[i], pop = said < 0 ? 1 : 1 + 0.25 * Math.sin(Math.PI * bound(shot.answers)), r = Math.max(7, radius * 1.45) * pop, own = scene.groups?.[i] ?? 0;
  ctx.beginPath(); ctx.roundRect(x - r, y - r, 2 * r, 2 * r, r * 0.4);
  ctx.fillStyle = theme.card; ctx.fill();
  ctx.fillStyle = said < 0 ? hue(own, 0.14) : hue(said, 1); ctx.fill();
  ctx.strokeStyle = said < 0 ? hue(own, 1) : theme.ink; ctx.lineWidth = Math.max(1.5, radius * 0.2); ctx.stroke();
  ctx.fillStyle = said < 0 ? theme.soft : theme.on; ctx.font = `700 ${Math.round(r * 1.25)}px system-ui, sans-serif`;
  ctx.fillText(said < 0 ? "?" : letter(said), x, y + r * 0.07);
  if (said < 0) return;
  badge(ctx, x + r * 1.02, y - r * 1.02, Math.max(6, r * 0.68) * bound(shot.answers * 1.4), said === shot.trial.truth);
}

// badge is ✓ on blue or ✗ on orange, drawn by strokes, so that it looks alike
// everywhere.
function badge(ctx, x, y, r, right) {
  if (r < 1) return;
  ctx.beginPath(); ctx.arc(x, y, r, 0, 2 * Math.PI);
  ctx.fillStyle = right ? theme.good : theme.bad; ctx.fill();
  ctx.strokeStyle = theme.card; ctx.lineWidth = Math.max(1, r * 0.22); ctx.stroke();
  ctx.strokeStyle = theme.on; ctx.lineWidth = Math.max(1.3, r * 0.3);
  const u = r * 0.42;
  ctx.beginPath();
  if (right) { ctx.moveTo(x - u * 1.1, y + u * 0.05); ctx.lineTo(x - u * 0.25, y + u * 0.9); ctx.lineTo(x + u * 1.15, y - u * 0.8); }
  else { ctx.moveTo(x - u, y - u); ctx.lineTo(x + u, y + u); ctx.moveTo(x + u, y - u); ctx.lineTo(x - u, y + u); }
  ctx.stroke();
}

function drawDown(ctx, { xs, ys, radius, down }) {
  for (let i = 0; i < down.length; i++) if (down[i]) {
    const r = radius * 0.45;
    ctx.fillStyle = theme.down; ctx.beginPath(); ctx.arc(xs[i], ys[i], radius, 0, 2 * Math.PI); ctx.fill();
    ctx.strokeStyle = theme.card; ctx.lineWidth = Math.max(1, radius * 0.22);
    ctx.beginPath(); ctx.moveTo(xs[i] - r, ys[i] - r); ctx.lineTo(xs[i] + r, ys[i] + r); ctx.moveTo(xs[i] + r, ys[i] - r); ctx.lineTo(xs[i] - r, ys[i] + r); ctx.stroke();
  }
}

function drawPinned(ctx, { liars, xs, ys, radius, hovered, pinned }) {
  for (const [i, wide] of [[hovered, 1.5], [pinned, 2.5]]) if (i >= 0) {
    ctx.strokeStyle = theme.accent; ctx.lineWidth = wide;
    ctx.beginPath(); ctx.arc(xs[i], ys[i], radius * 2.3 + wide, 0, 2 * Math.PI); ctx.stroke();
  }
  ctx.setLineDash([3, 3]); ctx.strokeStyle = theme.down; ctx.lineWidth = 2;
  for (const i of liars) { ctx.beginPath(); ctx.arc(xs[i], ys[i], radius * 1.9, 0, 2 * Math.PI); ctx.stroke(); }
  ctx.setLineDash([]);
}

// drawOpen draws what reaches a node, and the node from within.
function drawOpen(ctx, view) {
  const { xs, ys, radius, width, height, shot } = view, { open } = shot, x = xs[open.node], y = ys[open.node], most = Math.max(1e-9, ...open.heard.map(h => Math.abs(h.value)));
  const run = bound(open.part * 3);
  for (const h of open.heard) {
    const v = Math.sqrt(Math.abs(h.value) / most), s = smooth(run), hx = xs[h.from], hy = ys[h.from];
    ctx.strokeStyle = ctx.fillStyle = hue(shot.trial.truth, 1);
    ctx.globalAlpha = 0.25 + 0.5 * v; ctx.lineWidth = 1 + 2 * v;
    ctx.beginPath(); ctx.moveTo(hx, hy); ctx.lineTo(x, y); ctx.stroke();
    ctx.globalAlpha = 0.9;
    ctx.beginPath(); ctx.arc(hx, hy, radius * (0.35 + 0.55 * v), 0, 2 * Math.PI); ctx.fill();
    if (run < 1) { ctx.beginPath(); ctx.arc(hx + (x - hx) * s, hy + (y - hy) * s, radius * (0.3 + 0.45 * v), 0, 2 * Math.PI); ctx.fill(); }
  }
  ctx.globalAlpha = 1;
  drawDetector(ctx, view, open.node, shot.answers > 0 ? shot.trial.answers[view.learner][open.node] : -1);
  const wide = width * (1 - squeezed) - 12, box = { x: width - wide - 6, y: 6, w: wide, h: height - 12 };
  ctx.strokeStyle = theme.soft; ctx.lineWidth = 1; ctx.setLineDash([2, 3]);
  ctx.beginPath(); ctx.moveTo(x, y); ctx.lineTo(box.x, box.y + box.h / 2); ctx.stroke();
  ctx.setLineDash([]);
  drawCard(ctx, box, open, shot.trial, view.learner);
}

function drawCard(ctx, { x, y, w, h }, open, trial, learner) {
  ctx.globalAlpha = bound(open.fade * 3 - 1);
  ctx.fillStyle = theme.card;
  ctx.beginPath(); ctx.roundRect(x, y, w, h, 10); ctx.fill();
  ctx.strokeStyle = theme.rule; ctx.lineWidth = 1; ctx.stroke();
  const small = w < 260, font = small ? 11 : 12.5, pad = small ? 8 : 12, line = font * 1.5;
  const label = (text, tx, ty, align = "left", color = theme.soft, weight = 400) => { ctx.textAlign = align; ctx.fillStyle = color; ctx.font = `${weight} ${font}px system-ui, sans-serif`; ctx.fillText(text, tx, ty); };
  const beliefs = line * (small ? 2.1 : 1.25 + 0.94 * open.columns), heads = small ? line : 2 * line, bars = { x: x + pad, y: y + pad + heads, w: w - 2 * pad, h: h - 2 * pad - 1.3 * line - heads - beliefs };
  label(small ? "taps, by hop" : "taps: how much each hop counts for A to E", x + pad, y + pad + font * 0.4);
  if (!small) label("thin lines: as trained", x + pad, y + pad + line + font * 0.4);
  drawBars(ctx, bars, open, label);
  const from = bars.y + bars.h + line * 1.75;
  label(small ? `belief in ${letter(trial.truth)} ✦ ${percent(open.belief[trial.truth])}` : "belief; ✦ is where it started", x + pad, from);
  label(`error ${open.error.toFixed(2)}`, x + w - pad, from, "right", theme.ink, 600);
  if (small) drawShares(ctx, { x: x + pad, y: from + line * 0.98, w: w - 2 * pad, h: font * 1.1 }, open.belief, label);
  else drawBeliefs(ctx, { x: x + pad, y: from + line * 1.05, w: w - 2 * pad, line: line * 0.94, font }, open, trial, label);
  ctx.textAlign = "center"; ctx.globalAlpha = 1;
}

const percent = p => `${Math.round(100 * p)} %`;

// drawBeliefs draws how likely each community is to a node, a bar each; the star is at
// the one where the pulse started, as it is in the network.
function drawBeliefs(ctx, { x, y, w, line, font }, open, trial, label) {
  for (let c = 0; c < open.columns; c++) {
    const by = y + c * line, bx = x + font * 1.3, bw = w - font * 5.2, p = open.belief[c];
    label(letter(c), x, by, "left", theme.ink, 600);
    ctx.fillStyle = theme.rule; ctx.beginPath(); ctx.roundRect(bx, by - font * 0.36, bw, font * 0.72, 4); ctx.fill();
    ctx.fillStyle = hue(c, 1); ctx.beginPath(); ctx.roundRect(bx, by - font * 0.36, Math.max(2, bw * p), font * 0.72, 4); ctx.fill();
    label(percent(p), x + w - font * 1.3, by, "right", theme.ink);
    if (c === trial.truth) { ctx.fillStyle = theme.ink; star(ctx, x + w - font * 0.3, by, font * 0.42); ctx.fill(); }
  }
}

// drawShares draws them as parts of one bar, where there is no room for more.
function drawShares(ctx, { x, y, w, h }, belief, label) {
  let from = x;
  belief.forEach((p, c) => {
    ctx.fillStyle = hue(c, 1); ctx.fillRect(from, y - h / 2, Math.max(0, p * w - 1), h);
    if (p > 0.15) label(letter(c), from + p * w / 2, y + 0.5, "center", theme.on, 700);
    from += p * w;
  });
}

// drawBars draws taps: a group of bars for each hop, and what they were at first as
// outlines.
function drawBars(ctx, { x, y, w, h }, open, label) {
  const hops = open.taps.length / open.columns, group = w / hops, thick = Math.max(2, (group - 6) / open.columns), middle = y + h / 2, tall = v => bound(v / open.scale, -1, 1) * h / 2;
  const all = ctx.globalAlpha;
  ctx.strokeStyle = theme.rule; ctx.lineWidth = 1;
  ctx.beginPath(); ctx.moveTo(x, middle); ctx.lineTo(x + w, middle); ctx.stroke();
  for (let k = 0; k < hops; k++) {
    for (let c = 0; c < open.columns; c++) {
      const bx = x + k * group + 3 + c * thick, v = tall(open.taps[k * open.columns + c]), g = tall(open.ghost[k * open.columns + c]);
      ctx.fillStyle = hue(c, 1); ctx.fillRect(bx, Math.min(middle, middle - v), thick - 1, Math.max(1, Math.abs(v)));
      ctx.strokeStyle = theme.ink; ctx.globalAlpha = 0.55 * all; ctx.lineWidth = 1;
      ctx.beginPath(); ctx.moveTo(bx - 0.5, middle - g); ctx.lineTo(bx + thick - 0.5, middle - g); ctx.stroke();
      ctx.globalAlpha = all;
    }
    label(group > 44 ? `hop ${k}` : String(k), x + (k + 0.5) * group, y + h + 9, "center");
  }
}
