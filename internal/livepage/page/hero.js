// The message of a demo in large type: the share of right answers of the model as
// trained, and beside it that of the learner on show, as the process counts them.

import { byId, format, moment } from "./model.js";
import { learnerColor, onTheme } from "./theme.js";
import * as curves from "./curves.js";

let scene = null, chart = "", held = null, latest = null;

export function begin(s) {
  scene = s; held = latest = null; chart = s.curves[0]?.chart ?? "";
  byId("hero").hidden = !s.trials;
  byId("run").classList.toggle("demo", s.trials);
  if (!s.trials) byId("tag0").textContent = byId("tag1").textContent = "";
  if (s.trials) arrange();
  if (s.trials) { byId("name0").textContent = s.learners[0]; write([null, null], shownOf(s, null), ""); }
}

// arrange puts what stands below the networks into two columns.
function arrange() {
  byId("deck").append(byId("bar"));
  byId("first").append(...["curve", "deck", "counters", "happened"].map(byId));
  byId("second").append(...["knobs", "node", "heat"].map(byId));
}

// shares picks the numbers of two learners from the curves of a frame.
const shares = (f, shown) => [0, shown].map(learner => f.curves?.[scene.curves.findIndex(c => c.chart === chart && c.learner === learner)] ?? null);

// shownOf says which learner is on show: that of the signal, or before the first
// that of the knob.
export function shownOf(s, f) {
  const k = s.controls.findIndex(c => c.name === "learner");
  return f?.trial?.shown ?? f?.settings?.[k] ?? s.controls[k]?.value ?? s.learners.length - 1;
}

const percent = v => v === null || Number.isNaN(v) ? "…" : `${Math.round(v)} %`;

function write([frozen, learning], shown, told) {
  byId("share0").textContent = percent(frozen);
  byId("share1").textContent = percent(learning);
  color = shown;
  paint();
  byId("name1").textContent = `learning: ${scene.learners[shown]}`;
  byId("tag0").textContent = scene.learners[0]; byId("tag1").textContent = "learning";
  byId("told").textContent = told;
}

let color = 0;
function paint() { byId("hero").style.setProperty("--learning", learnerColor(color)); }
onTheme(paint);

const lost = out => `${format(out.length)} of ${format(scene.edges.length)} links lost`;

// take shows the numbers of a frame, unless an act holds others.
export function take(f) {
  if (!scene?.trials) return;
  latest = f;
  if (held) byId("told").textContent = toldOf(held); else now();
}

function now() {
  if (!latest) return;
  const shown = shownOf(scene, latest), [a, b] = shares(latest, shown);
  write([a, b], shown, a === null ? "the model is being trained, with all links" : `${chart} · ${lost(latest.out ?? [])}`);
}

// toldOf says what the numbers of a moment of the story are.
const toldOf = m => `${chart} · ${lost(m.out)} · at ${moment(scene, m.t)}` + (latest && latest.t > m.t ? `; the run is at ${format(latest.t)} now` : "");

// hold shows the numbers of a moment of the story, here and in the charts; null those of
// the run again.
export function hold(m) {
  if (!scene?.trials || m === held) return;
  held = m;
  curves.hold(m);
  if (!m) { now(); return; }
  write([m.shares[0], m.shares[m.trial.shown]], m.trial.shown, toldOf(m));
}
