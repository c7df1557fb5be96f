// Words that are explained where they stand: on hover, on focus, at a tap.
//
// An element with data-word is explained: a control by what it is focused with, a
// plain text by becoming something that can be focused. The explanation is its
// description for those who listen; Escape closes it for those who look.

import { byId, element } from "./model.js";

export const glossary = {
  agents: "The nodes as they run on their hosts, which go on learning.",
  answer: "What a detector says about a signal: the community in which it believes the pulse started.",
  "answers heard": "The share of answers that detectors are told the truth about. A node learns from these and from no other.",
  centralized: "One set of taps for the whole network, learned in one place that hears everything (eq. 7 of the paper).",
  community: "A group of nodes with many links among them. Each has one source, where a pulse may start, and one detector.",
  consensus: "All nodes agree on one set of taps: at every signal each averages its own with those of its neighbours.",
  correctness: "The share of right answers among the latest of a detector.",
  detector: "A node that answers. It hears its neighbours only, and is told the truth after it gave its answer.",
  disagreement: "How far the taps of the nodes are from their mean. In consensus it is small.",
  filter: "What a node makes of a signal: a weighted sum of what it has itself and of what comes from one, two and more hops away.",
  frozen: "The model as it was trained, with all links. It never learns again; learners are compared with it.",
  hop: "One exchange between neighbours. After k hops a node has heard of nodes k links away.",
  learner: "A way to go on learning after training. All of them run side by side on the same signals; one is on show.",
  link: "Two nodes that hear each other. A lost link carries nothing; nobody tells the nodes.",
  "links lost": "The probability with which each link is lost, so that about as many are: how many were found is said beside it. The frozen model was trained for some of that, and not for most.",
  loss: "The error of an answer: how surprised the node is by the truth. 0 is none.",
  "lying neighbour": "One node says what is not so: that the pulse starts with it, or, where taps are mixed, taps that mean nothing.",
  neighbour: "A node at the other end of a link.",
  neighbours: "The default. Each node learns taps of its own and a weight for every neighbour, by second derivatives. It sends no taps.",
  online: "Nodes that go on learning after training, each from its own mistakes.",
  own: "Each node learns taps of its own by second derivatives, as neighbours does, without weights for single neighbours.",
  paper: "The update of the paper to the letter (eq. 9): each node mixes its taps with its neighbours' and steps down the gradient of its own error.",
  pulse: "What starts at one node, the source, with strength 1 and spreads along links, weaker with every hop.",
  reset: "Everything as at the beginning: all links, the taps trained offline, the knobs, the charts, and the same signals again.",
  ring: "Around a detector: an arc for each learner, as long as its value is good.",
  signal: "What each node measures when a pulse has spread for a few hops, with some noise.",
  source: "A node where a pulse may start; there is one in each community.",
  tap: "A weight of a filter: how much what comes from k hops away counts for the answer. Taps are what is learned online.",
};

// general are words that mean more in other scenes than in the demo, whose signals are
// pulses, and words that the demo has not. Those of its knobs mean nothing there.
const general = {
  neighbours: undefined, own: undefined, paper: undefined, reset: undefined, "answers heard": undefined, "links lost": undefined, "lying neighbour": undefined, community: undefined, pulse: undefined,
  answer: "What a node says about a signal: a class, or a number.",
  detector: "A node whose answers are read. It hears its neighbours only, and is told what an answer should have been after it gave it.",
  frozen: "The model as it was trained. It never learns again; learners are compared with it.",
  learner: "A way to answer: as trained, or going on with learning. All of them meet the same signals.",
  loss: "How wrong an answer is. 0 is not at all.",
  signal: "What each node measures at a step.",
  source: undefined,
  "last value": "A forecast that is what the sensor read last.",
  ridge: "A forecast by linear regression on the readings of each sensor alone.",
  "seasonal naive": "A forecast that is what the sensor read one season before, such as a day.",
  validation: "Samples with known answers that training does not learn from.",
};
let meanings = glossary;

// setTask says what is to be seen, for words that depend on it.
export function setTask(task) { meanings = task === "sourceloc" ? glossary : { ...glossary, ...general }; descriptions.replaceChildren(); }

// forms are other ways in which words are written.
const forms = { taps: "tap", hops: "hop", links: "link", "lost link": "link", learners: "learner", detectors: "detector", sources: "source", signals: "signal", pulses: "pulse", answers: "answer", communities: "community", neighbours: "neighbour", "paper (eq. 9)": "paper", "centralized (eq. 7)": "centralized", "local loss": "loss", error: "loss", "right answers": "answer" };

// wordOf returns the entry of the glossary that a text is, or "".
export function wordOf(text) {
  const key = text.toLowerCase(), word = meanings[key] ? key : forms[key];
  return meanings[word] ? word : "";
}

// In a sentence, names of learners are everyday words.
const everyday = ["neighbours", "own", "paper"];
const named = [...Object.keys(glossary), ...Object.keys(general)].filter(w => !everyday.includes(w));
const known = [...new Set([...named, ...Object.keys(forms)])].sort((a, b) => b.length - a.length).map(w => w.replace(/[.()]/g, "\\$&"));
const pattern = new RegExp(`(?<![\\p{L}])(${known.join("|")})(?![\\p{L}])`, "giu");

// phrase returns a text as nodes, in which each word of the glossary is explained
// once.
export function phrase(text) {
  const list = [], seen = new Set();
  let from = 0;
  for (const m of text.matchAll(pattern)) {
    const key = m[0].toLowerCase(), word = wordOf(forms[key] ?? key);
    if (!word || seen.has(word)) continue;
    seen.add(word);
    if (m.index > from) list.push(document.createTextNode(text.slice(from, m.index)));
    list.push(term(m[0], word));
    from = m.index + m[0].length;
  }
  if (from < text.length) list.push(document.createTextNode(text.slice(from)));
  return list;
}

// term returns a text that is explained where it stands.
export function term(text, word) {
  const e = element("dfn", text, { class: "word" });
  explain(e, word);
  return e;
}

const natural = "a, button, input, select, textarea, canvas, [tabindex]";

// explain lets an element be explained by a word.
export function explain(e, word) {
  if (!meanings[word]) return e;
  e.dataset.word = word;
  if (!e.matches(natural)) e.tabIndex = 0;
  e.setAttribute("aria-describedby", describe(word));
  return e;
}

// hint lets an element be explained when it is hovered; what it names is explained
// on focus.
export function hint(e, word) {
  if (meanings[word]) { e.dataset.word = word; e.classList.add("word"); }
  return e;
}

const descriptions = element("div", null, { id: "glossary", hidden: "" });
document.body.append(descriptions);

// describe returns the id of the text for those who listen.
function describe(word) {
  const id = "word-" + word.replaceAll(" ", "-");
  if (!byId(id)) descriptions.append(element("span", meanings[word], { id }));
  return id;
}

const tip = element("div", null, { id: "wordtip", class: "wordtip", role: "tooltip", hidden: "" });
document.body.append(tip);
let shown = null;

function show(e) {
  shown = e;
  tip.replaceChildren(element("b", e.dataset.word), " ", meanings[e.dataset.word]);
  tip.hidden = false;
  const box = e.getBoundingClientRect(), wide = document.documentElement.clientWidth, room = 8;
  const below = box.bottom + room + tip.offsetHeight < innerHeight || box.top < tip.offsetHeight + room;
  tip.style.left = Math.max(room, Math.min(wide - tip.offsetWidth - room, box.left)) + scrollX + "px";
  tip.style.top = (below ? box.bottom + room : box.top - tip.offsetHeight - room) + scrollY + "px";
}

function hide() { shown = null; tip.hidden = true; }

const wordAt = e => e.target instanceof Element ? e.target.closest("[data-word]") : null;
document.addEventListener("pointerover", e => { const w = wordAt(e); if (w && e.pointerType !== "touch" && w !== shown && !w.matches("input[type=range], select")) show(w); });
document.addEventListener("pointerout", e => { if (shown && e.pointerType !== "touch" && wordAt(e) === shown && !shown.contains(e.relatedTarget) && document.activeElement !== shown && !tip.contains(e.relatedTarget)) hide(); });
tip.addEventListener("pointerleave", e => { if (shown && !shown.contains(e.relatedTarget) && document.activeElement !== shown) hide(); });
document.addEventListener("focusin", e => { const w = wordAt(e); if (w && e.target === w && w.matches(":focus-visible")) show(w); else if (shown) hide(); });
document.addEventListener("focusout", () => { if (shown) hide(); });
document.addEventListener("pointerdown", e => { if (shown && wordAt(e) !== shown && !tip.contains(e.target)) hide(); });
document.addEventListener("click", e => { const w = wordAt(e); if (w && e.pointerType === "touch" && !w.matches("input, select, button")) show(w); }); // a finger does not hover
document.addEventListener("keydown", e => { if (e.key === "Escape" && shown) { hide(); e.stopPropagation(); } }, true);
addEventListener("resize", hide);
