// The rating service: pick a user, rate a movie, see the predictions move.

import { byId, element, format } from "./model.js";
import { get, post, Refused } from "./net.js";

const shown = 12, known = 1000; // predictions in the list, movies to choose from
let scale = { least: 1, most: 5 }, titles = new Map(), user = 0, listed = [], before = new Map();

const nameOf = m => m.title || `movie ${m.movie}`;
const answer = text => { byId("answer").textContent = text; };

export function begin(about) {
  scale = about.scale;
  byId("beside").prepend(byId("counters"), byId("charts"));
  byId("users").append(...about.users.map(u => element("option", null, { value: u })));
  for (let v = Math.ceil(scale.least); v <= scale.most; v++) {
    const label = element("label"), input = element("input", null, { type: "radio", name: "stars", value: v, required: "" });
    label.append(input, element("span", String(v)));
    byId("stars").append(label);
  }
  byId("user").value = about.users[0] ?? 1;
  pick();
}

// pick shows another user.
async function pick() {
  user = Number(byId("user").value);
  before = new Map();
  listed = [];
  try {
    const top = await get(`v1/users/${user}/predictions?top=${known}`);
    await catalogue(top.predictions);
    listed = top.predictions.slice(0, shown);
    fill(listed, top);
    await rated();
    answer("");
  } catch (err) {
    byId("predictions").replaceChildren();
    byId("rated").replaceChildren();
    answer(err instanceof Refused && err.status === 404 ? `User ${user} has not rated anything yet. The first rating makes a user known.` : err.message);
  }
}

// catalogue remembers movies to choose from.
async function catalogue(list) {
  for (const m of list) titles.set(nameOf(m), m.movie);
  try { for (const m of (await get(`v1/users/${user}/ratings`)).ratings) titles.set(nameOf(m), m.movie); } catch { /* a user without ratings */ }
  byId("movies").replaceChildren(...[...titles.keys()].map(t => element("option", null, { value: t })));
}

async function rated() {
  const list = (await get(`v1/users/${user}/ratings`)).ratings;
  byId("rated").replaceChildren(...list.slice(-200).map(m => { const tr = element("tr"); tr.append(element("td", nameOf(m)), element("td", format(m.rating), { class: "number" })); return tr; }));
}

// fill lists predictions, and how far each moved since they were listed first.
function fill(list, from) {
  byId("lists").textContent = `Predictions for user ${user}, version ${from.version}, ${from.serving} model`;
  byId("predictions").replaceChildren(...list.map(m => {
    const tr = element("tr"), cell = element("td"), meter = element("meter", null, { min: scale.least, max: scale.most, value: m.rating, "aria-label": `predicted rating of ${nameOf(m)}` }), number = element("span", m.rating.toFixed(3));
    number.dataset.movie = m.movie;
    const was = before.get(m.movie), move = was === undefined ? 0 : m.rating - was, text = Math.abs(move) < 0.0005 ? "" : (move > 0 ? "▲ +" : "▼ −") + Math.abs(move).toFixed(3);
    cell.append(number, meter);
    const rate = element("button", m.rated === undefined ? "rate" : "rate again", { type: "button", "aria-label": `Rate ${nameOf(m)}` });
    rate.addEventListener("click", () => { byId("movie").value = nameOf(m); byId("stars").querySelector("input").focus(); });
    const last = element("td");
    last.append(rate);
    tr.append(element("td", nameOf(m)), cell, element("td", text, { class: "number move", "data-way": move > 0 ? "up" : "down" }), last);
    return tr;
  }));
}

byId("user").addEventListener("change", pick);
byId("rate").addEventListener("submit", async e => {
  e.preventDefault();
  const text = byId("movie").value.trim(), found = titles.get(text) ?? [...titles].find(([t]) => t.toLowerCase().includes(text.toLowerCase()))?.[1] ?? (/^\d+$/.test(text) ? Number(text) : undefined);
  const stars = byId("stars").querySelector("input:checked");
  if (Number(byId("user").value) !== user) user = Number(byId("user").value);
  if (found === undefined) { answer(`No movie has “${text}” in its title.`); return; }
  byId("give").disabled = true;
  try {
    before = new Map(listed.map(m => [m.movie, m.rating]));
    const done = await post("v1/ratings", { user, movie: found, rating: Number(stars.value) });
    if (listed.length === 0) { await pick(); } else {
      const now = await get(`v1/users/${user}/predictions?movies=${listed.map(m => m.movie).join(",")}`);
      listed = now.predictions;
      fill(listed, now);
      await rated();
    }
    answer(`User ${user} gives ${stars.value} to ${[...titles].find(([, id]) => id === found)?.[0] ?? "movie " + found}. Its prediction goes from ${format(done.before)} to ${format(done.after)}; ${moved()}.`);
  } catch (err) { answer(err.message); }
  byId("give").disabled = false;
});

function moved() {
  const moves = listed.map(m => Math.abs(m.rating - (before.get(m.movie) ?? m.rating)));
  return `those below move by up to ${format(Math.max(0, ...moves))}`;
}
