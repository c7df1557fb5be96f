// A guided minute in four acts: what happened in this run, told on the same
// networks. Everything that is shown was kept by the process while it ran.

import { byId, element, format } from "./model.js";
import { letter } from "./trial.js";
import { phrase } from "./words.js";
import * as graph from "./graph.js";
import * as hero from "./hero.js";
import * as stage from "./stage.js";

const still = matchMedia("(prefers-reduced-motion: reduce)"), fingers = matchMedia("(pointer: coarse)");
const bound = v => Math.max(0, Math.min(1, v));
const acts = [
  { name: "A pulse spreads", needs: "before", lasts: () => 9, show: spreads, says: sayPulse },
  { name: "Detectors answer", needs: "before", lasts: () => 8, show: answers, says: sayAnswers },
  { name: "Links snap", needs: "after", lasts: () => 11, show: snaps, says: saySnap },
  { name: "One node learns", needs: "opened", lasts: () => first + (story.opened.updates.length - 1) * each + 3, show: opens, says: sayOpen },
];
const turn = acts.length; // after the last act it is the visitor's turn
const first = 9, each = 4; // seconds of an update of the node that is open; with the first it is said what is to be seen

let scene = null, story = {}, at = turn, time = 0, before = null, holding = false, mayPlay = false, touched = false, built = false, told = false, said = "";

// begin offers the acts for a scene with trials, and plays them by itself if it may.
export function begin(s, send, play) {
  scene = s; story = {}; at = turn; mayPlay = play; touched = told = false;
  stage.play(null); hero.hold(null);
  if (s.trials && !built) build();
  byId("story").hidden = !s.trials || !play;
  turning = send ? `Your turn: drag Links lost to break links, ${fingers.matches ? "tap" : "click"} a node to stop it` + (s.controls.some(c => c.name === "learner") ? ", choose who learns," : "") + " and watch both numbers." : "This is the run as it goes on, with both numbers as they are.";
  if (s.trials) write();
}
let turning = "";
const waiting = "One network twice, which hears the same signals. When they come in, a minute in four acts tells what happens.";

// tell takes in what the process kept so far.
export function tell(s) {
  story = s;
  if (!scene?.trials || !s.before) return;
  const news = !told;
  byId("story").hidden = false; told = true;
  if (news && mayPlay && !touched) go(0); else write();
}

function build() {
  built = true;
  const list = element("ol", null, { class: "acts" });
  [...acts.map(a => a.name), "Your turn"].forEach((name, k) => {
    const li = element("li"), b = element("button", null, { type: "button" });
    b.dataset.act = k;
    b.append(element("i", k < turn ? String(k + 1) : "→", { "aria-hidden": "true" }), element("span", name));
    b.addEventListener("click", () => { touched = true; go(k); });
    li.append(b);
    list.append(li);
  });
  const button = (id, text, how) => { const b = element("button", text, { type: "button", id }); b.addEventListener("click", () => { touched = true; how(); }); return b; };
  const keys = element("div", null, { class: "go" });
  keys.append(button("back", "Back", () => go(at - 1)), button("hold", "Hold", () => hold(!holding)), button("next", "Next", () => go(at + 1)), button("skip", "Skip", () => go(turn)), button("again", "Play the minute", () => go(0)));
  byId("story").append(list, element("p", null, { id: "caption", class: "caption", "aria-live": "polite" }), keys);
}

// missing says that an act is not there and will not come: the run was over before.
const missing = k => k < turn && !story[acts[k].needs] && (!mayPlay || document.body.dataset.state === "ended");

// go begins an act, or the next that is there.
function go(k) {
  at = Math.max(0, Math.min(turn, k));
  while (missing(at)) at++;
  time = 0; before = null; holding = false;
  stage.play(at < turn ? move : null);
  if (at === turn) { hero.hold(null); part(1); }
  if (at < turn) { byId("quantity").value = "-1"; graph.setQuantity(-1); graph.drawRamp(); }
  write();
}

function hold(on) { holding = on; graph.wake(); write(); }

// write puts the words of the act, and which buttons there are.
function write() {
  const here = at < turn && ready();
  say(!told ? waiting : at === turn ? turning : here ? acts[at].says() : "This has not happened in the run yet.");
  for (const b of byId("story").querySelectorAll("[data-act]")) {
    b.disabled = !told || missing(Number(b.dataset.act));
    if (told && Number(b.dataset.act) === at) b.setAttribute("aria-current", "step"); else b.removeAttribute("aria-current");
  }
  byId("back").disabled = at === 0;
  for (const id of ["back", "hold", "next", "skip"]) byId(id).hidden = at === turn;
  byId("hold").hidden ||= still.matches;
  byId("hold").textContent = holding ? "Go on" : "Hold";
  byId("again").hidden = at !== turn || !told;
}

function part(share) { byId("story").style.setProperty("--part", String(share)); }

function say(text) { if (text !== said) { said = text; byId("caption").replaceChildren(...phrase(text)); } }

// leave ends the acts, or keeps them from beginning: somebody has begun to turn knobs.
export function leave() { touched = true; if (at < turn) go(turn); }

const ready = () => Boolean(story[acts[at].needs]);

// move shows the act as far as it is, and goes on to the next.
function move(now) {
  if (!ready()) return true;
  if (before !== null && !holding) time += Math.min((now - before) / 1000, 0.1);
  before = now;
  const lasts = acts[at].lasts();
  if (still.matches) time = lasts;
  acts[at].show(time);
  say(acts[at].says());
  part(bound(time / lasts));
  if (time >= lasts && !still.matches) { go(at + 1); return true; }
  return !still.matches;
}

const last = trial => trial.hops.length - 1;
function both(shot) { for (const p of [graph.left, graph.right]) p.show({ flash: null, open: null, ...shot }); }

function spreads(t) {
  const m = story.before;
  hero.hold(m);
  both({ trial: m.trial, hop: Math.min(Math.max(0, t - 1.2) / 1.3, last(m.trial)), answers: 0, out: m.out });
}

function answers(t) {
  const m = story.before;
  hero.hold(m);
  both({ trial: m.trial, hop: last(m.trial), answers: bound((t - 0.8) / 0.5), out: m.out });
}

function snaps(t) {
  const { before: was, after: is } = story, snapping = t < 2.4;
  hero.hold(snapping ? was : is);
  const lost = is.out.filter(k => !was.out.includes(k));
  if (t < 0.7) { both({ trial: was.trial, hop: last(was.trial), answers: 1, out: was.out }); return; }
  if (snapping) { both({ trial: was.trial, hop: last(was.trial), answers: 1, out: is.out, flash: { edges: lost, part: bound((t - 0.7) / 1.6) } }); return; }
  both({ trial: is.trial, hop: Math.min(Math.max(0, t - 2.8) / 0.5, last(is.trial)), answers: bound((t - 3.2 - 0.5 * last(is.trial)) / 0.4), out: is.out });
}

// updateAt returns which update is shown at a time of the act, and how much of it, 0 to 1.
function updateAt(t) {
  if (t < first) return [0, t / first];
  const k = Math.min(1 + Math.floor((t - first) / each), story.opened.updates.length - 1);
  return [k, bound((t - first) / each - k + 1)];
}

function opens(t) {
  const { node, columns, trained, updates } = story.opened, [k, part] = updateAt(t), u = updates[k], next = updates[k + 1];
  const moved = next ? bound((part - 0.55) / 0.3) : 0, scale = Math.max(1e-9, ...trained.map(Math.abs), ...updates.flatMap(v => v.taps.map(Math.abs)));
  const taps = next ? u.taps.map((v, e) => v + (next.taps[e] - v) * moved * moved * (3 - 2 * moved)) : u.taps;
  hero.hold(u);
  const shot = { trial: u.trial, hop: last(u.trial), answers: bound((part - 0.34) / 0.15), out: u.out, flash: null };
  const open = { node, columns, scale, ghost: trained, heard: u.heard, part, fade: bound(t / 1.9) };
  graph.left.show({ ...shot, open: { ...open, taps: trained, belief: u.belief[0], error: u.error[0] } });
  graph.right.show({ ...shot, open: { ...open, taps, belief: u.belief[1], error: u.error[1] } });
}

function sayPulse() {
  return `A pulse starts at the star ✦ in community ${letter(story.before.trial.truth)} and spreads to neighbours, hop by hop. The detectors (?) must say where.`;
}

function sayAnswers() {
  const count = scene.marks.filter(m => m.kind === "detector").length;
  return `${words(count)} detectors, hearing neighbours only, answer in the colour of the community they believe in: ✓ right, ✗ wrong.`;
}

const words = n => ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"][n] ?? format(n);

// mistakes counts the wrong answers of a learner, and all.
function mistakes(trial, learner) {
  const given = trial.answers[learner].filter(a => a >= 0);
  return [given.filter(a => a !== trial.truth).length, given.length];
}

function saySnap() {
  const { trial, out } = story.after, [frozen, all] = mistakes(trial, 0), [learning] = mistakes(trial, trial.shown);
  const wrong = frozen === learning ? `${frozen} of ${all} answers are wrong in both networks` : `${frozen} of ${all} frozen answers and ${learning} of those that learn are wrong`;
  return `${format(out.length)} of ${format(scene.edges.length)} links snap, detectors hear less than in training, and soon ${wrong}.`;
}

// judged is the part of the first update from which on it is said how it went.
const judged = 0.42;

// sayOpen says what is to be seen of the node that is open, then of each update what was
// answered and how large the error was.
function sayOpen() {
  const { node, updates } = story.opened, [k, part] = updateAt(time);
  const intro = `Detector ${node} from within: messages arrive, it answers, it is told the truth (✦), and where it learns its taps move.`;
  if (k === 0 && part < judged && updates.length > 1) return intro;
  return (still.matches ? intro + " " : "") + sayUpdate(updates, k, node);
}

function sayUpdate(updates, k, node) {
  const { t, trial, error } = updates[k], { truth } = trial, said = [0, trial.shown].map(l => trial.answers[l][node]), hit = said.map(a => a === truth);
  const answer = l => `${letter(said[l])} ${hit[l] ? "✓" : "✗"} (error ${error[l].toFixed(2)})`;
  const later = k > 0 && k === updates.length - 1 && truth === updates[0].trial.truth;
  const when = later ? `${format(t - updates[0].t)} signals later a pulse starts in community ${letter(truth)} again` : `Signal ${format(t)} started in community ${letter(truth)}`;
  const why = hit[0] && !hit[1] ? " Here learning errs and frozen does not." : "";
  return `${when}: frozen says ${answer(0)}, learning says ${answer(1)}.${why}`;
}

document.addEventListener("keydown", e => {
  if (!scene?.trials || byId("story").hidden || byId("run").hidden || at === turn || e.ctrlKey || e.altKey || e.metaKey) return;
  const free = e.target === document.body || byId("story").contains(e.target);
  if (e.key === "ArrowRight" && free) go(at + 1);
  else if (e.key === "ArrowLeft" && free) go(at - 1);
  else if (e.key === "Escape" && free) go(turn);
  else return;
  touched = true;
  e.preventDefault();
  e.stopImmediatePropagation();
});

// For tests and the curious.
export const playing = { act: () => at, time: () => time, story: () => story, seek: t => { time = t; graph.wake(); }, says: k => sayUpdate(story.opened.updates, k, story.opened.node) };
