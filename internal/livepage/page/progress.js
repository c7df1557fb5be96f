// How far some work is: a bar, and in words what is done and how long it will take.

import { byId, element, format } from "./model.js";

let box = null, bar = null, words = null;

function make() {
  box = element("div", null, { class: "card progress", id: "progress" });
  bar = element("progress", null, { "aria-labelledby": "progresswords" });
  words = element("p", null, { id: "progresswords" });
  box.append(words, bar);
  byId("about").after(box);
}

export function forget() { if (box) box.hidden = true; }

// take shows the progress of a frame; nothing where there is none, or all is done.
export function take(scene, p) {
  if (!p || p.done >= p.of) { forget(); return; }
  if (!box) make();
  box.hidden = false;
  bar.max = p.of; bar.value = p.done;
  const done = `${format(Math.floor(p.done))} of ${format(p.of)}`;
  words.textContent = (p.what ? p.what + " " + done : scene.time === "s" ? done + " s" : scene.time + " " + done) + (p.left >= 0 ? `, ${left(p.left)} left` : "");
}

// left writes seconds as people say them.
export function left(s) {
  if (s < 1) return "less than a second";
  if (s < 100) return `${Math.round(s)} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  return `${(s / 3600).toFixed(1)} h`;
}
