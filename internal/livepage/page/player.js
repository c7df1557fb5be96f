// The page as one file begins here: the recording is in it.

import { byId } from "./model.js";
import { status } from "./view.js";
import * as replay from "./replay.js";

// inflate reads JSON that was compressed and written in base64.
async function inflate(text) {
  const bytes = Uint8Array.from(atob(text), c => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

// unpack undoes what pack.go does: what is left out is as it was, coordinates
// are differences in a unit, links are those that came or went.
function unpack({ unit, frames }) {
  const sums = { pos: [], vel: [] }, links = new Map();
  let before = {};
  return frames.map(change => {
    const f = { ...before, pulses: [], ...change };
    for (const name of ["pos", "vel"]) if (change[name]) {
      sums[name] = change[name].map((v, i) => v + (sums[name][i] ?? 0));
      f[name] = sums[name].map(v => v * unit[name]);
    }
    if (change.links) {
      for (const l of change.links) if (!links.delete(l.join())) links.set(l.join(), l);
      f.links = [...links.values()];
    }
    return before = f;
  });
}

async function begin() {
  const file = JSON.parse(byId("recording").textContent);
  await replay.begin(await inflate(file.run), async (from, count) => {
    const k = Math.floor(from / file.piece), first = from - k * file.piece;
    return unpack(await inflate(file.pieces[k])).slice(first, first + count);
  });
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) replay.run(true);
}

begin().catch(err => status("lost", err.message));
