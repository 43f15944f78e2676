// Requests and their answers, and sessions of speech-to-text, as events.table names what is in them: the wires of text models
// (chat completions, Responses, Messages), of files, and of transcription sessions. Written from the providers' descriptions; it
// shares nothing with control.
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import WebSocket from 'ws';
import { sleep } from './lib.mjs';
import { standin } from './standin.mjs';
import { members, properties, types } from './schema.mjs';

// The data of each whole event of a stream, and what is left of it.
export function sse(text) {
  const parts = text.split(/\r?\n\r?\n/);
  const rest = parts.pop();
  const data = parts.map((p) => p.split(/\r?\n/).filter((l) => l.startsWith('data:')).map((l) => l.slice(5).trimStart()).join('\n'));
  return { data: data.filter((d) => d !== ''), rest };
}
const json = (d) => { try { return JSON.parse(d); } catch { return undefined; } };

// ---- what comes ----

// blocks: the types of Messages' blocks of this answer, by their index.
function chunkNames(e) {
  if (e.object === 'chat.completion') return ['chat.completion'];
  const names = e.usage ? ['usage'] : [];
  for (const { delta = {}, finish_reason: why } of e.choices ?? []) {
    for (const [k, v] of Object.entries(delta)) {
      if (k === 'tool_calls') for (const c of v) names.push(c.id ? 'delta.tool_calls id' : 'delta.tool_calls arguments');
      else if (v !== '' && v !== null) names.push(`delta.${k}`);
    }
    if (why) names.push(`finish_reason ${why}`);
  }
  return names;
}
function messageNames(e, blocks) {
  switch (e.type) {
    case 'content_block_start': blocks[e.index] = e.content_block.type; return [`content_block_start ${e.content_block.type}`];
    case 'content_block_delta': return [`content_block_delta ${e.delta.type}`];
    case 'content_block_stop': return [`content_block_stop ${blocks[e.index]}`];
    case 'message_delta': return [`message_delta ${e.delta.stop_reason}`];
    default: return [e.type];
  }
}
const fileNames = (e) => [e.segments ? 'verbose_json' : e.words ? 'words' : e.logprobs ? 'json logprobs' : 'json'];

// The names of what one event, or a whole body, is: d, as it came.
export function receivedNames(wire, d, blocks = {}) {
  if (d === '[DONE]') return ['[DONE]'];
  const e = typeof d === 'string' ? json(d) : d;
  if (!e || typeof e !== 'object') return [];
  if (e.message_type) return [e.message_type];
  if (e.error && !e.type) return ['error object'];
  if (wire === 'CHAT') return chunkNames(e);
  if (wire === 'RESPONSES') return [e.type ?? e.object];
  if (wire === 'ANTHROPIC') return messageNames(e, blocks);
  if (wire.endsWith('/files')) return fileNames(e);
  return [e.type];
}

// ---- what goes ----

const partNames = (content) => (Array.isArray(content) ? content.map((p) => `part ${p.type}`) : []);
const askNames = {
  CHAT: (b) => [...b.messages.flatMap((m) => [`message ${m.role}`, ...partNames(m.content), ...(m.tool_calls ? ['tool_calls'] : [])]),
    ...(b.tools ?? []).map((t) => `tool ${t.type}`), ...(b.stream_options ? ['stream_options'] : []), ...(b.response_format ? [`response_format ${b.response_format.type}`] : [])],
  RESPONSES: (b) => [...[b.input].flat().flatMap((i) => (i.type && i.type !== 'message' ? [`item ${i.type}`] : ['item message', ...partNames(i.content)])),
    ...(b.tools ?? []).map((t) => `tool ${t.type}`), ...(b.previous_response_id ? ['previous_response_id'] : []), ...(b.instructions ? ['instructions'] : [])],
  ANTHROPIC: (b) => [...b.messages.flatMap((m) => [`message ${m.role}`, ...partNames(m.content)]), ...(b.system ? ['system'] : []),
    ...(b.tools ?? []).map((t) => `tool ${t.type ?? 'custom'}`)],
};
// The texts of a form, as pairs.
const formNames = (form) => Object.entries(form).map(([k, v]) => (['response_format', 'include[]'].includes(k) ? `${k} ${v}` : k));
export function sentNames(wire, event) {
  if (askNames[wire]) return [...new Set(askNames[wire](event))];
  if (wire.endsWith('/files')) return formNames(event);
  return [event.message_type ?? event.type];
}
export function formOf(text) {
  return Object.fromEntries([...text.matchAll(/name="([^"]+)"(?:; filename="[^"]*")?\r\n(?:[^\r\n]+\r\n)*\r\n([^\r\n]*)/g)].map(([, k, v]) => [k, v]));
}

// ---- which wire a request belongs to ----

const paths = [[/\/chat\/completions$/, 'CHAT'], [/\/responses$/, 'RESPONSES'], [/\/messages$/, 'ANTHROPIC'], [/\/audio\/transcriptions$/, 'OPENAI/files'],
  [/\/audio\/speech$/, 'OPENAI/speech'], [/\/text-to-speech\//, 'ELEVENLABS/speech'], [/\/speech-to-text\/realtime$/, 'ELEVENLABS/transcribe'],
  [/\/speech-to-text$/, 'ELEVENLABS/files'], [/\/stt$/, 'XAI_STT/transcribe'], [/BidiGenerateContent$/, 'GEMINI']];
// provider: the stand-in's. '' where nothing is to be counted, such as a list of models.
export function wireOf(provider, request) {
  if (/\/realtime$/.test(request.path) && /intent=transcription/.test(request.query)) return 'OPENAI/transcribe';
  return (paths.find(([p]) => p.test(request.path)) ?? [])[1] ?? (/\/v1\/realtime$/.test(request.path) ? provider.toUpperCase() : '');
}

// ---- what the descriptions declare ----

// The literals that the types of a union in a file of TypeScript declarations have as their `type`.
function declarations(file) {
  const text = readFileSync(new URL(`./node_modules/${file}`, import.meta.url), 'utf8');
  const union = (name) => text.match(new RegExp(`export type ${name} =([^;]+);`))[1].split('|').map((s) => s.trim());
  const field = (name, key) => text.match(new RegExp(`export interface ${name} (?:extends [^{]+)?{[^]*?\\n {4}${key}\\??: ([^;]+);[^]*?\\n}`))?.[1].match(/'([^']+)'/g) ?? [];
  const typesOf = (name) => union(name).flatMap((n) => field(n, 'type')).map((s) => s.slice(1, -1));
  return { text, union, field, typesOf };
}
function messagesDeclared() {
  const d = declarations('@anthropic-ai/sdk/resources/messages/messages.d.ts');
  const block = (prefix) => d.typesOf('ContentBlock').map((t) => `${prefix} ${t}`);
  return {
    received: ['message_start', 'message_stop', 'error', 'ping', ...block('content_block_start'), ...block('content_block_stop'),
      ...d.typesOf('RawContentBlockDelta').map((t) => `content_block_delta ${t}`), ...d.union('StopReason').map((s) => `message_delta ${s.slice(1, -1)}`)],
    events: d.typesOf('RawMessageStreamEvent'),
    sent: ['message user', 'message assistant', ...d.typesOf('ContentBlockParam').map((t) => `part ${t}`)],
  };
}
function scribeDeclared() {
  const { text } = declarations('@elevenlabs/elevenlabs-js/wrapper/realtime/connection.d.ts');
  return { sent: ['input_audio_chunk'], received: [...text.matchAll(/message_type: "([a-z_]+)"/g)].map((m) => m[1]).filter((n) => n !== 'input_audio_chunk') };
}
function filesDeclared() {
  const d = declarations('openai/resources/audio/audio.d.ts');
  return { sent: d.union('AudioResponseFormat').map((f) => `response_format ${f.slice(1, -1)}`), received: types('CreateTranscriptionResponseStreamEvent') };
}
// Gemini's messages have no types: the members of its classes are their names.
function liveDeclared() {
  const text = readFileSync(new URL('./node_modules/@google/genai/dist/genai.d.ts', import.meta.url), 'utf8');
  const of = (kind, name) => [...text.match(new RegExp(`export declare ${kind} ${name} {[^]*?\n}`))[0].matchAll(/^ {4}([a-zA-Z]+)\??:/gm)].map((m) => m[1]);
  const inner = (names, outer, members_) => names.flatMap((n) => (n === outer ? members_.map((m) => `${outer}.${m}`) : [n]));
  return {
    sent: inner(of('interface', 'LiveClientMessage'), 'realtimeInput', of('interface', 'LiveClientRealtimeInput')),
    received: inner(of('class', 'LiveServerMessage'), 'serverContent', of('interface', 'LiveServerContent')),
  };
}
// { wire: { sent, received }: names }: each of them has a row.
export function declared() {
  const chunk = properties('CreateChatCompletionStreamResponse');
  const choice = chunk.choices.items.properties;
  return {
    CHAT: {
      sent: [...members('ChatCompletionRequestMessage').map((s) => `message ${(s.properties.role.const ?? s.properties.role.enum[0])}`), ...types('ChatCompletionRequestUserMessageContentPart').map((t) => `part ${t}`)],
      received: [...Object.keys(properties('ChatCompletionStreamResponseDelta')).flatMap((k) => (k === 'tool_calls' ? ['delta.tool_calls id', 'delta.tool_calls arguments'] : [`delta.${k}`])),
        ...choice.finish_reason.enum.filter(Boolean).map((f) => `finish_reason ${f}`), 'usage'],
    },
    RESPONSES: {
      sent: [...new Set([...types('Item'), ...types('InputItem')])].map((t) => `item ${t}`).concat(types('InputContent').map((t) => `part ${t}`), types('Tool').map((t) => `tool ${t}`)),
      received: types('ResponseStreamEvent'),
    },
    ANTHROPIC: messagesDeclared(),
    'OPENAI/transcribe': { sent: types('RealtimeClientEvent'), received: types('RealtimeServerEvent') },
    GEMINI: liveDeclared(),
    'OPENAI/files': filesDeclared(),
    'ELEVENLABS/transcribe': scribeDeclared(),
    OPENAI: { sent: types('RealtimeClientEvent'), received: types('RealtimeServerEvent') },
  };
}

// The names of events that control's own parsers know, by wire, from their tables: each must be seen.
const tables = { RESPONSES: 'text_responses.c', ANTHROPIC: 'text_messages.c', 'OPENAI/transcribe': 'stt_openai.c', 'ELEVENLABS/transcribe': 'stt_scribe.c' };
export function understood() {
  const of = (file) => {
    const text = readFileSync(new URL(`../../control/dialect/${file}`, import.meta.url), 'utf8').replaceAll('TRANSCRIPTION "', '"conversation.item.input_audio_transcription.');
    return [...text.matchAll(/^\t\{"([a-z_.]+)", (?:read_|text_fail|true|false)/gm)].map((m) => m[1]);
  };
  return Object.fromEntries(Object.entries(tables).map(([wire, file]) => [wire, of(file)]));
}
// The same of the parser of voices.
export function realtimeNames() {
  const text = readFileSync(new URL('../../control/dialect/openai_realtime_in.c', import.meta.url), 'utf8');
  return [...text.matchAll(/^\t\{"([a-z_.]+)", REALTIME_/gm)].map((m) => m[1]);
}

// ---- by themselves: control's dialect and its stand-in ----

const hex = (e) => [...Buffer.from(`data: ${JSON.stringify(e)}\n\n`)].map((b) => b.toString(16).padStart(2, '0')).join(' ');
const long = Array.from({ length: 40 }, (_, i) => `word${i}`).join(' ');
const told = 'Let me think.';
// Each answer in turn has what the line says.
const answers = {
  CHAT: ['say Good morning.', `reason ${told}`, 'call weather {"city":"Paris"}', 'fail server_error It broke.', 'error rate_limit_exceeded Slow down.', `say ${long}`,
    `bytes ${hex({ choices: [{ index: 0, delta: { refusal: 'No.' }, finish_reason: 'content_filter' }] })}`],
  RESPONSES: ['say Good morning.', `reason ${told}`, 'call weather {"city":"Paris"}', 'fail server_error It broke.', 'error rate_limit_exceeded Slow down.', `say ${long}`,
    `bytes ${hex({ type: 'error', code: 'server_error', message: 'It broke.', param: null, sequence_number: 1 })}`,
    `bytes ${hex({ type: 'response.refusal.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: 'No.', sequence_number: 1 })}`],
  ANTHROPIC: ['say Good morning.', `reason ${told}`, 'call weather {"city":"Paris"}', 'fail overloaded_error Too much.', 'error overloaded_error Too much.', `say ${long}`,
    `bytes ${hex({ type: 'message_delta', delta: { stop_reason: 'model_context_window_exceeded', stop_sequence: null }, usage: { output_tokens: 1 } })}`,
    `bytes ${hex({ type: 'message_delta', delta: { stop_reason: 'refusal', stop_sequence: null }, usage: { output_tokens: 1 } })}`],
};
const limits = { CHAT: 'max_tokens', RESPONSES: 'max_output_tokens', ANTHROPIC: 'max_tokens' };
const places = { CHAT: ['chat', '/v1/chat/completions'], RESPONSES: ['responses', '/v1/responses'], ANTHROPIC: ['anthropic', '/v1/messages'] };

// Puts what control asks to the stand-in. [{ data: of each event of one answer }]
export async function askStandin(wire, sent) {
  const [provider, path] = places[wire];
  const acts = answers[wire];
  const s = await standin(provider, { script: acts.map((a, i) => `response ${i + 1} ${a}`).join('\n') });
  const ask = async (body) => {
    const r = await fetch(`http://127.0.0.1:${s.port}${path}`, { method: 'POST', headers: { 'content-type': 'application/json', 'anthropic-version': '2026-10-21' }, body: JSON.stringify(body) });
    const text = await r.text();
    return { status: r.status, data: /event-stream/.test(r.headers.get('content-type')) ? sse(`${text}\n\n`).data : [text] };
  };
  const out = [];
  for (let i = 0; i < acts.length; i += 1) {
    const body = { ...sent[0] };
    if (acts[i].includes(long)) body[limits[wire]] = 16;
    out.push(await ask(body));
  }
  for (const body of sent) out.push(await ask(body));
  await s.stop();
  return out;
}

const sessions = {
  'OPENAI/transcribe': ['openai', '/v1/realtime?intent=transcription'], 'XAI/transcribe': ['xai', '/v1/realtime?model=grok-voice-latest'],
  'XAI_STT/transcribe': ['xai', '/v1/stt?sample_rate=24000&encoding=pcm&interim_results=true&endpointing=5000'],
  'ELEVENLABS/transcribe': ['elevenlabs', '/v1/speech-to-text/realtime?model_id=scribe_v2_realtime&audio_format=pcm_24000&commit_strategy=manual&include_timestamps=true'],
  'VLLM/transcribe': ['vllm', '/v1/realtime'],
};
// Holds a session: an utterance that is heard, then one for each code that is refused. Returns all that came.
export async function hearStandin(wire, sent, codes) {
  const [provider, path] = sessions[wire];
  const refusals = codes.map((c, i) => `commit ${i + 3} error ${c} It failed.`);
  const s = await standin(provider, { script: ['commit transcript what is the time in Paris', 'commit 2 fail audio_unintelligible It failed.', ...refusals].join('\n') });
  const ws = new WebSocket(`ws://127.0.0.1:${s.port}${path}`);
  const came = [];
  ws.on('message', (data, binary) => { if (!binary) came.push(JSON.parse(data)); });
  await once(ws, 'open');
  await sleep(100);
  for (let i = 0; i < codes.length + 2; i += 1) {
    for (const m of sent) if (i === 0 || m.command !== 'open') ws.send(m.event ? JSON.stringify(m.event) : Buffer.alloc(m.bytes));
    await sleep(150);
  }
  await sleep(200);
  ws.close();
  await s.stop();
  return came;
}
// Sends a form to the stand-in; the body that comes back.
export async function transcribeStandin(wire, form) {
  const [provider, path] = wire === 'OPENAI/files' ? ['openai', '/v1/audio/transcriptions'] : ['elevenlabs', '/v1/speech-to-text'];
  const s = await standin(provider, { script: 'commit transcript good morning' });
  const wav = Buffer.concat([Buffer.from('RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data\0\0\0\0', 'latin1'), Buffer.alloc(16000, 7)]);
  wav.writeUInt32LE(wav.length - 44, 40);
  const body = new FormData();
  for (const [k, v] of Object.entries(form)) body.append(k, k === 'file' ? new Blob([wav], { type: 'audio/wav' }) : v, ...(k === 'file' ? ['speech.wav'] : []));
  const r = await fetch(`http://127.0.0.1:${s.port}${path}`, { method: 'POST', body });
  const text = await r.text();
  await s.stop();
  return text;
}
