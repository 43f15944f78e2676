// The official openai client against the HTTP side of offlined: transcriptions, chat, speech, errors; and a chunked body.
import { spawn, execFileSync } from 'node:child_process';
import { createReadStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import OpenAI from 'openai';
import { check, main } from './lib.mjs';

const bin = process.env.BIN ?? '../../build';
const dir = mkdtempSync(join(tmpdir(), 'offlined-'));
const WORDS = 'what is seven times eight';

async function transcriptions(client, file) {
  const ask = (o) => client.audio.transcriptions.create({ file: createReadStream(file), model: 'whisper-1', ...o });
  check('json', (await ask({})).text === WORDS);
  check('text', (await ask({ response_format: 'text' })) === WORDS);
  const whole = await ask({ response_format: 'verbose_json', timestamp_granularities: ['word'] });
  check('verbose_json', whole.text === WORDS && whole.duration > 1 && whole.segments.length === 1 && whole.segments[0].end === whole.duration);
  check('with words', whole.words.map((w) => w.word).join(' ') === WORDS && whole.words[0].start === 0);
  check('srt', (await ask({ response_format: 'srt' })).startsWith('1\n00:00:00,000 --> 00:00:0'));
  check('vtt', (await ask({ response_format: 'vtt' })).startsWith('WEBVTT\n\n'));
  let text = '';
  let done;
  for await (const e of await ask({ stream: true })) {
    if (e.type === 'transcript.text.delta') text += e.delta;
    if (e.type === 'transcript.text.done') done = e.text;
  }
  check('a stream of transcription', text === WORDS && done === WORDS, text);
  const error = await ask({ response_format: 'diarized_json' }).catch((e) => e);
  check('an unknown format is an error of OpenAI\'s shape', error instanceof OpenAI.BadRequestError && error.param === 'response_format' &&
    error.type === 'invalid_request_error', error.message);
}

async function chat(client) {
  const ask = (content, o) => client.chat.completions.create({ model: 'gpt-5', messages: [{ role: 'system', content: 'Be kind.' }, { role: 'user', content }], ...o });
  const one = await ask('what is two plus two');
  check('an answer', one.choices[0].message.content === 'Two plus two is four.' && one.choices[0].finish_reason === 'stop' && one.model === 'gpt-5');
  check('with usage', one.usage.total_tokens === one.usage.prompt_tokens + one.usage.completion_tokens && one.usage.total_tokens > 0);
  const parts = await ask([{ type: 'text', text: 'what is two' }, { type: 'text', text: 'plus two' }]);
  check('content in parts', parts.choices[0].message.content === 'Two plus two is four.');
  let text = '';
  let usage;
  const ids = new Set();
  for await (const c of await ask('what is two plus two', { stream: true, stream_options: { include_usage: true } })) {
    text += c.choices[0]?.delta?.content ?? '';
    usage ??= c.usage;
    ids.add(c.id);
  }
  check('a stream of chat', text === 'Two plus two is four.' && usage?.completion_tokens > 0 && ids.size === 1, text);
  const runner = client.chat.completions.stream({ model: 'x', messages: [{ role: 'user', content: 'what is two plus two' }] });
  check('the client\'s own accumulator agrees', (await runner.finalChatCompletion()).choices[0].message.content === 'Two plus two is four.');
  const error = await client.chat.completions.create({ model: 'x', messages: [] }).catch((e) => e);
  check('no question is an error', error instanceof OpenAI.BadRequestError && error.param === 'messages');
}

// The body in chunks, as a client sends one that it makes on the way.
async function chunked(port) {
  const req = http.request({ host: '127.0.0.1', port, path: '/v1/chat/completions', method: 'POST', headers: { 'content-type': 'application/json' } });
  for (const piece of ['{"messages":[{"role":"user",', '"content":"what is two plus', ' two"}]}']) {
    req.write(piece);
    await new Promise((r) => { setTimeout(r, 20); });
  }
  req.end();
  const [res] = await once(req, 'response');
  let body = '';
  for await (const d of res) body += d;
  check('a chunked body', res.statusCode === 200 && JSON.parse(body).choices[0].message.content === 'Two plus two is four.', body.slice(0, 80));
}

await main(async () => {
  const offlined = spawn(join(bin, 'offlined'), ['--listen', '127.0.0.1:0', '--log', 'warn'], { stdio: ['ignore', 'pipe', 'inherit'] });
  process.on('exit', () => { offlined.kill('SIGKILL'); rmSync(dir, { recursive: true, force: true }); });
  const [line] = await once(offlined.stdout, 'data');
  const port = Number(new URL(JSON.parse(line).url).port);
  const client = new OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 });
  const file = join(dir, 'q.wav');
  execFileSync(join(bin, 'offlined'), ['--speak', WORDS, '--voice', 'rms', '-o', file]);

  check('models', (await client.models.list()).data[0].id === 'rules');
  await transcriptions(client, file);
  await chat(client);
  await chunked(port);
  const speech = await client.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Two plus two is four.', response_format: 'pcm' });
  check('speech', (await speech.arrayBuffer()).byteLength > 48000);
  const error = await client.audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Hello.' }).catch((e) => e);
  check('a format that is not made here is an error', error instanceof OpenAI.BadRequestError && error.param === 'response_format', error.message);
  const missing = await client.embeddings.create({ model: 'x', input: 'y' }).catch((e) => e);
  check('so is what is not there', missing instanceof OpenAI.NotFoundError && missing.type === 'invalid_request_error', missing.message);
  check('audio bytes were read', readFileSync(file).length > 1000);
}, 60000);
