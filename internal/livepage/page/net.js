// Requests to the process that serves the page, and its stream of events.

const kept = "wdgnn-token";
let token = sessionStorage.getItem(kept) || "";
if (location.hash.startsWith("#token=")) {
  token = decodeURIComponent(location.hash.slice(7));
  sessionStorage.setItem(kept, token);
  history.replaceState(null, "", location.pathname);
}

addEventListener("hashchange", () => { if (location.hash.startsWith("#token=")) location.reload(); });

export function setToken(text) {
  token = text.trim();
  sessionStorage.setItem(kept, token);
}

// Refused is an answer other than success; status 401 asks for a token.
export class Refused extends Error {
  constructor(status, message) { super(message); this.status = status; }
}

function headers(more) { return token ? { ...more, Authorization: "Bearer " + token } : more; }

async function open(path, options) {
  let answer;
  try {
    answer = await fetch(path, { ...options, headers: headers(options?.headers ?? {}), cache: "no-store", redirect: "error" });
  } catch { // a browser says that it failed to fetch
    throw new Error("The process does not answer: it has ended, or this machine cannot reach it.");
  }
  if (!answer.ok) {
    let message = `The process refuses (HTTP ${answer.status}).`;
    try {
      const problem = (await answer.json()).error;
      message = problem.message + (problem.try ? " Try: " + problem.try : "");
    } catch { /* an answer of somebody in between */ }
    throw new Refused(answer.status, message);
  }
  return answer;
}

export async function get(path) { return (await open(path)).json(); }
export async function blob(path) { return (await open(path)).blob(); }
export async function post(path, body) {
  return (await open(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } })).json();
}

const longest = 32 << 20; // characters of an event; longer ones are skipped

// listen reads the stream of events until over() says that the run has ended, and
// begins again when it breaks off. It calls on(kind, value) for events, state(word)
// when the connection changes, and bad() for what makes no sense.
export async function listen(path, { on, state, bad, over }) {
  for (let wait = 300; ; wait = Math.min(wait * 1.6, 4000)) {
    try {
      const answer = await open(path);
      state("live");
      wait = 300;
      await read(answer.body, on, bad);
      if (over()) return;
      state("lost");
    } catch (err) {
      if (over()) return;
      state("lost", err);
      if (err instanceof Refused && err.status === 401) return;
    }
    await new Promise(done => setTimeout(done, wait));
  }
}

// read cuts the stream into lines, and lines into events: an empty line ends
// one.
async function read(body, on, bad) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let pieces = [], long = 0, kind = "", data = "", spoiled = false;
  const add = text => {
    long += text.length;
    if (long > longest) { pieces = []; spoiled = true; } else if (text) pieces.push(text);
  };
  const end = () => {
    const line = pieces.join("");
    pieces = []; long = 0;
    if (line.startsWith("event: ")) kind = line.slice(7);
    else if (line.startsWith("data: ")) data = line.slice(6);
    else if (line === "" && !spoiled) { if (data) dispatch(kind, data, on, bad); kind = data = ""; }
    else if (line === "" && spoiled) { bad(); spoiled = false; kind = data = ""; }
  };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    let from = 0;
    for (let at; (at = value.indexOf("\n", from)) >= 0; from = at + 1) { add(value.slice(from, at)); end(); }
    add(value.slice(from));
  }
}

function dispatch(kind, data, on, bad) {
  let value;
  try { value = JSON.parse(data); } catch { bad(); return; }
  try { on(kind, value); } catch (err) { bad(err); }
}
