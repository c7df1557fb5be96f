// A recorded run, with a slider for time.

import { byId, checkScene, checkFrame, checkHistory, checkStory, format, moment } from "./model.js";
import { show, status, tell as retell, at as view } from "./view.js";
import * as graph from "./graph.js";
import * as curves from "./curves.js";
import * as panel from "./panel.js";

const chunk = 100, most = 40; // frames fetched together, and such pieces kept
const rate = 10; // frames per second of a recording whose time is not in seconds
const jump = 40; // frames, from which on trails begin anew
const finished = ["train", "online", "backtest"]; // of which people want to see the end first
const slider = byId("slider"), play = byId("play");
let scene = null, read = null, times = [], due = [], words = [], at = 0, clock = 0, playing = false, before = null, said = -1;
const pieces = new Map(), under = new Map();

// begin shows a recorded run. Frames come from frames(from, count), which
// returns the first of them or more.
export async function begin(run, frames) {
  scene = checkScene(run.scene); read = frames;
  times = run.times; words = run.words;
  due = [0];
  for (let k = 1; k < times.length; k++) due.push(due[k - 1] + (scene.time === "s" && times[k] > times[k - 1] ? times[k] - times[k - 1] : 1 / rate));
  byId("replay").hidden = false;
  show(scene, null);
  byId("deck").hidden = byId("stage").hidden = false;
  for (const w of words) curves.note(w);
  if (run.history?.t) curves.past(checkHistory(scene, run.history));
  if (run.story) retell(checkStory(scene, run.story));
  slider.max = Math.max(times.length - 1, 0);
  status("live", `replay · ${format(times.length)} frames` + (run.skipped ? ` · ${format(run.skipped)} lines could not be read` : ""));
  await go(finished.includes(scene.task) ? times.length - 1 : 0);
}

// piece fetches the frames around one.
function piece(k) {
  if (pieces.has(k)) return Promise.resolve(pieces.get(k));
  if (!under.has(k)) under.set(k, load(k).finally(() => under.delete(k)));
  return under.get(k);
}

async function load(k) {
  const list = [], from = k * chunk, want = Math.min(chunk, times.length - from);
  while (list.length < want) { // large frames come in several answers
    const part = await read(from + list.length, want - list.length);
    if (part.length === 0) break;
    list.push(...part.map(f => checkFrame(scene, f)));
  }
  if (pieces.size >= most) pieces.delete(pieces.keys().next().value);
  pieces.set(k, list);
  return list;
}

async function go(to) {
  if (times.length === 0) return;
  if (to < at || to > at + jump) graph.cut();
  at = Math.max(0, Math.min(times.length - 1, to));
  const asked = at, list = await piece(Math.floor(at / chunk)), f = list[at % chunk];
  if (asked !== at || !f) return; // somebody moved on
  slider.value = at;
  byId("moment").textContent = moment(scene, f.t);
  slider.setAttribute("aria-valuetext", byId("moment").textContent);
  view(f);
  tell(f.t);
  if (at % chunk > chunk / 2 && (Math.floor(at / chunk) + 1) * chunk < times.length) piece(Math.floor(at / chunk) + 1);
}

// tell lists what had happened by then.
function tell(t) {
  const count = words.filter(w => w.t <= t).length;
  if (count === said) return;
  if (count < said || said < 0) { panel.forget(); said = 0; }
  for (const w of words.slice(Math.max(said, count - 100), count)) panel.say(w);
  said = count;
}

// run plays or pauses.
export function run(on) {
  playing = on && times.length > 1;
  if (playing && at === times.length - 1) { go(0); }
  clock = due[at]; before = null;
  play.textContent = playing ? "Pause" : "Play";
  play.setAttribute("aria-pressed", String(playing));
  if (playing) requestAnimationFrame(tick);
}

function tick(now) {
  if (!playing) return;
  if (before !== null) clock += (now - before) / 1000 * Number(byId("pace").value); // the clock starts with the first frame
  before = now;
  let to = at;
  while (to < times.length - 1 && due[to + 1] <= clock) to++;
  if (to !== at) go(to);
  if (to >= times.length - 1) run(false); else requestAnimationFrame(tick);
}

play.addEventListener("click", () => run(!playing));
// seek pauses at a frame.
function seek(to) { run(false); go(to); }

slider.addEventListener("input", () => seek(Number(slider.value)));
curves.onSeek(t => { const after = times.findIndex(v => v >= t); seek(after < 0 ? times.length - 1 : after); });
document.addEventListener("keydown", e => {
  const way = e.key === "ArrowLeft" ? -1 : e.key === "ArrowRight" ? 1 : 0;
  if (!way || e.target !== document.body || e.ctrlKey || e.altKey || e.metaKey || byId("run").hidden) return;
  seek(at + (e.shiftKey ? 10 : 1) * way);
  e.preventDefault();
});
