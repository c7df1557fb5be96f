// The paper's tables and figures, our numbers beside the paper's.

import { byId, element } from "./model.js";
import { get, blob } from "./net.js";

let opened = false;

export async function open() {
  if (opened) return;
  opened = true;
  const view = byId("tables");
  try {
    const { results } = await get("tables");
    view.replaceChildren();
    if (results.length === 0) view.append(element("p", "There are no results in the folder yet. Try: wdgnn reproduce table1 --quick", { class: "card" }));
    else view.append(contents(results), ...results.map(result));
  } catch (err) {
    opened = false;
    view.replaceChildren(element("p", err.message, { class: "card" }));
  }
}

const place = r => "result-" + r.name;

// contents says what the numbers are, and lists all results.
function contents(results) {
  const card = element("nav", null, { class: "card contents", "aria-label": "Results" }), list = element("ul");
  card.append(element("p", "A number is ours: the mean, ± the standard deviation over realizations. Where the paper has one, it stands below."));
  for (const r of results) { const li = element("li"); li.append(element("a", r.title, { href: "#" + place(r) })); list.append(li); }
  if (results.length > 1) card.append(list);
  return card;
}

function result(r) {
  const card = element("article", null, { class: "card", id: place(r) });
  card.append(element("h2", r.title));
  for (const t of Array.isArray(r.tables) ? r.tables : []) {
    card.append(element("h3", t.title), table(t));
    if (t.note) card.append(element("p", t.note));
  }
  const figures = element("div", null, { class: "figures" });
  for (const f of r.figures ?? []) figures.append(figure(f));
  card.append(figures);
  for (const n of r.notes ?? []) card.append(element("p", n));
  return card;
}

function table(t) {
  const box = element("div", null, { class: "wide", tabindex: "0" }), out = element("table"), head = element("thead"), body = element("tbody"), top = element("tr");
  top.append(element("td"), ...(t.columns ?? []).map(c => element("th", c, { scope: "col" })));
  head.append(top);
  for (const row of t.rows ?? []) {
    const tr = element("tr", null, row.ours ? { class: "ours" } : {});
    tr.append(element("th", row.name, { scope: "row" }));
    for (const c of row.cells ?? []) {
      const td = element("td", written(c), { class: "number" });
      if (c.paper) td.append(element("small", "paper " + value(c.paper, c, c.paper.spread !== 0)));
      tr.append(td);
    }
    body.append(tr);
  }
  out.append(head, body);
  box.append(out);
  return box;
}

function written(c) {
  if (!c.value) return c.text ?? "";
  return value(c.value, c, c.value.count > 1) + (c.text ? " " + c.text : "");
}

function value(v, c, spread) {
  const mean = (c.signed && v.mean >= 0 ? "+" : "") + v.mean.toFixed(c.decimals);
  return spread && !(c.signed && c.paper === v) ? mean + " ± " + v.spread.toFixed(c.decimals) : mean;
}

// figure loads a picture as the page loads everything, with its token.
function figure(f) {
  const box = element("figure"), img = element("img", null, { alt: f.title, loading: "lazy" });
  box.append(img, element("figcaption", f.title + (f.note ? ". " + f.note : "")));
  blob("figures/" + f.path.split("/").map(encodeURIComponent).join("/")).then(b => { img.src = URL.createObjectURL(b); }, err => { img.alt = f.title + ": " + err.message; });
  return box;
}
