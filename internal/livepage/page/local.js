// The demo in this browser, without a server: a worker runs it as WebAssembly and
// says what a server would. listen and post are as in net.js.

import { status } from "./view.js";

const script = "demo/worker.js";
let worker = null, failed = "", asked = 0;
const waiting = new Map();

// lacks says what the browser does not have.
function lacks() {
  for (const name of ["Worker", "WebAssembly", "DecompressionStream"]) if (!(name in globalThis)) return name;
  return "";
}

function fail(words) {
  if (failed) return;
  failed = words;
  worker?.terminate();
  status("lost", words);
  for (const { refuse } of waiting.values()) refuse(new Error(words));
  waiting.clear();
}

function answer({ id, text }) {
  const { done, refuse } = waiting.get(id);
  waiting.delete(id);
  if (text) refuse(new Error(text)); else done();
}

export function listen(_, { on, state, bad }) {
  const missing = lacks();
  if (missing) { fail(`The demo cannot run in this browser, which has no ${missing}. Try a browser of 2023 or later, or wdgnn demo --page.`); return; }
  const take = ({ kind, text }) => { try { on(kind, JSON.parse(text)); } catch (err) { bad(err); } };
  worker = new Worker(script);
  worker.onerror = e => { e.preventDefault(); fail(e.message ? "The demo has stopped: " + e.message : script + " cannot be loaded. Is the folder that make site wrote complete?"); };
  worker.onmessage = ({ data }) => {
    switch (data.kind) {
      case "answer": answer(data); return;
      case "error": fail(data.text); return;
      case "loading": status("connecting", `loading, ${Math.round(100 * data.text)} %`); return;
      case "scene": state("live"); break;
    }
    take(data);
    if (data.kind === "frame") worker.postMessage({ drawn: true }); // and the next one may come
  };
}

export function post(_, command) {
  if (failed) return Promise.reject(new Error(failed));
  return new Promise((done, refuse) => {
    waiting.set(++asked, { done, refuse });
    worker.postMessage({ id: asked, command: JSON.stringify(command) });
  });
}
