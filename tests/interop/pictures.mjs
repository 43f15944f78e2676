// Pictures on every wire that takes them: what control's dialect sends is decoded by the stand-in, which says what it shows, and the
// provider's own client gets the same sentence for the same picture. A picture that cannot be decoded is refused.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { join } from 'node:path';
import WebSocket from 'ws';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI, Modality } from '@google/genai';
import { check, main, sleep } from './lib.mjs';
import { standin } from './standin.mjs';

const wire = join(process.env.BIN ?? '../../build', 'tests/wire');
const sends = (name) => execFileSync(wire, ['sends', name], { encoding: 'utf8' }).trim().split('\n').map((l) => JSON.parse(l));
const seeing = (name) => sends(name).find((s) => s.command === 'see')?.event;
const failure = (p) => p.then(() => null, (e) => e);
const JPEG = /^I see: image\/jpeg 128x64 frame 37 hash [0-9a-f]{16}\.$/;
const PNG = /^I see: image\/png 64x32 frame 37 hash [0-9a-f]{16}\.$/;
const question = 'what do you see';
const post = async (port, path, body) => (await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST',
  headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' }, body: JSON.stringify({ ...body, stream: false, stream_options: undefined }) })).json();

async function chat() {
  const s = await standin('chat');
  const ask = seeing('CHAT');
  const { url } = ask.messages.at(-1).content.find((p) => p.type === 'image_url').image_url;
  const ours = (await post(s.port, '/v1/chat/completions', ask)).choices[0].message.content;
  check('chat: the picture that control sends is seen', JPEG.test(ours), ours);
  const client = new OpenAI({ apiKey: 'x', baseURL: `http://127.0.0.1:${s.port}/v1`, maxRetries: 0 });
  const theirs = (u) => client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: [{ type: 'text', text: question }, { type: 'image_url', image_url: { url: u } }] }] });
  check('chat: as the official client sends it', (await theirs(url)).choices[0].message.content === ours);
  check('chat: a broken picture is refused', (await failure(theirs(`${url.slice(0, 60)}AAAA`))) instanceof OpenAI.BadRequestError);
  await s.stop();
}

async function responses() {
  const s = await standin('openai');
  const ask = seeing('RESPONSES');
  const url = ask.input.at(-1).content.find((p) => p.type === 'input_image').image_url;
  const ours = (await post(s.port, '/v1/responses', ask)).output.at(-1).content[0].text;
  check('responses: the picture that control sends is seen', JPEG.test(ours), ours);
  const client = new OpenAI({ apiKey: 'x', baseURL: `http://127.0.0.1:${s.port}/v1`, maxRetries: 0 });
  const theirs = (u) => client.responses.create({ model: 'm', input: [{ role: 'user', content: [{ type: 'input_text', text: question }, { type: 'input_image', image_url: u, detail: 'auto' }] }] });
  check('responses: as the official client sends it', (await theirs(url)).output_text === ours);
  check('responses: a broken picture is refused', (await failure(theirs(`${url.slice(0, 60)}AAAA`))) instanceof OpenAI.BadRequestError);
  await s.stop();
}

async function anthropic() {
  const s = await standin('anthropic');
  const ask = seeing('ANTHROPIC');
  const { source } = ask.messages.at(-1).content.find((p) => p.type === 'image');
  const ours = (await post(s.port, '/v1/messages', ask)).content[0].text;
  check('anthropic: the picture that control sends is seen', JPEG.test(ours), ours);
  const client = new Anthropic({ apiKey: 'x', baseURL: `http://127.0.0.1:${s.port}`, maxRetries: 0 });
  const theirs = (data) => client.messages.create({ model: 'm', max_tokens: 99, messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: source.media_type, data } }, { type: 'text', text: question }] }] });
  check('anthropic: as the official client sends it', (await theirs(source.data)).content[0].text === ours);
  check('anthropic: a broken picture is refused', (await failure(theirs('AAAA'))) instanceof Anthropic.BadRequestError);
  await s.stop();
}

// The text of the answer to the question that is sent last.
async function answer(got, from, done, text, ms = 4000) {
  for (let i = 0; i < ms / 20 && !got.slice(from).some(done); i += 1) await sleep(20);
  return got.slice(from).map(text).filter(Boolean).join('');
}

async function openai() {
  const s = await standin('openai');
  const image = sends('OPENAI').find((m) => m.event?.item?.content?.some((p) => p.type === 'input_image')).event;
  const { image_url: url } = image.item.content.find((p) => p.type === 'input_image');
  const asks = [{ type: 'conversation.item.create', item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: question }] } }, { type: 'response.create' }];
  const done = (e) => e.type === 'response.done';
  const text = (e) => (e.type === 'response.output_text.delta' ? e.delta : '');
  const session = { type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } };
  const ws = new WebSocket(`ws://127.0.0.1:${s.port}/v1/realtime?model=gpt-realtime`);
  const got = [];
  ws.on('message', (m) => got.push(JSON.parse(m)));
  await once(ws, 'open');
  for (const e of [session, image, ...asks]) ws.send(JSON.stringify(e));
  const ours = await answer(got, 0, done, text);
  check('openai: the picture that control sends into a session is seen', PNG.test(ours), ours);
  let from = got.length;
  for (const e of [{ type: 'conversation.item.delete', item_id: image.item.id }, ...asks]) ws.send(JSON.stringify(e));
  check('openai: and deleted', (await answer(got, from, done, text)) === 'I see: no picture.');
  ws.close();

  const rt = new OpenAIRealtimeWS({ model: 'gpt-realtime', options: { createConnection: () => net.connect({ host: '127.0.0.1', port: s.port }) } },
    new OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${s.port}/v1` }));
  const seen = [];
  rt.on('event', (e) => seen.push(e));
  rt.on('error', () => {});
  await once(rt.socket, 'open');
  const item = (u) => ({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content: [{ type: 'input_image', image_url: u }] } });
  for (const e of [session, item(url), ...asks]) rt.send(e);
  check('openai: as the official client sends it', (await answer(seen, 0, done, text)) === ours);
  from = seen.length;
  rt.send(item(`${url.slice(0, 60)}AAAA`));
  for (let i = 0; i < 100 && !seen.slice(from).some((e) => e.type === 'error'); i += 1) await sleep(20);
  check('openai: a broken picture is refused', seen.slice(from).some((e) => e.type === 'error' && /decoded/.test(e.error.message)));
  rt.close();
  await s.stop();
}

async function gemini() {
  const s = await standin('gemini');
  const image = sends('GEMINI').find((m) => m.event?.realtimeInput?.video).event;
  const { video } = image.realtimeInput;
  const done = (m) => m.serverContent?.turnComplete;
  const text = (m) => m.serverContent?.modelTurn?.parts?.map((p) => p.text ?? '').join('') ?? '';
  const ask = { clientContent: { turns: [{ role: 'user', parts: [{ text: question }] }], turnComplete: true } };
  const ws = new WebSocket(`ws://127.0.0.1:${s.port}/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent`);
  const got = [];
  ws.on('message', (m) => got.push(JSON.parse(m)));
  await once(ws, 'open');
  ws.send(JSON.stringify({ setup: { model: 'models/gemini-live', generationConfig: { responseModalities: ['TEXT'] } } }));
  for (const e of [image, ask]) ws.send(JSON.stringify(e));
  const ours = await answer(got, 0, done, text);
  check('gemini: the picture that control sends into a session is seen', PNG.test(ours), ours);
  ws.close();

  const ai = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: `http://127.0.0.1:${s.port}` } });
  const seen = [];
  const session = await ai.live.connect({ model: 'gemini-live', config: { responseModalities: [Modality.TEXT] },
    callbacks: { onmessage: (m) => seen.push(m), onclose: (e) => seen.push({ closed: e.code }) } });
  session.sendRealtimeInput({ video });
  session.sendClientContent({ turns: [{ role: 'user', parts: [{ text: question }] }], turnComplete: true });
  check('gemini: as the official client sends it', (await answer(seen, 0, done, text)) === ours);
  session.sendRealtimeInput({ video: { data: 'AAAA', mimeType: 'image/jpeg' } });
  for (let i = 0; i < 100 && !seen.some((m) => m.closed); i += 1) await sleep(20);
  check('gemini: a broken picture ends the session', seen.some((m) => m.closed === 1007));
  await s.stop();
}

const parts = { chat, responses, anthropic, openai, gemini };
await main(async () => {
  const chosen = process.argv.slice(2);
  for (const [name, part] of Object.entries(parts)) {
    if (chosen.length && !chosen.includes(name)) continue;
    try { await part(); } catch (e) { check(`${name} runs to its end`, false, e?.stack ?? e); }
  }
}, 60000);
