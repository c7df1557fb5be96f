// What the two networks of a demo show while nobody tells a story: now and then a
// signal of the run, as it spread and as it was answered.

import * as graph from "./graph.js";

const still = matchMedia("(prefers-reduced-motion: reduce)");
const hold = 2400, step = 170, answering = 300; // ms: a signal is shown, it takes a hop, answers appear
let scene = null, latest = null, held = null, since = 0, paused = false, act = null;

export function begin(s) { scene = s; latest = held = null; paused = false; }

export function take(f) {
  if (!f.trial) return;
  latest = f.trial;
  const k = scene.controls.findIndex(c => c.name === "pause");
  paused = f.settings?.[k] === 1;
  graph.wake();
}

// play lets somebody else say what is shown: play(now) returns whether there is
// more to come. null ends that.
export function play(f) { act = f; held = null; graph.wake(); }

function run(now) {
  if (!scene?.trials) return false;
  if (act) return act(now);
  if (!latest) return false;
  if (!held || latest !== held && (paused || now - since > hold)) { held = latest; since = now; }
  const last = held.hops.length - 1, spread = step * last, t = still.matches || paused ? Infinity : now - since;
  const shot = { trial: held, hop: Math.min(t / step, last), answers: Math.max(0, Math.min(1, (t - spread) / answering)), out: null, flash: null, open: null };
  for (const p of [graph.left, graph.right]) p.show(shot);
  return !still.matches;
}
graph.onFrame(run);
