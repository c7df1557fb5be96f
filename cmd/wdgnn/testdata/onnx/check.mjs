// Runs ONNX files with onnxruntime-web.
//
//     node check.mjs FOLDER CASES.json
//
// FOLDER holds node_modules. CASES.json and what is printed are as in check.py.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const [folder, cases] = process.argv.slice(2);
const ort = createRequire(resolve(folder, 'any.js'))('onnxruntime-web');
ort.env.wasm.numThreads = 1;

// npy returns the shape and the values of an array of float32.
function npy(path) {
	const bytes = readFileSync(path);
	const end = 10 + bytes.readUInt16LE(8);
	const shape = /'shape': \(([^)]*)\)/.exec(bytes.toString('latin1', 10, end))[1];
	return { dims: shape.split(',').filter((n) => n.trim()).map(Number), data: new Float32Array(bytes.buffer.slice(bytes.byteOffset + end, bytes.byteOffset + bytes.length)) };
}

const tensor = (dims, data) => new ort.Tensor('float32', data, dims);

// widths returns the inputs line.… of a model, with how wide they are.
function widths(session) {
	return session.inputMetadata.filter((m) => m.name.startsWith('line.')).map((m) => [m.name, m.shape[2]]);
}

// steps runs delayed filters, one step after the other, and puts outputs where predict has them: samples×steps×….
async function steps(session, shift, signals) {
	const [samples, length, nodes, features] = signals.dims;
	const line = Object.fromEntries(widths(session).map(([name, width]) => [name, tensor([samples, nodes, width], new Float32Array(samples * nodes * width))]));
	let got;
	for (let t = 0; t < length; t++) {
		const x = new Float32Array(samples * nodes * features);
		for (let b = 0; b < samples; b++) {
			const from = (b * length + t) * nodes * features;
			x.set(signals.data.subarray(from, from + nodes * features), b * nodes * features);
		}
		const S = tensor([nodes, nodes], shift.data.slice(t * nodes * nodes, (t + 1) * nodes * nodes));
		const out = await session.run({ S, X: tensor([samples, nodes, features], x), ...line });
		for (const name of Object.keys(line)) line[name] = out[name.replace('line.', 'next.')];
		const each = out.Y.data.length / samples;
		got ??= new Float32Array(samples * length * each);
		for (let b = 0; b < samples; b++) got.set(out.Y.data.subarray(b * each, (b + 1) * each), (b * length + t) * each);
	}
	return got;
}

const results = [];
for (const c of JSON.parse(readFileSync(cases, 'utf8'))) {
	const session = await ort.InferenceSession.create(readFileSync(c.onnx));
	const [shift, signals, want] = [npy(c.shift), npy(c.signals), npy(c.want)];
	const got = c.delayed
		? await steps(session, shift, signals)
		: (await session.run({ S: tensor(shift.dims, shift.data), X: tensor(signals.dims, signals.data) })).Y.data;
	if (got.length !== want.data.length) throw new Error(`${c.name}: ${got.length} outputs, want ${want.data.length}`);
	let difference = 0, largest = 0;
	got.forEach((y, i) => {
		difference = Math.max(difference, Math.abs(y - want.data[i]));
		largest = Math.max(largest, Math.abs(want.data[i]));
	});
	results.push({ name: c.name, difference, largest });
}
console.log(JSON.stringify(results));
