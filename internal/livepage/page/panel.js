// What stands around the picture: the choice of colours, signs, counters, the
// pinned node, words, and controls.

import { byId, element, format, moment, write } from "./model.js";
import { phrase } from "./words.js";
import * as graph from "./graph.js";

let scene = null, send = null, settings = [];
const longest = 100; // words kept in the list

// begin builds all of it for a scene. Commands go to how(name, value, node),
// which is null where the page can be looked at only.
export function begin(s, how) {
  scene = s; send = how; settings = [];
  document.title = s.title ? s.title + " · wdgnn" : "wdgnn";
  byId("title").textContent = s.title;
  byId("about").textContent = s.about;
  byId("run").classList.toggle("plain", s.layout === "none");
  byId("picture").hidden = s.layout === "none";
  byId("shown").hidden = s.layout !== "moving";
  byId("stage").hidden = s.layout === "none" && !send && byId("replay").hidden;
  buildQuantities();
  buildLegend();
  buildCounters();
  buildControls();
  showNode(-1);
  hint();
}

function buildQuantities() {
  const select = byId("quantity");
  const first = (q, k) => !scene.trials || !q.group || scene.quantities.findIndex(o => o.group === q.group) === k; // a demo shows those of two learners beside each other
  select.replaceChildren(...scene.quantities.map((q, k) => first(q, k) ? element("option", scene.trials && q.group || q.name, { value: k }) : null).filter(Boolean));
  if (scene.trials) select.prepend(element("option", "signal and answers", { value: -1, selected: "" }));
  select.parentElement.hidden = byId("scale").hidden = scene.quantities.length === 0;
}

function buildLegend() {
  const list = byId("legend"), kinds = [...new Set(scene.marks.map(m => m.kind))];
  list.replaceChildren();
  const add = (kind, text) => { const li = element("li", null, { class: kind }), words = element("span"); words.append(...phrase(text)); li.append(element("i"), words); list.append(li); };
  for (const kind of kinds) add(kind === "source" || kind === "detector" ? kind : "other", kind);
  if (scene.down !== "none") add("down", scene.down);
  if (scene.layout !== "none") add("link", "link");
  if (scene.layout === "fixed") add("lost", "lost link");
  if (scene.weak.length > 0) add("weak", "link without which an answer would be another");
  if (scene.quantities.some(q => q.group && q.high > q.low)) add("ring", "ring: learners side by side");
}

function buildCounters() {
  const list = byId("counters");
  list.replaceChildren();
  scene.counters.forEach((c, k) => {
    const box = element("div"), value = element("dd", "–");
    value.dataset.counter = k;
    box.append(element("dt", c.name + (c.unit ? ", " + c.unit : "")), value);
    list.append(box);
  });
  list.hidden = scene.counters.length === 0;
}

async function command(name, value, node) {
  try { await send(name, value ?? 0, node ?? 0); } catch (err) { note(err.message); }
}

// hint lists the keys that do something now.
export function hint() {
  const works = name => byId("controls").querySelector(`[data-control="${name}"]:not(:disabled)`), replay = !byId("replay").hidden;
  const list = [[replay, "Space", "play and pause"], [works("pause"), "Space", "pause"], [works("step"), "S", "step"], [byId("quantity").options.length > 1 && scene.layout !== "none", "C", "colour"], [graph.pinnedNode() >= 0, "Esc", "unpin"]];
  byId("keys").replaceChildren(...list.filter(([on]) => on).flatMap(([, key, what]) => [element("kbd", key), ` ${what} `]));
}

export function note(text) { byId("notes").textContent = text; }

function buildControls() {
  const box = byId("controls");
  box.replaceChildren();
  byId("nodecontrols").replaceChildren();
  byId("deck").hidden = (scene.controls.length === 0 || scene.layout === "none" && !send) && byId("replay").hidden;
  if (scene.controls.length === 0) return;
  if (!send) { if (byId("replay").hidden) box.append(element("span", "This page can be looked at only.", { class: "looking" })); return; }
  scene.controls.forEach((c, k) => {
    if (c.knob) return; // see knobs.js
    switch (c.kind) {
      case "switch": case "button": box.append(button(c, k)); break;
      case "range": box.append(range(c, k)); break;
      case "node": {
        const b = element("button", c.label, { type: "button" });
        b.dataset.control = c.name;
        b.addEventListener("click", () => { if (graph.pinnedNode() >= 0) command(c.name, 0, graph.pinnedNode()); });
        byId("nodecontrols").append(b);
      }
    }
  });
}

function button(c, k) {
  const b = element("button", c.label, { type: "button" });
  b.dataset.control = c.name;
  if (c.kind === "switch" && c.name !== "pause") b.setAttribute("aria-pressed", "false");
  b.addEventListener("click", () => command(c.name, c.kind === "switch" ? (settings[k] === 1 ? 0 : 1) : 0));
  return b;
}

// range is a slider; a logarithmic one moves in a thousand steps.
function range(c, k) {
  const label = element("label", null, { class: "range" }), slider = element("input", null, { type: "range" }), value = element("output");
  const to = c.log ? v => Math.round(1000 * Math.log(v / c.low) / Math.log(c.high / c.low)) : v => v;
  const from = c.log ? v => Number((c.low * Math.pow(c.high / c.low, v / 1000)).toPrecision(2)) : Number;
  slider.min = c.log ? 0 : c.low; slider.max = c.log ? 1000 : c.high; slider.step = c.log ? 1 : c.step || "any";
  slider.dataset.control = c.name;
  const show = v => { value.textContent = c.high <= 1 && !c.unit ? format(100 * v, "%") : format(v, c.unit); slider.setAttribute("aria-valuetext", value.textContent); };
  slider.value = to(c.value); show(c.value);
  let busy = false;
  slider.addEventListener("input", () => { show(from(slider.value)); if (!busy) { busy = true; setTimeout(() => { busy = false; command(c.name, from(slider.value)); }, 120); } });
  slider.set = v => { if (!busy && document.activeElement !== slider) { slider.value = to(v); show(v); } };
  label.append(element("span", c.label), slider, value);
  return label;
}

// take shows a frame's numbers.
export function take(f) {
  f.counters?.forEach((v, k) => write(byId("counters").querySelector(`[data-counter="${k}"]`), format(v)));
  if (f.settings) {
    settings = f.settings;
    scene.controls.forEach((c, k) => {
      const e = byId("controls").querySelector(`[data-control="${CSS.escape(c.name)}"]`), v = f.settings[k];
      if (!e || v === null) return;
      if (c.name === "pause") write(e, v === 1 ? "Go on" : c.label);
      else if (c.kind === "switch") e.setAttribute("aria-pressed", String(v === 1));
      else if (c.kind === "range") e.set(v);
    });
  }
  if (graph.pinnedNode() >= 0) fillNode(graph.pinnedNode());
}

function fillNode(i) {
  const list = graph.numbersOf(i), box = byId("numbers");
  if (box.children.length !== 2 * list.length) box.replaceChildren(...list.flatMap(() => [element("dt"), element("dd")]));
  list.forEach(([name, value], k) => { write(box.children[2 * k], name); write(box.children[2 * k + 1], value); });
}

// showNode shows a pinned node, or none.
export function showNode(i) {
  byId("node").hidden = i < 0;
  if (i < 0) return;
  byId("nodename").textContent = scene.nodes[i];
  fillNode(i);
}

export function say(w) {
  if (!w || typeof w.text !== "string" || !Number.isFinite(w.t)) throw new Error("malformed: words");
  const li = element("li"), list = byId("words");
  li.append(element("time", scene?.clock ? moment(scene, w.t) : format(w.t)), element("span", w.text.slice(0, 600)));
  list.append(li);
  byId("latest").textContent = w.text.slice(0, 600);
  byId("latestat").textContent = scene && !/^\d{4}-/.test(w.text) ? moment(scene, w.t) : ""; // some say when themselves
  while (list.children.length > longest) list.firstChild.remove();
}

export function forget() { byId("words").replaceChildren(); byId("latest").textContent = byId("latestat").textContent = ""; }

graph.onPick(i => { showNode(i); hint(); });
byId("quantity").addEventListener("change", e => { graph.setQuantity(Number(e.target.value)); graph.drawRamp(); });

document.addEventListener("keydown", e => {
  if (e.ctrlKey || e.altKey || e.metaKey || !scene || byId("run").hidden) return;
  const tag = e.target.tagName;
  if (tag === "INPUT" || tag === "SELECT" || tag === "BUTTON" && (e.key === " " || e.key === "Enter")) return;
  const press = name => byId("deck").querySelector(`[data-control="${name}"], #${name}`)?.click();
  switch (e.key) {
    case " ": byId("replay").hidden ? press("pause") : byId("play").click(); break;
    case "s": press("step"); break;
    case "c": { const q = byId("quantity"); if (q.options.length) { q.selectedIndex = (q.selectedIndex + 1) % q.options.length; q.dispatchEvent(new Event("change")); } break; }
    case "Escape": graph.pin(-1); break;
    default: return;
  }
  e.preventDefault();
});
