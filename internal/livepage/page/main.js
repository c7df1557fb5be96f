// The page begins here: it asks the process what there is to show.

import { byId, element, checkScene, checkFrame, checkHistory, checkStory, format } from "./model.js";
import { get, post, listen, setToken, Refused } from "./net.js";
import { show, status, take, tell, ended } from "./view.js";
import * as curves from "./curves.js";
import * as panel from "./panel.js";

let source = { listen, post }; // where events come from and commands go
let scene = null, text = "", ignored = 0, lost = 0, about = null, over = false;

function notes() {
  const parts = [];
  if (lost) parts.push(`${format(lost)} ${lost === 1 ? "frame" : "frames"} skipped, this browser was busy`);
  if (ignored) parts.push(`${format(ignored)} ${ignored === 1 ? "message" : "messages"} made no sense`);
  panel.note(parts.join(" · "));
}

// bad counts what could not be understood.
function bad() { ignored++; notes(); }

const send = (name, value, node) => source.post("control", { name, value, node });

function on(kind, value) {
  switch (kind) {
    case "scene": {
      const next = checkScene(value), as = JSON.stringify(value);
      panel.forget(); curves.unmark();
      if (as !== text) { text = as; scene = next; show(scene, about.control ? send : null, true); } // after a reconnection it is usually the same
      break;
    }
    case "history": if (scene) curves.past(checkHistory(scene, value)); break;
    case "words": panel.say(value); curves.note(value); break;
    case "frame": if (scene) take(checkFrame(scene, value)); break;
    case "story": if (scene) tell(checkStory(scene, value)); break;
    case "end": over = true; ended(); another(); break;
    case "lost": lost = Number(value) || 0; notes(); break;
  }
}

function live() {
  const words = { live: about.ratings ? "serving" : "live", lost: "no connection; trying again" };
  source.listen("events", {
    on, bad,
    state(state, err) {
      if (err instanceof Refused && err.status === 401) { ask(); return; }
      if (over) return;
      status(state, words[state]);
    },
    over: () => over,
  });
}

// another waits for another run at this address, and shows it.
async function another() {
  for (;;) {
    await new Promise(done => setTimeout(done, 4000));
    try { if ((await get("page.json")).run !== about.run) location.reload(); } catch { /* nobody is there */ }
  }
}

async function replay() {
  const player = await import("./replay.js"), run = await get("replay");
  await player.begin(run, async (from, count) => (await get(`replay/frames?from=${from}&count=${count}`)).frames);
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
    status("lost", err instanceof Refused ? `page.json: ${err.message} Trying again.` : "no connection; trying again");
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
  else if (about.mode === "browser") { source = await import("./local.js"); live(); }
  else if (about.mode === "replay") replay().catch(err => status("lost", err.message));
  else { byId("title").textContent = "The paper's tables, ours beside them"; status("live", "tables"); }
}

begin();
