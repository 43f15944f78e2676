// The official clients of the providers against the stand-ins (tests/standins), which so behave as those clients expect.
import net from 'node:net';
import { once } from 'node:events';
import WebSocket from 'ws';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession, tool } from '@openai/agents-realtime';
import { GoogleGenAI, Modality } from '@google/genai';
import { ElevenLabsClient } from '@elevenlabs/elevenlabs-js';
import * as Eleven from '@elevenlabs/elevenlabs-js/serialization/index.js';
import { check, main, sleep } from './lib.mjs';
import { standin } from './standin.mjs';
import { clientEvents, invalid, serverEvents } from './schema.mjs';

const pcm = (ms, rate, hz = 300) => {
  const b = Buffer.alloc((rate * ms) / 1000 * 2);
  for (let i = 0; i < b.length / 2; i += 1) b.writeInt16LE(Math.round(6000 * Math.sin((2 * Math.PI * hz * i) / rate)), i * 2);
  return b;
};

// Events as they come; next(test) waits for one that was not returned yet.
class Inbox {
  constructor() { this.events = []; this.waiting = []; }

  push(e) { this.events.push({ e, taken: false }); this.waiting.forEach((w) => w()); }

  next(test, ms = 5000) {
    const wanted = typeof test === 'string' ? (e) => e.type === test : test;
    return new Promise((resolve, reject) => {
      let look;
      const end = (fn, v) => { clearTimeout(timer); this.waiting = this.waiting.filter((w) => w !== look); fn(v); };
      const timer = setTimeout(() => end(reject, new Error(`not received within ${ms} ms: ${test}; last: ${
        JSON.stringify(this.events.slice(-4).map((x) => x.e)).slice(0, 600)}`)), ms);
      look = () => {
        const found = this.events.find((x) => !x.taken && wanted(x.e));
        if (!found) return;
        found.taken = true;
        end(resolve, found.e);
      };
      this.waiting.push(look);
      look();
    });
  }

  all(type) { return this.events.map((x) => x.e).filter((e) => e.type === type); }
}

// ---- OpenAI ----

const bad = [];
async function openai(port, params, apiKey = 'none') {
  const client = new OpenAI({ apiKey, baseURL: `http://127.0.0.1:${port}/v1` });
  // The client requires wss; this removes TLS again.
  const rt = new OpenAIRealtimeWS({ ...params, options: { createConnection: () => net.connect({ host: '127.0.0.1', port }) } }, client);
  const inbox = new Inbox();
  rt.on('event', (e) => {
    const why = invalid(e, serverEvents);
    if (why && !e.type.startsWith('x.')) bad.push(why);
    inbox.push(e);
  });
  rt.on('error', () => {});
  rt.socket.on('close', (code) => inbox.push({ type: 'socket.close', code }));
  rt.socket.on('error', () => inbox.push({ type: 'socket.error' }));
  return { rt, inbox, send: (e) => rt.send(e), next: (t, ms) => inbox.next(t, ms) };
}
const user = (text) => ({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] } });
const spoken = (done) => done.response.output[0]?.content?.[0]?.transcript;

// A part of an answer takes its place: the next answer follows from that part alone.
async function replaced() {
  const s = await standin('openai', {});
  const c = await openai(s.port, { model: 'gpt-realtime' });
  await c.next('session.created');
  c.send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } });
  c.send(user('repeat one two three four'));
  c.send({ type: 'response.create' });
  const { id } = (await c.next('response.done')).response.output[0];
  c.send(user('[Bob]: hm'));
  c.send({ type: 'conversation.item.create', previous_item_id: id, item: { id: 'heard_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'one two' }] } });
  const put = await c.next((e) => e.type === 'conversation.item.added' && e.item.id === 'heard_1');
  c.send({ type: 'conversation.item.delete', item_id: id });
  c.send(user('what did you say'));
  c.send({ type: 'response.create' });
  const said = (await c.next('response.done')).response.output[0].content[0].text;
  check('openai: what was heard of an answer takes its place', put.previous_item_id === id && said === 'I said: one two', said);
  await s.stop();
}

async function realtime() {
  const s = await standin('openai', { script: 'response 6 call lookup {"city":"Paris"}\nresponse 8 gap 40\ncommit transcript what is the code word' });
  const c = await openai(s.port, { model: 'gpt-realtime' });
  check('openai: the server speaks first', (await c.next('session.created')).session.model === 'gpt-realtime');
  c.send({ type: 'session.update', session: { type: 'realtime', instructions: 'Be short.', audio: { input: { turn_detection: null, transcription: { model: 'whisper-1' } } },
    tools: [{ type: 'function', name: 'lookup', description: 'looks', parameters: { type: 'object' } }] } });
  check('openai: session.update is merged', (await c.next('session.updated')).session.audio.output.voice === 'alloy');

  c.send(user('[Alice]: the code word is swan'));
  await c.next('conversation.item.done');
  c.send(user('[Bob]: what is the code word?'));
  c.send({ type: 'response.create' });
  let done = await c.next('response.done');
  check('openai: answers from what the session received', spoken(done) === 'The code word is swan.', spoken(done));
  const deltas = c.inbox.all('response.output_audio.delta');
  check('openai: with sound, faster than it is heard', deltas.reduce((n, e) => n + Buffer.from(e.delta, 'base64').length, 0) === 5 * 200 * 48);
  await c.next('rate_limits.updated');
  const order = c.inbox.events.map((x) => x.e).filter((e) => e.response_id === done.response.id || e.response?.id === done.response.id ||
    e.item?.id === done.response.output[0].id).map((e) => e.type).filter((t) => !t.endsWith('.delta')).join(' ');
  check('openai: in the documented order', order === ['response.created', 'response.output_item.added', 'conversation.item.added',
    'response.content_part.added', 'response.output_audio.done', 'response.output_audio_transcript.done', 'response.content_part.done',
    'response.output_item.done', 'conversation.item.done', 'response.done'].join(' '), order);

  const item = done.response.output[0].id;
  c.send({ type: 'conversation.item.truncate', item_id: item, content_index: 0, audio_end_ms: 400 });
  check('openai: truncate', (await c.next('conversation.item.truncated')).audio_end_ms === 400);
  c.send({ type: 'conversation.item.truncate', item_id: item, content_index: 0, audio_end_ms: 60000, event_id: 'mine' });
  let { error } = await c.next('error');
  check('openai: truncating beyond the end is an error that names the event', error.param === 'audio_end_ms' && error.event_id === 'mine', error.message);
  c.send({ type: 'conversation.item.retrieve', item_id: item });
  check('openai: retrieve', (await c.next('conversation.item.retrieved')).item.content[0].transcript === '');
  c.send({ type: 'conversation.item.delete', item_id: item });
  check('openai: delete', (await c.next('conversation.item.deleted')).item_id === item);

  c.send({ type: 'input_audio_buffer.append', audio: pcm(50, 24000).toString('base64') });
  c.send({ type: 'input_audio_buffer.commit' });
  check('openai: a commit of 50 ms is refused', (await c.next('error')).error.code === 'input_audio_buffer_commit_empty');
  c.send({ type: 'input_audio_buffer.append', audio: pcm(300, 24000).toString('base64') });
  c.send({ type: 'input_audio_buffer.commit' });
  const committed = await c.next('input_audio_buffer.committed');
  c.send({ type: 'response.create' });
  const heard = await c.next('conversation.item.input_audio_transcription.completed');
  check('openai: speech is transcribed', heard.item_id === committed.item_id && heard.transcript === 'what is the code word', heard.transcript);
  done = await c.next('response.done');
  check('openai: an answer waits for the speech', spoken(done) === 'The code word is swan.', spoken(done));
  check('openai: its usage adds up', done.response.usage.total_tokens === done.response.usage.input_tokens + done.response.usage.output_tokens &&
    done.response.usage.input_token_details.cached_tokens > 0);
  c.send({ type: 'input_audio_buffer.append', audio: '' });
  c.send({ type: 'input_audio_buffer.clear' });
  await c.next('input_audio_buffer.cleared');

  for (const [why, event, code] of [
    ['an unknown event', { type: 'no.such.event' }, 'invalid_value'],
    ['an unknown field', { type: 'session.update', session: { type: 'realtime', temperature: 0.5 } }, 'unknown_parameter'],
    ['the former form', { type: 'session.update', session: { type: 'realtime', turn_detection: null } }, 'unknown_parameter'],
    ['a rate it does not have', { type: 'session.update', session: { type: 'realtime', audio: { input: { format: { type: 'audio/pcm', rate: 16000 } } } } }, 'invalid_value'],
    ['both modalities', { type: 'session.update', session: { type: 'realtime', output_modalities: ['audio', 'text'] } }, 'invalid_value'],
    ['another model', { type: 'session.update', session: { type: 'realtime', model: 'gpt-realtime-2' } }, 'cannot_update_model'],
    ['another voice after it spoke', { type: 'session.update', session: { type: 'realtime', audio: { output: { voice: 'marin' } } } }, 'cannot_update_voice'],
    ['an item of no kind', { type: 'conversation.item.create', item: { type: 'message', role: 'user', content: [{ type: 'output_text', text: 'x' }] } }, 'invalid_value'],
    ['an output without a call', { type: 'conversation.item.create', item: { type: 'function_call_output', call_id: 'call_x', output: '1' } }, 'invalid_tool_call_id'],
    ['an item that is not there', { type: 'conversation.item.delete', item_id: 'item_x' }, 'item_not_found'],
    ['a cancel with nothing active', { type: 'response.cancel' }, 'response_cancel_not_active'],
  ]) {
    c.send(event);
    error = (await c.next('error')).error;
    check(`openai: refuses ${why}`, error.code === code, `${error.code}: ${error.message}`);
  }

  c.send({ type: 'response.create', response: { conversation: 'none', input: [], tools: [], metadata: { turn: '7' }, instructions: 'Say exactly: All is well.' } });
  done = await c.next('response.done');
  check('openai: an exact line, out of band', spoken(done) === 'All is well.' && done.response.metadata.turn === '7' && done.response.conversation_id === null);
  c.send({ type: 'response.create', response: { output_modalities: ['text'], conversation: 'none', input: [user('count to 3').item] } });
  done = await c.next('response.done');
  check('openai: text only, of an input of its own', done.response.output[0].content[0].text === 'one two three.');
  c.send({ type: 'response.create', response: { conversation: 'none', input: [user('what is the code word').item] } });
  check('openai: which knows nothing else', spoken(await c.next('response.done')) === 'Nobody told me the code word.');

  c.send({ type: 'response.create' });
  const call = await c.next('response.function_call_arguments.done');
  done = await c.next('response.done');
  check('openai: a tool call', call.name === 'lookup' && call.arguments === '{"city":"Paris"}' && done.response.output[0].call_id === call.call_id &&
    c.inbox.all('response.function_call_arguments.delta').map((e) => e.delta).join('') === call.arguments);
  c.send({ type: 'conversation.item.create', item: { type: 'function_call_output', call_id: call.call_id, output: 'sunny' } });
  await c.next('conversation.item.done');
  c.send({ type: 'response.create' });
  check('openai: its output is told', spoken(await c.next('response.done')) === 'The tool says sunny.');

  c.send(user('count to 30'));
  c.send({ type: 'response.create' });
  const active = await c.next((e) => e.type === 'response.created' && e.response.id !== done.response.id && !c.inbox.all('response.done').some((d) => d.response.id === e.response.id));
  c.send({ type: 'response.create' });
  check('openai: one response at a time', (await c.next('error')).error.code === 'conversation_already_has_active_response');
  await c.next((e) => e.type === 'response.output_audio.delta' && e.response_id === active.response.id);
  c.send({ type: 'response.cancel', response_id: active.response.id });
  done = await c.next('response.done');
  check('openai: cancel', done.response.status === 'cancelled' && done.response.status_details.reason === 'client_cancelled');
  c.rt.close();
  await sleep(50);
  const sent = s.record().filter((l) => l.what === 'in');
  check('openai: the record holds what the client sent', sent.length > 20 && sent.some((l) => l.event.type === 'response.cancel'));
  check('openai: it ends well', await s.stop() === 0);
}

async function transcription() {
  const s = await standin('openai', { script: 'commit 1 transcript good morning\ncommit 2 fail audio_unintelligible nothing to hear' });
  const c = await openai(s.port, { intent: 'transcription' });
  check('transcription: a session of its own', (await c.next('session.created')).session.type === 'transcription');
  c.send({ type: 'session.update', session: { type: 'transcription', audio: { input: { turn_detection: null, transcription: { model: 'gpt-4o-transcribe' } } },
    include: ['item.input_audio_transcription.logprobs'] } });
  await c.next('session.updated');
  c.send({ type: 'input_audio_buffer.append', audio: pcm(500, 24000).toString('base64') });
  c.send({ type: 'input_audio_buffer.commit' });
  const heard = await c.next('conversation.item.input_audio_transcription.completed');
  check('transcription: words with logprobs', heard.transcript === 'good morning' && heard.logprobs.length === 2);
  check('transcription: and deltas before', c.inbox.all('conversation.item.input_audio_transcription.delta').map((e) => e.delta).join('') === 'good morning');
  c.send({ type: 'input_audio_buffer.append', audio: pcm(500, 24000).toString('base64') });
  c.send({ type: 'input_audio_buffer.commit' });
  check('transcription: a failure', (await c.next('conversation.item.input_audio_transcription.failed')).error.code === 'audio_unintelligible');
  c.send({ type: 'response.create' });
  check('transcription: no responses there', (await c.next('error')).error.type === 'invalid_request_error');
  c.rt.close();
  await s.stop();
}

async function turnDetection() {
  const s = await standin('openai', { script: 'commit transcript count to 30\nresponse gap 30' });
  const c = await openai(s.port, { model: 'gpt-realtime' });
  await c.next('session.created');
  const say = () => {
    for (let i = 0; i < 10; i += 1) c.send({ type: 'input_audio_buffer.append', audio: pcm(100, 24000).toString('base64') });
    c.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(48 * 700).toString('base64') });
  };
  say();
  const started = await c.next('input_audio_buffer.speech_started');
  const stopped = await c.next('input_audio_buffer.speech_stopped');
  check('turn detection: finds speech', stopped.audio_end_ms - started.audio_start_ms > 900 &&
    (await c.next('input_audio_buffer.committed')).item_id === started.item_id);
  await c.next('response.output_audio.delta');
  say();
  check('turn detection: speech interrupts the answer', (await c.next('response.done')).response.status_details.reason === 'turn_detected');
  c.rt.close();
  await s.stop();
}

async function faults() {
  const s = await standin('openai', { key: 'the-right-key', script: [
    'open 1 extra', 'open 1 split 7', 'update 1 split 1000000', 'update 1 huge 15000000', 'update 2 bytes 7b 22 ff fe', 'response 1 error rate_limit_exceeded Slow down.',
    'response 2 fail insufficient_quota You exceeded your quota.', 'response 3 gap 20', 'response 3 late 2', 'response 4 gap 10', 'response 4 audio 3 abort',
    'connect 3 status 429 Too many requests', 'connect 4 silent', 'at 1500 expire',
  ].join('\n') });
  const wrong = await openai(s.port, { model: 'gpt-realtime' }, 'another-key');
  check('faults: a wrong key is refused', (await wrong.next((e) => e.type.startsWith('socket.'))).type.startsWith('socket.'));
  // The client refuses text that is no UTF-8.
  const c = await openai(s.port, { model: 'gpt-realtime' }, 'the-right-key');
  check('faults: split frames are joined', (await c.next('session.created')).session.object === 'realtime.session');
  check('faults: an unknown event', (await c.next('x.unknown.event')).type === 'x.unknown.event');
  const update = { type: 'session.update', session: { type: 'realtime', instructions: 'x' } };
  c.send(update);
  check('faults: an event of 15 MB', (await c.next('x.huge', 20000)).filler.length > 14000000);
  c.send(update);
  check('faults: bytes that are no UTF-8', (await c.next('socket.close')).code !== 1000);
  const limited = await openai(s.port, { model: 'gpt-realtime' }, 'the-right-key');
  await limited.next((e) => e.type.startsWith('socket.'));
  check('faults: a refusal of the third connection', s.record().some((l) => l.what === 'status' && l.text === '429'));
  const never = net.connect(s.port, '127.0.0.1');
  never.write('GET /v1/realtime?model=x HTTP/1.1\r\nHost: x\r\n\r\n');
  let got = 0;
  never.on('data', () => { got += 1; });
  await sleep(300);
  check('faults: a connection that is accepted and never answered', got === 0);
  never.destroy();

  const d = await openai(s.port, { model: 'gpt-realtime' }, 'the-right-key');
  await d.next('session.created');
  d.send(user('count to 20'));
  d.send({ type: 'response.create' });
  check('faults: an error instead of a response', (await d.next('error')).error.code === 'rate_limit_exceeded');
  d.send({ type: 'response.create' });
  const failed = await d.next('response.done');
  check('faults: a response that fails', failed.response.status === 'failed' && failed.response.status_details.error.code === 'insufficient_quota');
  d.send({ type: 'response.create' });
  await d.next('response.output_audio.delta');
  d.send({ type: 'response.cancel' });
  const end = await d.next((e) => e.type === 'response.done' && e.response.status === 'cancelled');
  await sleep(200);
  const after = d.inbox.events.slice(d.inbox.events.findIndex((x) => x.e === end));
  const late = after.filter((x) => x.e.type === 'response.output_audio.delta' && x.e.response_id === end.response.id).length;
  check('faults: two deltas after the cut', late === 2, late);
  d.send({ type: 'response.create' });
  check('faults: reset in the middle of a word', (await d.next('socket.close')).code === 1006);
  const e = await openai(s.port, { model: 'gpt-realtime' }, 'the-right-key');
  check('faults: the session expires', (await e.next((x) => x.error?.code === 'session_expired')).type === 'error' && (await e.next('socket.close')).code === 1001);
  await s.stop();
}

async function agents() {
  const s = await standin('openai', { script: 'response 2 call weather {"city":"Paris"}\nresponse 4 gap 50' });
  const asked = [];
  const weather = tool({ name: 'weather', description: 'weather', strict: false,
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: [], additionalProperties: true },
    execute: async (args) => { asked.push(args); return 'raining'; } });
  const agent = new RealtimeAgent({ name: 'a', instructions: 'Help.', tools: [weather] });
  const transport = new OpenAIRealtimeWebSocket({ url: `ws://127.0.0.1:${s.port}/v1/realtime?model=gpt-realtime`, useInsecureApiKey: true });
  const session = new RealtimeSession(agent, { transport, model: 'gpt-realtime', tracingDisabled: true });
  const inbox = new Inbox();
  transport.on('*', (e) => inbox.push(e));
  session.on('audio', () => inbox.push({ type: 'sdk.audio' }));
  session.on('error', (e) => inbox.push({ type: 'sdk.error', e }));
  await session.connect({ apiKey: 'none' });
  await inbox.next('session.updated');
  session.sendMessage('the code word is heron');
  await inbox.next('sdk.audio');
  await inbox.next('response.done');
  session.sendMessage('what is the weather');
  await inbox.next('response.done');
  const told = await inbox.next('response.done');
  check('agents: runs a tool and hears of it', asked[0]?.city === 'Paris' && spoken(told) === 'The tool says raining.', spoken(told));
  session.sendMessage('count to 40');
  await inbox.next((e) => e.type === 'response.created' && e.response.id !== told.response.id && !inbox.all('response.done').some((d) => d.response.id === e.response.id));
  await sleep(300);
  session.interrupt();
  check('agents: an interruption cancels', (await inbox.next('response.done')).response.status === 'cancelled');
  await inbox.next('conversation.item.truncated');
  check('agents: and truncates', true);
  check('agents: no error', !inbox.all('error').length, JSON.stringify(inbox.all('error').map((e) => e.error)).slice(0, 300));
  session.close();
  await s.stop();
}

// ---- the former form, and xAI, by socket: there is no client of theirs ----

async function raw(url, headers = {}) {
  const ws = new WebSocket(url, { headers });
  const inbox = new Inbox();
  ws.on('message', (data, binary) => {
    let e;
    try { e = JSON.parse(data); } catch { e = { type: 'binary', data }; }
    inbox.push(binary && e.type === 'binary' ? e : { ...e, binary });
  });
  ws.on('close', (code, reason) => inbox.push({ type: 'close', code, reason: String(reason) }));
  ws.on('error', () => {});
  await once(ws, 'open');
  return { ws, inbox, send: (e) => ws.send(Buffer.isBuffer(e) ? e : JSON.stringify(e)), next: (t, ms) => inbox.next(t, ms) };
}

async function beta() {
  const s = await standin('openai');
  const c = await raw(`ws://127.0.0.1:${s.port}/v1/realtime?model=x`, { 'OpenAI-Beta': 'realtime=v1' });
  check('beta: a flat session', Array.isArray((await c.next('session.created')).session.modalities));
  c.send({ type: 'session.update', session: { modalities: ['audio', 'text'], voice: 'ash', turn_detection: null, input_audio_format: 'pcm16', temperature: 0.8 } });
  check('beta: is updated', (await c.next('session.updated')).session.voice === 'ash');
  c.send(user('the code word is crane'));
  await c.next('conversation.item.created');
  c.send(user('what is the code word'));
  c.send({ type: 'response.create', response: { modalities: ['audio', 'text'] } });
  await c.next('response.audio.delta');
  check('beta: the former names', (await c.next('response.audio_transcript.done')).transcript === 'The code word is crane.' &&
    (await c.next('response.done')).response.status === 'completed' && !c.inbox.all('conversation.item.added').length);
  c.send({ type: 'session.update', session: { type: 'realtime' } });
  check('beta: the new form is refused', (await c.next('error')).error.code === 'unknown_parameter');
  c.ws.close();
  await s.stop();
}

async function xai() {
  const s = await standin('xai', { script: 'commit transcript what is the code word' });
  const c = await raw(`ws://127.0.0.1:${s.port}/v1/realtime?model=grok-voice-latest`);
  await c.next('conversation.created');
  check('xai: begins with its conversation', (await c.next('session.created')).session.voice === 'eve' && (await c.next('ping')).timestamp > 0);
  c.send({ type: 'session.update', session: { type: 'realtime' } });
  check('xai: a session has no type', (await c.next('error')).error.param === 'session.type');
  c.send({ type: 'session.update', session: { voice: 'rex', turn_detection: null, audio: { input: { format: { type: 'audio/pcm', rate: 48000 }, transport: 'binary',
    transcription: { model: 'grok-transcribe' } }, output: { format: { type: 'audio/pcm', rate: 48000 }, transport: 'binary' } } } });
  await c.next('session.updated');
  c.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'the code word is stork' }] } });
  c.send(pcm(400, 48000));
  c.send({ type: 'input_audio_buffer.commit' });
  c.send({ type: 'response.create', response: { modalities: ['text', 'audio'] } });
  check('xai: cumulative interim transcripts', (await c.next('conversation.item.input_audio_transcription.completed')).transcript === 'what is the code word' &&
    c.inbox.all('conversation.item.input_audio_transcription.updated').at(-1).transcript === 'what is the code word');
  const sound = await c.next('binary');
  check('xai: sound in binary messages', sound.data.length === 9600, sound.data.length);
  const done = await c.next('response.done');
  check('xai: the usage is beside the response', done.usage.total_tokens > 0 && spoken(done) === 'The code word is stork.', spoken(done));
  c.send({ type: 'conversation.item.create', item: { type: 'force_message', role: 'assistant', content: [{ type: 'text', text: 'This is said word for word.' }] } });
  check('xai: a forced message', spoken(await c.next('response.done')) === 'This is said word for word.');
  c.send({ type: 'response.cancel' });
  check('xai: other error codes', (await c.next('error')).error.code === 'invalid_request');
  c.ws.close();
  await s.stop();
}

// ---- Gemini ----

async function live(port, config = {}, apiKey = 'none') {
  const ai = new GoogleGenAI({ apiKey, httpOptions: { baseUrl: `http://127.0.0.1:${port}` } });
  const inbox = new Inbox();
  const session = await ai.live.connect({ model: 'gemini-live', config: { responseModalities: [Modality.AUDIO], outputAudioTranscription: {}, inputAudioTranscription: {}, ...config },
    callbacks: { onopen() {}, onmessage: (m) => inbox.push(m), onerror() {}, onclose: (e) => inbox.push({ type: 'close', code: e.code, reason: e.reason }) } });
  return { session, inbox, next: (t, ms) => inbox.next(t, ms) };
}
const manual = { realtimeInputConfig: { automaticActivityDetection: { disabled: true } } };
const text = (inbox, from) => inbox.events.slice(from).map((x) => x.e.serverContent?.outputTranscription?.text ?? '').join('');

async function gemini() {
  const s = await standin('gemini', { script: 'commit 1 transcript the code word is ibis\ncommit 2 transcript what is the code word\nresponse 3 gap 40\nresponse 4 call lookup {"a":1}' });
  const c = await live(s.port, { ...manual, sessionResumption: {}, tools: [{ functionDeclarations: [{ name: 'lookup', description: 'x', parametersJsonSchema: { type: 'object' } }] }] });
  check('gemini: connects after setupComplete', c.inbox.events.some((x) => x.e.setupComplete));
  const say = () => {
    c.session.sendRealtimeInput({ activityStart: {} });
    c.session.sendRealtimeInput({ audio: { data: pcm(400, 16000).toString('base64'), mimeType: 'audio/pcm;rate=16000' } });
    c.session.sendRealtimeInput({ activityEnd: {} });
  };
  say();
  check('gemini: hears speech', (await c.next((m) => m.serverContent?.inputTranscription)).serverContent.inputTranscription.text === 'the code word is ibis');
  const audio = await c.next((m) => m.serverContent?.modelTurn);
  check('gemini: answers with sound', audio.serverContent.modelTurn.parts[0].inlineData.mimeType === 'audio/pcm;rate=24000');
  const turn = await c.next((m) => m.serverContent?.turnComplete);
  check('gemini: with usage at the end', turn.usageMetadata.totalTokenCount > 0);
  const handle = (await c.next((m) => m.sessionResumptionUpdate)).sessionResumptionUpdate.newHandle;
  let from = c.inbox.events.length;
  say();
  await c.next((m) => m.serverContent?.turnComplete);
  check('gemini: answers from what the session received', text(c.inbox, from) === 'The code word is ibis.', text(c.inbox, from));
  from = c.inbox.events.length;
  c.session.sendClientContent({ turns: [{ role: 'user', parts: [{ text: 'count to 30' }] }], turnComplete: true });
  await c.next((m) => m.serverContent?.modelTurn && c.inbox.events.length > from + 2);
  c.session.sendRealtimeInput({ activityStart: {} });
  await c.next((m) => m.serverContent?.interrupted);
  await c.next((m) => m.serverContent?.turnComplete);
  check('gemini: an interrupted turn has no generationComplete', !c.inbox.events.slice(from).some((x) => x.e.serverContent?.generationComplete));
  c.session.sendClientContent({ turns: [{ role: 'user', parts: [{ text: 'look' }] }], turnComplete: true });
  const call = (await c.next((m) => m.toolCall)).toolCall.functionCalls[0];
  from = c.inbox.events.length;
  c.session.sendToolResponse({ functionResponses: [{ id: call.id, name: call.name, response: { output: 'blue' } }] });
  await c.next((m) => m.serverContent?.turnComplete);
  check('gemini: a tool call and its response', text(c.inbox, from) === 'The tool says blue.', text(c.inbox, from));
  c.session.close();

  const again = await live(s.port, { ...manual, sessionResumption: { handle } });
  again.session.sendClientContent({ turns: [{ role: 'user', parts: [{ text: 'what is the code word' }] }], turnComplete: true });
  await again.next((m) => m.serverContent?.turnComplete);
  check('gemini: a handle brings the session back', text(again.inbox, 0) === 'The code word is ibis.', text(again.inbox, 0));
  again.session.close();
  const other = await live(s.port, manual);
  other.session.sendClientContent({ turns: [{ role: 'user', parts: [{ text: 'what is the code word' }] }], turnComplete: true });
  await other.next((m) => m.serverContent?.turnComplete);
  check('gemini: another session knows nothing', text(other.inbox, 0) === 'Nobody told me the code word.', text(other.inbox, 0));
  other.session.close();
  await s.stop();
}

async function geminiFaults() {
  const s = await standin('gemini', { script: 'at 300 goaway 300\nresponse 1 call slow {}' });
  const c = await live(s.port, { tools: [{ functionDeclarations: [{ name: 'slow' }] }] });
  c.session.sendClientContent({ turns: [{ role: 'user', parts: [{ text: 'do it' }] }], turnComplete: true });
  const id = (await c.next((m) => m.toolCall)).toolCall.functionCalls[0].id;
  c.session.sendClientContent({ turns: [{ role: 'user', parts: [{ text: 'stop' }] }], turnComplete: true });
  check('gemini: an interruption revokes a tool call', (await c.next((m) => m.toolCallCancellation)).toolCallCancellation.ids[0] === id);
  check('gemini: goAway before the end', (await c.next((m) => m.goAway)).goAway.timeLeft === '0.300s' && (await c.next('close')).code === 1001);
  for (const [why, message] of [
    ['a field it does not know', { setup: { model: 'models/x', voice: 'Kore' } }],
    ['two members at once', { setup: { model: 'models/x' }, clientContent: {} }],
    ['content before setup', { clientContent: { turnComplete: true } }],
  ]) {
    const r = await raw(`ws://127.0.0.1:${s.port}//ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent?key=x`);
    r.send(message);
    const end = await r.next('close');
    check(`gemini: refuses ${why}`, end.code === 1007, end.reason);
  }
  const auto = await live(s.port);
  auto.session.sendRealtimeInput({ activityStart: {} });
  check('gemini: refuses activityStart beside its own detection', (await auto.next('close')).code === 1007);
  await s.stop();
}

// ---- ElevenLabs ----

const shape = async (name, message) => {
  try { await Eleven[name].parseOrThrow(message, { unrecognizedObjectKeys: 'fail' }); return ''; } catch (e) { return JSON.stringify(e.errors ?? e.message).slice(0, 200); }
};

async function elevenSpeech() {
  const s = await standin('elevenlabs', { script: 'response 1 gap 5\nresponse 4 gap 50', key: 'k-eleven' });
  const base = `ws://127.0.0.1:${s.port}/v1/text-to-speech/voice1`;
  const keyed = { 'xi-api-key': 'k-eleven' };
  let c = await raw(`${base}/stream-input?model_id=eleven_flash_v2_5&output_format=pcm_24000`, keyed);
  c.send({ text: ' ', voice_settings: { stability: 0.5, similarity_boost: 0.8 }, generation_config: { chunk_length_schedule: [50, 90] } });
  c.send({ text: 'Hello there ' });
  c.send({ text: '' });
  const first = await c.next((m) => m.audio);
  check('elevenlabs: sound with alignment', first.alignment.chars.length > 0 && first.isFinal === null && Buffer.from(first.audio, 'base64').length === 4800);
  check('elevenlabs: as its serializers want it', await shape('AudioOutput', { audio: first.audio, alignment: first.alignment, normalizedAlignment: first.normalizedAlignment }) === '');
  await c.next((m) => m.isFinal === true);
  check('elevenlabs: the end closes the socket', (await c.next('close')).code === 1000);
  c = await raw(`${base}/stream-input?output_format=pcm_24000`, keyed);
  c.send({ text: 'no space first' });
  check('elevenlabs: the first text is a space', (await c.next((m) => m.error)).error === 'invalid_input_message' && (await c.next('close')).code === 1008);
  c = await raw(`${base}/stream-input?output_format=pcm_24000`);
  c.send({ text: ' ' });
  check('elevenlabs: a key is needed', (await c.next((m) => m.error)).error === 'authentication_required');
  c = await raw(`${base}/stream-input?output_format=pcm_24000&inactivity_timeout=1`, keyed);
  c.send({ text: ' ' });
  check('elevenlabs: an idle socket is closed', (await c.next('close')).reason.includes('within the timeout of 1 seconds'));

  c = await raw(`${base}/multi-stream-input?output_format=pcm_24000`, keyed);
  c.send({ text: ' ', context_id: 'a' });
  c.send({ text: 'First line. ', context_id: 'a', flush: true });
  c.send({ text: 'Second line. ', context_id: 'b', flush: true });
  const multi = await c.next((m) => m.audio && m.contextId === 'b');
  check('elevenlabs: contexts side by side', (await c.next((m) => m.audio && m.contextId === 'a')).contextId === 'a' && multi.contextId === 'b');
  c.send({ text: 'A long line that is cut off before it has been said to the end. ', context_id: 'c', flush: true });
  await c.next((m) => m.audio && m.contextId === 'c');
  c.send({ context_id: 'c', close_context: true });
  await c.next((m) => m.isFinal && m.contextId === 'c');
  const cut = c.inbox.events.filter((x) => x.e.contextId === 'c' && x.e.audio).length;
  await sleep(200);
  check('elevenlabs: a closed context is silent', c.inbox.events.filter((x) => x.e.contextId === 'c' && x.e.audio).length === cut && cut < 10, cut);
  for (const id of ['d', 'e', 'f', 'g']) c.send({ text: 'x ', context_id: id });
  check('elevenlabs: a sixth context is refused', (await c.next((m) => m.error)).error === 'max_active_conversations' && (await c.next('close')).code === 1008);
  c = await raw(`${base}/multi-stream-input?output_format=pcm_24000`, keyed);
  c.send({ text: 'None of it. ', context_id: 'q', flush: true });
  c.send({ context_id: 'q', close_context: true });
  await c.next((m) => m.isFinal && m.contextId === 'q');
  const said = () => c.inbox.events.filter((x) => x.e.contextId === 'q' && x.e.audio).length;
  const before = said(); // the first sound may be on its way when the close comes
  await sleep(200);
  check('elevenlabs: a context that is closed behind its flush says nothing more', said() === before, before);
  c.send({ context_id: 'q', close_context: true });
  check('elevenlabs: a closed context cannot be closed', (await c.next((m) => m.error)).error === 'invalid_input_message' && (await c.next('close')).code === 1008);
  await s.stop();
}

async function elevenClient() {
  const s = await standin('elevenlabs', { script: 'commit transcript hello there' });
  const client = new ElevenLabsClient({ apiKey: 'none', baseUrl: `http://127.0.0.1:${s.port}` });
  const stream = await client.textToSpeech.stream('voice1', { text: 'Hello there friend', modelId: 'eleven_flash_v2_5', outputFormat: 'pcm_24000' });
  let n = 0;
  for await (const part of stream) n += part.length;
  check('elevenlabs: speech by request', n === 3 * 200 * 48, n);
  const wav = Buffer.concat([Buffer.from('RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data\0\0\0\0', 'latin1'), pcm(500, 16000)]);
  wav.writeUInt32LE(wav.length - 44, 40);
  const heard = await client.speechToText.convert({ modelId: 'scribe_v2', file: new Blob([wav], { type: 'audio/wav' }) });
  check('elevenlabs: a file is transcribed', heard.text === 'hello there', heard.text);

  const rt = await client.speechToText.realtime.connect({ modelId: 'scribe_v2_realtime', audioFormat: 'pcm_16000', sampleRate: 16000, commitStrategy: 'manual' });
  const inbox = new Inbox();
  rt.on('session_started', (m) => inbox.push({ type: 'started', m }));
  rt.on('partial_transcript', (m) => inbox.push({ type: 'partial', m }));
  rt.on('committed_transcript', (m) => inbox.push({ type: 'committed', m }));
  rt.on('error', (m) => inbox.push({ type: 'error', m }));
  await inbox.next('started');
  for (let i = 0; i < 5; i += 1) rt.send({ audioBase64: pcm(100, 16000).toString('base64') });
  rt.commit();
  check('elevenlabs: Scribe by socket', (await inbox.next('committed')).m.text === 'hello there' && (await inbox.next('partial')).m.text === 'hello there');
  rt.close();
  const c = await raw(`ws://127.0.0.1:${s.port}/v1/speech-to-text/realtime?model_id=scribe_v2_realtime&audio_format=pcm_16000&commit_strategy=manual`);
  await c.next((m) => m.message_type === 'session_started');
  c.send({ message_type: 'input_audio_chunk', audio_base_64: pcm(100, 16000).toString('base64'), commit: true, sample_rate: 16000 });
  check('elevenlabs: a commit of 100 ms is too short', (await c.next((m) => m.error)).message_type === 'insufficient_audio_activity');
  c.send({ message_type: 'input_audio_chunk', audio_base_64: '', commit: false, sample_rate: 16000, format: 'x' });
  check('elevenlabs: an unknown field is refused', (await c.next((m) => m.error)).message_type === 'input_error');
  c.ws.close();
  await s.stop();
}

const parts = { realtime, replaced, transcription, turnDetection, faults, agents, beta, xai, gemini, geminiFaults, elevenSpeech, elevenClient };
await main(async () => {
  const chosen = process.argv.slice(2);
  for (const [name, part] of Object.entries(parts)) {
    if (chosen.length && !chosen.includes(name)) continue;
    try { await part(); } catch (e) { check(`${name} runs to its end`, false, e?.stack ?? e); }
  }
  check('every event of the stand-in is as the published schema says', bad.length === 0, bad.slice(0, 5).join('\n'));
  check('the schemas were found', Object.keys(serverEvents).length > 40 && Object.keys(clientEvents).length > 10);
}, 120000);
