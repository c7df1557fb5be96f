// The rating service: pick a user, rate a movie or an item, see the predictions move,
// and why they are what they are.

import { byId, element, format } from "./model.js";
import { get, post, Refused } from "./net.js";

const shown = 12, known = 1000, voices = 2; // predictions in the list, what there is to choose from, ratings named as reasons
let scale = { least: 1, most: 5 }, word = "movie", names = new Map(), ids = new Map(), user = "", listed = [], before = new Map(), mean = null;

const idOf = m => m[word];
const nameOf = m => names.get(idOf(m)) ?? (m.title || `${word} ${idOf(m)}`);
const capital = text => text[0].toUpperCase() + text.slice(1);
const answer = text => { byId("answer").textContent = text; };
const signed = v => (v < 0 ? "−" : "+") + Math.abs(v).toFixed(3);
const little = 0.0005; // what is less is not shown
const whole = v => Number.isSafeInteger(Number(v)) && String(Number(v)) === v ? Number(v) : v; // ids of movies are numbers

export function begin(about) {
  scale = about.scale; word = about.word ?? "movie";
  for (const e of document.querySelectorAll("#ratings .what")) e.textContent = capital(word);
  byId("beside").prepend(byId("counters"), byId("charts"));
  byId("users").append(...about.users.map(u => element("option", null, { value: u })));
  offer(scale);
  byId("user").value = about.users[0] ?? 1;
  pick();
}

const most = 11; // ratings that can be picked by one click

// choices are the ratings of a scale that can be picked: whole ones, or halves where the
// scale begins or ends with one; none where they do not fit.
function choices({ least, most: top }) {
  const step = Number.isInteger(least) && Number.isInteger(top) ? 1 : 0.5, count = (top - least) / step + 1;
  return Number.isInteger(least / step) && Number.isInteger(top / step) && count <= most ? Array.from({ length: count }, (_, k) => least + k * step) : [];
}

// offer shows the ratings to pick from, or where they do not fit a field for a number.
export function offer(scale) {
  const list = choices(scale), box = byId("stars"), ends = `${format(scale.least)} to ${format(scale.most)}`;
  for (const label of box.querySelectorAll("label")) label.remove();
  for (const v of list) {
    const label = element("label"), input = element("input", null, { type: "radio", name: "stars", value: v, required: "" });
    label.append(input, element("span", String(v)));
    box.append(label);
  }
  if (list.length > 0) return;
  const label = element("label");
  label.append(element("input", null, { type: "number", min: scale.least, max: scale.most, step: "any", required: "" }), element("span", ends));
  box.append(label);
}

const path = what => `v1/users/${encodeURIComponent(user)}/${what}`;

// pick shows another user.
async function pick() {
  user = byId("user").value.trim();
  before = new Map(); listed = []; mean = null;
  try {
    const top = await get(path(`predictions?top=${known}`));
    remember(top.predictions);
    listed = top.predictions.slice(0, shown);
    await refresh();
    answer(`Give a rating as user ${user}, and see how it moves what is predicted; below each title stands why.`);
  } catch (err) {
    byId("predictions").replaceChildren();
    byId("rated").replaceChildren();
    answer(err instanceof Refused && err.status === 404 ? `User ${user} has not rated anything yet. The first rating makes a user known.` : err.message);
  }
}

// refresh asks again for the predictions in the list, with reasons, and for what the
// user rated.
async function refresh() {
  const list = (await get(path("ratings"))).ratings;
  remember(list);
  mean = list.length ? list.reduce((sum, m) => sum + m.rating, 0) / list.length : null;
  byId("rated").replaceChildren(...list.slice(-200).map(m => { const tr = element("tr"); tr.append(element("td", nameOf(m)), element("td", format(m.rating), { class: "number" })); return tr; }));
  if (listed.length === 0) { byId("predictions").replaceChildren(); return; }
  const now = await get(path(`predictions?${word}s=${listed.map(m => encodeURIComponent(quoted(idOf(m)))).join(",")}&because=${voices}`));
  listed = now.predictions;
  fill(listed, now);
}

// quoted is an id as it stands in a list between commas.
const quoted = id => /[",]/.test(id) ? `"${String(id).replaceAll('"', '""')}"` : id;

// remember takes in what there is to choose from. Of two with the same title each says
// which it is.
function remember(list) {
  for (const m of list) {
    if (names.has(idOf(m))) continue;
    const title = m.title || `${word} ${idOf(m)}`, name = ids.has(title) ? `${title} (${word} ${idOf(m)})` : title;
    names.set(idOf(m), name); ids.set(name, idOf(m));
  }
  byId("movies").replaceChildren(...[...ids.keys()].map(t => element("option", null, { value: t })));
}

// reasons says which of the user's ratings speak most for or against a prediction.
function reasons(m) {
  const list = (m.because?.ratings ?? []).filter(v => Math.abs(v.adds) >= little);
  if (list.length === 0) return m.because ? "by your mean and what others rate it" : "";
  return "because you rated " + list.map(v => `${nameOf(v)} ${format(v.rating)} (${signed(v.adds)})`).join(", ");
}

// parts says how far a prediction moved since they were listed first: with the user's
// mean, from which it starts, and by what was learned and by this rating.
function parts(m) {
  const was = before.get(idOf(m));
  if (!was) return [];
  const all = m.rating - was.rating, own = m.because && was.because ? m.because.start - was.because.start : 0;
  return [["your mean", own], ["this rating and learning", all - own]].filter(([, v]) => Math.abs(v) >= little);
}

// fill lists predictions, why they are so, and how far each moved.
function fill(list, from) {
  byId("lists").textContent = `Predictions for user ${user}, version ${from.version}, ${from.serving} model`;
  byId("predictions").replaceChildren(...list.map(m => {
    const tr = element("tr"), title = element("td"), cell = element("td"), last = element("td"), moved = element("td", null, { class: "number move" });
    const meter = element("meter", null, { min: scale.least, max: scale.most, value: m.rating, "aria-label": `predicted rating of ${nameOf(m)}` }), number = element("span", m.rating.toFixed(3));
    number.dataset.movie = idOf(m);
    title.append(element("span", nameOf(m)), element("small", reasons(m), { class: "because" }));
    cell.append(number, meter);
    const all = m.rating - (before.get(idOf(m))?.rating ?? m.rating);
    if (Math.abs(all) >= little) {
      moved.dataset.way = all > 0 ? "up" : "down";
      moved.append((all > 0 ? "▲ " : "▼ ") + signed(all), ...parts(m).map(([name, v]) => element("small", `${name} ${signed(v)}`)));
    }
    const rate = element("button", m.rated === undefined ? "rate" : "rate again", { type: "button", "aria-label": `Rate ${nameOf(m)}` });
    rate.addEventListener("click", () => { byId("movie").value = nameOf(m); byId("stars").querySelector("input").focus(); });
    last.append(rate);
    tr.append(title, cell, moved, last);
    return tr;
  }));
}

// meant returns the id of what somebody typed: a title, a part of one, or an id.
function meant(text) {
  if (ids.has(text)) return ids.get(text);
  const id = names.has(text) ? text : whole(text); // ids are numbers where they can be
  if (names.has(id)) return id;
  return [...ids].find(([t]) => t.toLowerCase().includes(text.toLowerCase()))?.[1] ?? (word !== "movie" || typeof id === "number" ? id : undefined);
}

byId("user").addEventListener("change", pick);
byId("user").addEventListener("keydown", e => { if (e.key === "Enter") { e.preventDefault(); if (byId("user").value.trim() !== user) pick(); } }); // to look at somebody is not to rate
byId("rate").addEventListener("submit", async e => {
  e.preventDefault();
  const text = byId("movie").value.trim(), found = meant(text), stars = byId("stars").querySelector("input:checked, input[type=number]");
  if (byId("user").value.trim() !== user) await pick();
  if (found === undefined) { answer(`No ${word} has “${text}” in its title.`); return; }
  byId("give").disabled = true;
  try {
    const was = mean;
    before = new Map(listed.map(m => [idOf(m), m]));
    const done = await post("v1/ratings", { user: whole(user), [word]: found, rating: Number(stars.value) });
    if (listed.length === 0) await pick(); else await refresh();
    answer(`User ${user} gives ${stars.value} to ${names.get(found) ?? word + " " + found}. ${learned(done)} ${moved(was)}`);
  } catch (err) { answer(err.message); }
  byId("give").disabled = false;
});

// learned says what the shared taps learned from the rating.
function learned(done) {
  if (!done.learned) return `Nothing was learned from it${done.why ? ": " + done.why : ""}.`;
  return `Learning moved its prediction from ${format(done.before)} to ${format(done.after)}.`;
}

// moved says what the rating did to the user's own mean, which every prediction starts
// from.
function moved(was) {
  if (mean === null || was === null) return "";
  if (Math.abs(mean - was) < little) return "Your own mean stays.";
  return `Your own mean goes from ${was.toFixed(2)} to ${mean.toFixed(2)}, and what you are told below with it.`;
}
