// Knobs for the ideas: what is learned, and how, while it runs. They are the
// controls of a scene that are called knobs; each sends a command, and shows what
// the process says it is set to.

import { byId, element, format } from "./model.js";
import { explain, hint, wordOf } from "./words.js";

const pause = 250; // ms without another turn after which a knob is sent
let scene = null, send = null, turned = null, list = [];

// begin builds the knobs of a scene. Commands go to how(name, value), which is null
// where the page can be looked at only. then() is called when a knob is turned.
export function begin(s, how, then) {
  scene = s; send = how; turned = then; list = [];
  const box = byId("knobs"), knobs = s.controls.map((c, k) => ({ c, k })).filter(o => o.c.knob);
  box.replaceChildren();
  box.hidden = knobs.length === 0 || !send;
  if (box.hidden) return;
  const head = element("div", null, { class: "head" }), note = element("p", null, { class: "knobnote", role: "status" });
  head.append(element("h2", "Your turn"));
  const grid = element("div", null, { class: "grid" });
  for (const { c, k } of knobs) {
    if (c.kind === "button") head.append(button(c, note));
    else grid.append(c.kind === "choice" ? choice(c, k, note) : slider(c, k, note));
  }
  box.append(head, grid, note);
}

async function command(c, value, note) {
  turned?.();
  try { await send(c.name, value, 0); note.textContent = ""; } catch (err) { note.textContent = err.message; }
}

function button(c, note) {
  const b = explain(element("button", c.label, { type: "button" }), wordOf(c.label));
  b.dataset.control = c.name;
  b.addEventListener("click", () => command(c, 0, note));
  return b;
}

// title is the name of a knob; it is explained where it is hovered.
function title(tag, c) { return hint(element(tag, c.label, { class: "name" }), wordOf(c.label)); }

// asker sends what a knob is turned to, and until the process says so, or a while
// is over, shows that and not what it was. show is given what it is.
function asker(c, note, show) {
  let asked = null, until = 0;
  return {
    ask(v) { asked = v; until = performance.now() + 3000; command(c, v, note); },
    tell(v) {
      if (asked !== null && v !== asked && performance.now() < until) return;
      asked = null;
      show(v);
    },
  };
}

// lost says how many links are: a share that was asked for is one of chances.
const lost = count => `${format(count)} of ${format(scene.edges.length)} lost, ${Math.round(100 * count / Math.max(scene.edges.length, 1))} %`;

// slider is a range with names for its ends.
function slider(c, k, note) {
  const box = element("div", null, { class: "knob" }), id = "knob-" + c.name, input = element("input", null, { type: "range", id, min: c.low, max: c.high, step: c.step || "any" });
  const name = title("label", c), value = element("output", null, { for: id }), ends = element("span", null, { class: "ends", "aria-hidden": "true" }), middle = element("span", "", { class: "found" });
  name.htmlFor = id;
  input.dataset.control = c.name;
  explain(input, wordOf(c.label));
  let timer = 0, found = "";
  const write = () => {
    const v = Number(input.value), text = format(Math.round(100 * v), "%") + (found && " asked");
    if (value.textContent === text && middle.textContent === found) return;
    value.textContent = text; middle.textContent = found;
    input.setAttribute("aria-valuetext", text + (found && ", " + found) + (v <= c.low && c.ends ? ", " + c.ends[0] : v >= c.high && c.ends ? ", " + c.ends[1] : ""));
  };
  const asked = asker(c, note, v => { if (timer === 0) { input.value = v; write(); } });
  input.addEventListener("input", () => {
    write();
    clearTimeout(timer);
    timer = setTimeout(() => { timer = 0; asked.ask(Number(input.value)); }, pause);
  });
  input.value = c.value;
  write();
  for (const end of c.ends ?? []) ends.append(hint(element("span", end), wordOf(end)));
  ends.insertBefore(middle, ends.lastChild);
  box.append(name, value, input, ends);
  list.push({ k, set(v, f) { if (c.name === "drop" && f.out) { found = lost(f.out.length); write(); } asked.tell(v); } });
  return box;
}

// choice is one of a few, each a button that stays down.
function choice(c, k, note) {
  const box = element("fieldset", null, { class: "knob choice" }), row = element("div", null, { class: "options" });
  box.append(title("legend", c), row);
  const asked = asker(c, note, v => { if (inputs[v] && !inputs[v].checked) inputs[v].checked = true; });
  const inputs = c.options.map((option, v) => {
    if (v < c.low) return null;
    const label = element("label"), input = element("input", null, { type: "radio", name: "knob-" + c.name, value: v });
    input.dataset.control = c.name;
    explain(input, wordOf(option) || wordOf(c.label));
    input.checked = v === c.value;
    input.addEventListener("change", () => { if (input.checked) asked.ask(v); });
    label.append(input, element("span", option));
    row.append(label);
    return input;
  });
  list.push({ k, set: v => asked.tell(v) });
  return box;
}

// take shows how the knobs are set in a frame.
export function take(f) {
  if (!f.settings) return;
  for (const { k, set } of list) if (f.settings[k] !== null) set(f.settings[k], f);
}
