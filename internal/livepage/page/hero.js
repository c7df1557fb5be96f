// The message of a run in large type: how well the model as trained answers, and beside
// it what goes on learning, as the process counts them.

import { byId, element, format, moment, write as put } from "./model.js";
import { learnerColor, onTheme } from "./theme.js";
import { term, wordOf } from "./words.js";
import * as curves from "./curves.js";

let scene = null, chart = "", unit = "", held = null, latest = null;

export function begin(s) {
  scene = s; held = latest = null; color = -1; chart = s.hero?.chart ?? s.curves[0]?.chart ?? ""; unit = s.curves.find(c => c.chart === chart)?.unit ?? "";
  byId("hero").hidden = !heroic();
  byId("hero").setAttribute("aria-label", s.trials ? "Right answers now" : "Frozen and learning now");
  byId("run").classList.toggle("demo", s.trials);
  if (!s.trials) byId("tag0").textContent = byId("tag1").textContent = "";
  if (s.trials) arrange();
  for (const id of ["name0", "name1"]) byId(id).textContent = "";
  if (heroic()) { explained("name0", "", s.learners[0]); write([null, null], shownOf(s, null), ""); }
}

const heroic = () => Boolean(scene?.trials || scene?.hero);

// arrange puts what stands below the networks into two columns.
function arrange() {
  byId("deck").append(byId("bar"));
  byId("first").append(...["curve", "deck", "counters", "happened"].map(byId));
  byId("second").append(...["knobs", "node", "heat"].map(byId));
}

// numbers picks those of two learners from the curves of a frame.
const numbers = (f, shown) => [0, shown].map(learner => f.curves?.[scene.curves.findIndex(c => c.chart === chart && c.learner === learner)] ?? null);

// shownOf says which learner is on show: that of the scene, of the signal, or before the
// first that of the knob.
export function shownOf(s, f) {
  const k = s.controls.findIndex(c => c.name === "learner");
  return s.hero?.learner ?? f?.trial?.shown ?? f?.settings?.[k] ?? s.controls[k]?.value ?? s.learners.length - 1;
}

// large writes a number for those who stand far away: whole percents, or three digits
// and a small unit.
function large(id, v) {
  const known = v !== null && !Number.isNaN(v), text = !known ? "–" : unit === "%" ? `${Math.round(v)} %` : format(Number(v.toPrecision(3))), box = byId(id);
  if (box.dataset.text === text + unit) return;
  box.dataset.text = text + unit;
  box.replaceChildren(text);
  if (known && unit && unit !== "%") box.append(" ", element("small", unit));
}

// explained writes whose number it is; what the name means is said there.
function explained(id, before, name) {
  const box = byId(id), word = wordOf(name);
  if (box.textContent === before + name) return;
  box.replaceChildren(before, word ? term(name, word) : name);
}

function write([frozen, learning], shown, told) {
  large("share0", frozen);
  large("share1", learning);
  if (color !== shown) { color = shown; paint(); }
  explained("name1", "learning: ", scene.learners[shown]);
  if (scene.trials) { put(byId("tag0"), scene.learners[0]); put(byId("tag1"), "learning"); }
  put(byId("told"), told);
}

let color = -1;
function paint() { byId("hero").style.setProperty("--learning", learnerColor(color)); }
onTheme(() => { if (color >= 0) paint(); });

const lost = out => `${format(out.length)} of ${format(scene.edges.length)} links lost`;

// take shows the numbers of a frame, unless an act holds others.
export function take(f) {
  if (!heroic()) return;
  latest = f;
  if (held) put(byId("told"), toldOf(held)); else now();
}

function now() {
  if (!latest) return;
  const shown = shownOf(scene, latest), pair = numbers(latest, shown);
  write(pair, shown, pair[0] === null ? unknown() : scene.trials ? `${chart} · ${lost(latest.out ?? [])}` : counted(latest));
}

// unknown says why there are no numbers.
const unknown = () => scene.trials ? "the model is being trained, with all links" : `${chart}: not known yet`;

// counted says what the numbers of a run are, and when.
const counted = f => [chart + (unit === "%" ? "" : " (less is better)"), ...f.out?.length ? [lost(f.out)] : [], ...scene.time === "s" ? [] : [`at ${moment(scene, f.t)}`]].join(" · ");

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
