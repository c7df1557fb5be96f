// The page begins here: it asks the process what there is to show.

import { byId, element, checkScene, checkFrame, checkHistory, format } from "./model.js";
import { get, listen, setToken, Refused } from "./net.js";
import * as graph from "./graph.js";
import * as curves from "./curves.js";
import * as panel from "./panel.js";

let scene = null, text = "", ignored = 0, lost = 0, about = null, over = false;
export const last = { frame: null, frames: 0 };

function status(state, words) { byId("status").dataset.state = state; byId("status").textContent = words; }

function notes() {
  const parts = [];
  if (lost) parts.push(`${format(lost)} frames skipped, this browser was busy`);
  if (ignored) parts.push(`${format(ignored)} messages made no sense`);
  panel.note(parts.join(" · "));
}

// bad counts what could not be understood.
function bad() { ignored++; notes(); }

export function show(s) {
  scene = s;
  panel.begin(s, about.control);
  graph.begin(s);
  graph.drawRamp();
  curves.begin(s);
}

function on(kind, value) {
  switch (kind) {
    case "scene": {
      const next = checkScene(value), as = JSON.stringify(value);
      panel.forget();
      if (as !== text) { text = as; show(next); } // after a reconnection it is usually the same
      break;
    }
    case "history": if (scene) curves.past(checkHistory(scene, value)); break;
    case "words": panel.say(value); break;
    case "frame": if (scene) take(checkFrame(scene, value)); break;
    case "end": over = true; break;
    case "lost": lost = Number(value) || 0; notes(); break;
  }
}

function take(f) {
  last.frame = f; last.frames++;
  graph.take(f);
  curves.add(f);
  panel.take(f);
}

function live() {
  const words = { live: about.ratings ? "serving" : "live", lost: "no connection; trying again" };
  listen("events", {
    on, bad,
    state(state, err) {
      if (err instanceof Refused && err.status === 401) { ask(); return; }
      if (state === "live") over = false;
      status(state, over ? "the run has ended" : words[state]);
    },
  });
}

const views = { run: "Network", ratings: "Ratings", tables: "Tables" };
function tabs(names) {
  const nav = byId("tabs");
  nav.replaceChildren();
  nav.hidden = names.length < 2;
  for (const name of names) {
    const b = element("button", name === "run" && (about.ratings || scene?.layout === "none") ? "Curves" : views[name], { type: "button" });
    b.dataset.view = name;
    b.addEventListener("click", () => open(name));
    nav.append(b);
  }
}

function open(name) {
  for (const view of Object.keys(views)) byId(view).hidden = view !== name && !(name === "ratings" && view === "run"); // words are told there too
  for (const b of byId("tabs").children) if (b.dataset.view === name) b.setAttribute("aria-current", "page"); else b.removeAttribute("aria-current");
  if (name === "tables") import("./tables.js").then(m => m.open());
  dispatchEvent(new Event("resize"));
}

function ask() {
  byId("gate").hidden = false;
  status("lost", "a token is needed");
  byId("token").focus();
}
byId("gate").addEventListener("submit", e => { e.preventDefault(); setToken(byId("token").value); byId("gate").hidden = true; begin(); });

async function begin() {
  try {
    about = await get("page.json");
  } catch (err) {
    if (err instanceof Refused && err.status === 401) { ask(); return; }
    status("lost", "no connection; trying again");
    setTimeout(begin, 1000);
    return;
  }
  const names = [];
  if (about.ratings) names.push("ratings"); else if (about.mode !== "tables") names.push("run");
  if (about.tables) names.push("tables");
  tabs(names);
  open(names[0] ?? "run");
  if (about.ratings) import("./ratings.js").then(m => m.begin(about.ratings));
  if (about.mode === "live") live();
  else if (about.mode === "replay") import("./replay.js").then(m => m.begin({ show, status })).catch(err => status("lost", err.message));
  else { byId("title").textContent = "The paper's tables, ours beside them"; status("live", "tables"); }
}

// For tests and the curious.
globalThis.wdgnn = { stats: graph.stats, where: graph.where, pin: graph.pin, last };

setInterval(() => { if (graph.stats.fps > 0) byId("rate60").textContent = `${Math.round(graph.stats.fps)} frames/s · ${graph.stats.drawMs.toFixed(1)} ms each`; }, 1000);
begin();
