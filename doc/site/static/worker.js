// The demo runs here, beside the page: this loads the program and its model, and
// carries messages to and fro.
"use strict";

const program = "demo.wasm.gz", model = "model.safetensors";
let begun;
const ready = new Promise(done => { begun = done; });

globalThis.wdgnn = {
  model: null,
  send(kind, text) { postMessage({ kind, text }); },
  ready(command, drawn) { begun({ command, drawn }); },
};

// Messages of the page: { drawn: true } after every frame, { id, command } else.
onmessage = async ({ data }) => {
  const go = await ready;
  if (data.drawn) go.drawn();
  else postMessage({ kind: "answer", id: data.id, text: go.command(data.command) });
};

async function open(name) {
  let answer;
  try { answer = await fetch(name); } catch (err) { throw new Error(`${name} cannot be loaded: ${err.message}`); }
  if (!answer.ok) throw new Error(`${name} cannot be loaded: status ${answer.status}. Is the folder that make site wrote complete?`);
  return answer;
}

// plain returns what a file holds. Some servers inflate .gz files, others do not:
// its first byte tells. It says how much of it has come.
async function plain(answer) {
  const size = Number(answer.headers.get("Content-Length")), reader = answer.body.getReader();
  let came = 0, part = await reader.read();
  const zipped = part.value?.[0] === 0x1f;
  const body = new ReadableStream({
    async pull(to) {
      if (part.done) { to.close(); return; }
      came += part.value.length;
      if (zipped && size) wdgnn.send("loading", String(Math.min(came / size, 1)));
      to.enqueue(part.value);
      part = await reader.read();
    },
  });
  const type = { headers: { "Content-Type": "application/wasm" } }; // whatever the server called it
  return new Response(zipped ? body.pipeThrough(new DecompressionStream("gzip")) : body, type);
}

async function compile() {
  const answer = await open(program);
  try { return await WebAssembly.compileStreaming(plain(answer)); } catch (err) { throw new Error(`${program} cannot be used: ${err.message}`); }
}

async function begin() {
  importScripts("wasm_exec.js");
  const go = new Go();
  const [module, file] = await Promise.all([compile(), open(model).then(answer => answer.arrayBuffer())]);
  wdgnn.model = new Uint8Array(file);
  await go.run(await WebAssembly.instantiate(module, go.importObject));
  throw new Error("The demo has stopped. What it said last is in the browser's console.");
}

begin().catch(err => wdgnn.send("error", err.message));
