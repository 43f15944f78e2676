// The official openai client against offlined: a voice session, a transcription session, cancel, truncate and errors.
// Validates every event of offlined against the published schema.
import { spawn } from 'node:child_process';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { check, main } from './lib.mjs';
import { invalid, serverEvents } from './schema.mjs';

const bin = process.env.BIN ?? '../../build';
const dir = mkdtempSync(join(tmpdir(), 'offlined-'));

const bad = [];
const seen = new Set();
const ids = new Set();
function validate(event) {
  seen.add(event.type);
  if (ids.has(event.event_id)) bad.push(`${event.type}: event_id ${event.event_id} came twice`);
  ids.add(event.event_id);
  const why = invalid(event, serverEvents);
  if (why) bad.push(why);
}

// A client with a list of received events; wait(type) returns the next event of that type that was not returned yet.
function connect(port, params) {
  const client = new OpenAI({ apiKey: 'none', baseURL: `http://127.0.0.1:${port}/v1` });
  // The client requires wss; this removes TLS again.
  const rt = new OpenAIRealtimeWS({ ...params, options: { createConnection: () => net.connect({ host: '127.0.0.1', port }) } }, client);
  const events = [];
  const waiting = [];
  rt.on('event', (e) => {
    validate(e);
    events.push(e);
    for (const w of [...waiting]) w();
  });
  rt.on('error', () => {});
  rt.wait = (type, ms = 20000) => new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no ${type} within ${ms} ms; last: ${events.slice(-4).map((e) => e.type)}`)), ms);
    const look = () => {
      const i = events.findIndex((e) => e.type === type && !e.taken);
      if (i < 0) return false;
      events[i].taken = true;
      clearTimeout(timer);
      waiting.splice(waiting.indexOf(look), 1);
      resolve(events[i]);
      return true;
    };
    waiting.push(look);
    look();
  });
  rt.forget = () => events.forEach((e) => { e.taken = true; });
  rt.events = events;
  return rt;
}

function speech(text, voice) {
  const file = join(dir, 'q.wav');
  execFileSync(join(bin, 'offlined'), ['--speak', text, '--voice', voice, '-o', file]);
  return readFileSync(file).subarray(44);
}

function append(rt, pcm) {
  for (let i = 0; i < pcm.length; i += 9600)
    rt.send({ type: 'input_audio_buffer.append', audio: pcm.subarray(i, i + 9600).toString('base64') });
}

const user = (text) => ({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] } });

async function voiceSession(port) {
  const rt = connect(port, { model: 'offline' });
  const created = await rt.wait('session.created');
  check('the server speaks first', created.session.type === 'realtime' && created.session.model === 'offline');
  rt.send({
    type: 'session.update', session: {
      type: 'realtime', instructions: 'people in the room: Alice, Bob',
      audio: { input: { turn_detection: null, transcription: { model: 'offline' } } },
    },
  });
  const updated = await rt.wait('session.updated');
  check('session.updated tells the whole configuration', updated.session.audio.input.turn_detection === null &&
    updated.session.audio.output.voice === 'slt' && updated.session.id === created.session.id);

  rt.send(user('[Alice]: who is in the room?'));
  await rt.wait('conversation.item.done');
  rt.send({ type: 'response.create' });
  let done = await rt.wait('response.done');
  const said = done.response.output[0]?.content[0]?.transcript;
  check('a text item is answered by voice', done.response.status === 'completed' && said === 'In the room are Alice and Bob.', said);
  const audio = rt.events.filter((e) => e.type === 'response.output_audio.delta' && e.response_id === done.response.id);
  const bytes = audio.reduce((n, e) => n + Buffer.from(e.delta, 'base64').length, 0);
  check('with sound', bytes > 48000, `${bytes / 48} ms`);
  const order = rt.events.filter((e) => e.response_id === done.response.id || e.response?.id === done.response.id ||
    e.item?.id === done.response.output[0].id).map((e) => e.type).filter((t, i, a) => t !== a[i - 1]);
  const fixed = order.filter((t) => !t.endsWith('.delta')).join(' ');
  check('in the documented order', fixed === ['response.created', 'response.output_item.added', 'conversation.item.added',
    'response.content_part.added', 'response.output_audio.done', 'response.output_audio_transcript.done',
    'response.content_part.done', 'response.output_item.done', 'conversation.item.done', 'response.done'].join(' '), fixed);
  check('the usage adds up', done.response.usage.total_tokens === done.response.usage.input_tokens + done.response.usage.output_tokens &&
    done.response.usage.output_token_details.audio_tokens > 0);
  check('the intent is told', done.response.metadata.intent === 'who');

  const item = done.response.output[0].id;
  rt.send({ type: 'conversation.item.truncate', item_id: item, content_index: 0, audio_end_ms: 500 });
  check('truncate', (await rt.wait('conversation.item.truncated')).audio_end_ms === 500);
  rt.send({ type: 'conversation.item.truncate', item_id: item, content_index: 0, audio_end_ms: 99999999, event_id: 'mine_1' });
  let error = (await rt.wait('error')).error;
  check('truncating beyond the end is an error', error.param === 'audio_end_ms' && error.event_id === 'mine_1', error.message);
  rt.send({ type: 'conversation.item.retrieve', item_id: item });
  check('its words are gone', (await rt.wait('conversation.item.retrieved')).item.content[0].transcript === '');
  rt.send({ type: 'conversation.item.delete', item_id: item });
  check('delete', (await rt.wait('conversation.item.deleted')).item_id === item);

  const began = Date.now();
  append(rt, speech('What is seven times eight?', 'rms'));
  rt.send({ type: 'input_audio_buffer.commit' });
  const committed = await rt.wait('input_audio_buffer.committed');
  rt.send({ type: 'response.create' });
  const heard = await rt.wait('conversation.item.input_audio_transcription.completed');
  check('speech is understood', heard.transcript === 'what is seven times eight' && heard.item_id === committed.item_id, heard.transcript);
  done = await rt.wait('response.done');
  check('and answered', done.response.output[0].content[0].transcript === 'Seven times eight is fifty six.', `${Date.now() - began} ms`);

  rt.send({ type: 'input_audio_buffer.commit', event_id: 'mine_2' });
  error = (await rt.wait('error')).error;
  check('an empty commit is an error', error.code === 'input_audio_buffer_commit_empty' && error.event_id === 'mine_2');
  rt.send({ type: 'response.cancel' });
  check('nothing to cancel is an error', (await rt.wait('error')).error.code === 'response_cancel_not_active');
  append(rt, Buffer.alloc(9600));
  rt.send({ type: 'input_audio_buffer.clear' });
  await rt.wait('input_audio_buffer.cleared');
  rt.send({ type: 'no.such.event' });
  check('an unknown event is an error', (await rt.wait('error')).error.code === 'invalid_value');
  rt.send({ type: 'session.update', session: { type: 'realtime', audio: { output: { voice: 'rms' } } } });
  check('the voice is fixed once it spoke', (await rt.wait('error')).error.code === 'cannot_update_voice');

  rt.forget();
  rt.send(user('what can you do'));
  rt.send({ type: 'response.create' });
  const active = await rt.wait('response.created');
  rt.send({ type: 'response.create' });
  check('one response at a time', (await rt.wait('error')).error.code === 'conversation_already_has_active_response');
  rt.send({ type: 'response.cancel', response_id: active.response.id });
  done = await rt.wait('response.done');
  check('cancel', done.response.status === 'cancelled' && done.response.status_details.reason === 'client_cancelled');

  rt.send({
    type: 'response.create', response: {
      conversation: 'none', input: [], tools: [], metadata: { turn: '7' }, instructions: 'say exactly: All is well.',
    },
  });
  done = await rt.wait('response.done');
  check('an exact line, out of band', done.response.output[0].content[0].transcript === 'All is well.' &&
    done.response.metadata.turn === '7' && done.response.conversation_id === null);
  rt.send({ type: 'response.create', response: { output_modalities: ['text'], conversation: 'none', input: [user('what is two plus two').item] } });
  done = await rt.wait('response.done');
  check('text only', done.response.output[0].content[0].text === 'Two plus two is four.');
  rt.close();
}

async function turnDetection(port) {
  const rt = connect(port, { model: 'offline' });
  await rt.wait('session.created');
  rt.send({ type: 'session.update', session: { type: 'realtime', audio: { input: { transcription: { model: 'offline' } } } } });
  await rt.wait('session.updated');
  append(rt, Buffer.concat([Buffer.alloc(24000), speech('Tell me a joke.', 'slt'), Buffer.alloc(48000)]));
  const started = await rt.wait('input_audio_buffer.speech_started');
  const stopped = await rt.wait('input_audio_buffer.speech_stopped');
  const committed = await rt.wait('input_audio_buffer.committed');
  check('the server finds the speech by itself', started.item_id === committed.item_id && stopped.audio_end_ms > started.audio_start_ms + 500,
    `${started.audio_start_ms} … ${stopped.audio_end_ms} ms`);
  const done = await rt.wait('response.done');
  check('and answers by itself', done.response.metadata.intent === 'joke');
  rt.close();
}

async function transcriptionSession(port) {
  const rt = connect(port, { intent: 'transcription' });
  const created = await rt.wait('session.created');
  check('a transcription session', created.session.type === 'transcription');
  rt.send({ type: 'session.update', session: { type: 'transcription', audio: { input: { turn_detection: null } } } });
  await rt.wait('session.updated');
  append(rt, speech('the weather in london is dreadful', 'slt'));
  rt.send({ type: 'input_audio_buffer.commit' });
  const heard = await rt.wait('conversation.item.input_audio_transcription.completed');
  check('what is not for it is written down all the same', heard.transcript === 'the weather in london is dreadful', heard.transcript);
  check('with a delta before', rt.events.some((e) => e.type === 'conversation.item.input_audio_transcription.delta'));
  rt.send({ type: 'response.create' });
  check('no responses there', (await rt.wait('error')).error.type === 'invalid_request_error');
  rt.close();
}

await main(async () => {
  const offlined = spawn(join(bin, 'offlined'), ['--listen', '127.0.0.1:0', '--log', 'warn', '--record', join(dir, 'record')],
    { stdio: ['ignore', 'pipe', 'inherit'] });
  process.on('exit', () => { offlined.kill('SIGKILL'); rmSync(dir, { recursive: true, force: true }); });
  const [line] = await once(offlined.stdout, 'data');
  const port = Number(new URL(JSON.parse(line).url).port);
  await voiceSession(port);
  await turnDetection(port);
  await transcriptionSession(port);
  const record = readFileSync(join(dir, 'record', 'events.jsonl'), 'utf8').trim().split('\n').map((l) => JSON.parse(l));
  check('the record holds what was heard and said', record.some((r) => r.kind === 'heard' && r.text === 'what is seven times eight') &&
    record.some((r) => r.kind === 'said' && r.text === 'Seven times eight is fifty six.' && readFileSync(join(dir, 'record', r.wav)).length > 48000));
  offlined.kill('SIGTERM');
  const [code] = await once(offlined, 'exit');
  check('offlined ends well', code === 0, code);
  check(`all ${ids.size} events are as the schema says`, bad.length === 0, bad.slice(0, 5).join('\n'));
  check('the common events were seen', seen.size >= 27, seen.size);
}, 120000);
