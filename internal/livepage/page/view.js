// What is on view: a scene and a frame of it, handed to the picture, the curves
// and what stands around them.

import { byId } from "./model.js";
import { setLooks } from "./theme.js";
import { setTask } from "./words.js";
import * as graph from "./graph.js";
import * as curves from "./curves.js";
import * as panel from "./panel.js";
import * as hero from "./hero.js";
import * as knobs from "./knobs.js";
import * as heat from "./heat.js";
import * as progress from "./progress.js";
import * as stage from "./stage.js";
import * as story from "./story.js";

export const last = { frame: null, frames: 0 };
let scene = null;

export function status(state, words) { byId("status").dataset.state = state; byId("status").textContent = words; }

// show begins with a scene. Commands go to send; without it the page can be
// looked at only. A demo plays its acts by itself if it may.
export function show(s, send, play) {
  scene = s;
  setLooks(s.looks);
  setTask(s.task);
  delete document.body.dataset.state;
  progress.forget();
  panel.begin(scene, send);
  knobs.begin(scene, send, story.leave);
  heat.begin(scene);
  graph.begin(scene);
  graph.drawRamp();
  hero.begin(scene);
  stage.begin(scene);
  story.begin(scene, send, Boolean(play));
  curves.begin(scene);
}

function put(f) {
  last.frame = f; last.frames++;
  hero.take(f);
  stage.take(f);
  graph.take(f);
  panel.take(f);
  knobs.take(f);
  heat.take(f);
  progress.take(scene, f.progress);
}

// ended says that the run is over: what would command it can no longer be used.
export function ended() {
  document.body.dataset.state = "ended";
  status("ended", "the run has ended");
  for (const e of document.querySelectorAll("[data-control]")) e.disabled = true;
  progress.forget();
  panel.hint();
}

// take shows the next frame of a run, which the curves grow by.
export function take(f) { put(f); curves.add(f); }

// at shows a frame of a recording, whose curves are there already.
export function at(f) { put(f); curves.at(f); }

// tell hands on what a demo kept for telling.
export function tell(s) { story.tell(s); }

byId("quantity").addEventListener("change", story.leave); // values are of now

// For tests and the curious.
globalThis.wdgnn = {
  stats: graph.stats, where: graph.where, pin: graph.pin, last, scene: () => scene, curves: curves.points, marks: curves.marked, taps: heat.cellsNow,
  story: story.playing, left: graph.left, right: graph.right,
};

setInterval(() => { if (graph.stats.fps > 0) byId("rate60").textContent = `${Math.round(graph.stats.fps)} frames/s · ${graph.stats.drawMs.toFixed(1)} ms each`; }, 1000);
