// The wires of control against the providers' own descriptions, and a table of every event type of each dialect.
//
//   - every event that a dialect of control can send (build/tests/wire) validates against the published schemas, and no stand-in
//     finds a field in it that it does not know;
//   - every published server event, the examples and one made from each schema, is understood;
//   - the same of requests to text models, files and sessions of speech-to-text (exchanges.mjs);
//   - the conversations of make demo with each provider's stand-in: what control really sent, validated too.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import WebSocket from 'ws';
import * as Eleven from '@elevenlabs/elevenlabs-js/serialization/index.js';
import { check, main, sleep } from './lib.mjs';
import { standin } from './standin.mjs';
import { clientEvents, invalid, sample, samples, serverEvents, unlike } from './schema.mjs';
import { askStandin, declared, formOf, hearStandin, realtimeNames, receivedNames, sentNames, sse, transcribeStandin, understood, wireOf } from './exchanges.mjs';

const bin = resolve(process.env.BIN ?? '../../build');
const wire = join(bin, 'tests/wire');
const lines = (text) => text.split('\n').filter(Boolean).map((l) => JSON.parse(l));
const dir = mkdtempSync(join(tmpdir(), 'events-'));
process.on('exit', () => rmSync(dir, { recursive: true, force: true }));

// The name of an event; of Gemini's messages, which have none, their members.
const divided = ['realtimeInput', 'serverContent'];
function namesOf(e) {
  if (e.type) return [e.type];
  return Object.entries(e).flatMap(([k, v]) => (divided.includes(k) && v && typeof v === 'object' ? Object.keys(v).map((x) => `${k}.${x}`) : [k]));
}

// table[dialect][direction][name] = { made, wire, talk, facts }: events made from a schema, between the dialect and its stand-in, in a
// conversation; and as what the dialect understood them.
const table = {};
function count(dialect, direction, name, where, facts) {
  // Stand-ins send what nobody knows, too.
  if (name === undefined || String(name).startsWith('x.')) return;
  const row = ((table[dialect] ??= { sent: {}, received: {} })[direction][name] ??= { made: 0, wire: 0, talk: 0, facts: new Set() });
  row[where] += 1;
  for (const f of facts ?? []) row.facts.add(f);
}
function print() {
  const cells = (r) => [r.made, r.wire, r.talk].map((n) => String(n).padStart(5)).join(' ');
  for (const [dialect, { sent, received }] of Object.entries(table)) {
    console.log(`\n${dialect.padEnd(21)} ${'event'.padEnd(62)}  made  wire  talk  understood as`);
    for (const [name, r] of Object.entries(sent)) console.log(`${'sent'.padEnd(21)} ${name.padEnd(62)} ${cells(r)}`);
    for (const [name, r] of Object.entries(received)) console.log(`${'received'.padEnd(21)} ${name.padEnd(62)} ${cells(r)}  ${[...r.facts].join(', ') || '-'}`);
  }
  console.log('');
}

// What the dialect makes of these messages.
function taken(dialect, events) {
  const input = events.map((e) => (typeof e === 'string' ? e : JSON.stringify(e))).join('\n');
  const out = lines(execFileSync(wire, ['takes', dialect], { input: `${input}\n`, encoding: 'utf8', maxBuffer: 1 << 28 }));
  return out.map((o, i) => ({ ...o, event: events[i] }));
}

// ---- by themselves ----

// A fault in the shape of an event, not in its moment.
const shapeFault = (e) => (e.code === 1007 && !/No call has this id/.test(e.reason)) || /Unknown parameter|Unknown name|Invalid (type|value) for|Missing required|required field is missing|no JSON/.test(e.error?.message ?? e.reason ?? '');

async function wired(dialect, provider, path, headers = {}) {
  const sent = lines(execFileSync(wire, ['sends', dialect], { encoding: 'utf8' }));
  const wrong = sent.filter((s) => s.invalid);
  check(`${dialect}: sends well-formed messages`, sent.length > 5 && !wrong.length, sent.length);
  if (['OPENAI', 'EMBEDDED', 'LOCALAI'].includes(dialect)) {
    const why = sent.map((s) => invalid(s.event, clientEvents)).filter(Boolean);
    check(`${dialect}: each is as the published schema says`, !why.length, why.slice(0, 5).join('\n'));
  }
  const s = await standin(provider, { script: 'commit transcript count to 3\nresponse 2 call weather {"city":"Paris"}\nresponse 3 gap 30\nat 600 goaway 60000' });
  const ws = new WebSocket(`ws://127.0.0.1:${s.port}${path}`, { headers });
  const got = [];
  ws.on('message', (data) => { try { got.push(JSON.parse(data)); } catch { /* sound in a binary message */ } });
  ws.on('close', (code, reason) => got.push({ type: 'closed', code, reason: String(reason) }));
  await once(ws, 'open');
  await sleep(100);
  for (const m of sent) {
    for (const n of namesOf(m.event ?? { type: 'binary message' })) count(dialect, 'sent', n, 'wire');
    if (ws.readyState !== ws.OPEN) break;
    ws.send(m.event ? JSON.stringify(m.event) : Buffer.alloc(m.bytes));
    await sleep(150);
  }
  await sleep(400);
  ws.close();
  await s.stop();
  const faults = got.filter(shapeFault);
  check(`${dialect}: the stand-in knows every field of them`, !faults.length, faults.slice(0, 3).map((e) => JSON.stringify(e.error ?? e)).join('\n'));
  const events = got.filter((e) => e.type !== 'closed');
  const out = taken(dialect, events);
  out.forEach((o) => namesOf(o.event).forEach((n) => count(dialect, 'received', n, 'wire', o.facts)));
  check(`${dialect}: understands the stand-in`, events.length > 3 && out.every((o) => o.err === 0), events.length);
}

function published() {
  const examples = lines(readFileSync(new URL('./openai.examples.jsonl', import.meta.url), 'utf8'));
  const made = Object.entries(serverEvents).map(([type, name]) => ({ ...sample(name), type, event_id: `event_${type}` }));
  const why = made.map((e) => invalid(e, serverEvents)).filter(Boolean);
  check(`one event of each of the ${made.length} published types is valid`, made.length >= 46 && !why.length, why.slice(0, 3).join('\n'));
  // Gemini publishes no schema: one message of each kind that control has no use for.
  const unused = [...[['groundingMetadata', { webSearchQueries: ['x'] }], ['interimInputTranscription', { text: 'x' }], ['urlContextMetadata', { urlMetadata: [] }],
    ['waitingForInput', true], ['interactionStatus', 'IDLE']].map(([k, v]) => ({ serverContent: { [k]: v } })),
  { voiceActivityDetectionSignal: { vadSignalType: 'VAD_SIGNAL_TYPE_SOS' } }, { voiceActivity: { voiceActivityType: 'ACTIVITY_START' } }];
  // OpenAI's former names of text: every conversation of the dialect is of sound.
  const before = { type: 'response.text.delta', response_id: 'r', item_id: 'i', output_index: 0, content_index: 0, delta: 'x' };
  taken('OPENAI_BETA', [before]).forEach((o) => count('OPENAI_BETA', 'received', before.type, 'made', o.facts));
  const heard = taken('GEMINI', unused);
  heard.forEach((o) => namesOf(o.event).forEach((n) => count('GEMINI', 'received', n, 'made', o.facts)));
  check('GEMINI: messages without use are passed over', heard.length === unused.length && heard.every((o) => !o.err));
  for (const dialect of ['OPENAI', 'XAI', 'LOCALAI', 'EMBEDDED']) {
    const out = taken(dialect, [...examples, ...made]);
    const failed = out.filter((o) => o.err);
    check(`${dialect}: every published server event is understood`, !failed.length, failed.map((o) => o.event.type).join(' '));
    if (dialect === 'OPENAI') out.forEach((o) => count(dialect, 'received', o.event.type, 'made', o.facts));
  }
  // What says nothing to control is known to say nothing.
  const silent = Object.entries(table.OPENAI.received).filter(([, r]) => !r.facts.size).map(([n]) => n);
  const needed = ['session.created', 'response.created', 'response.output_audio.delta', 'response.output_audio_transcript.delta', 'response.done', 'error',
    'response.function_call_arguments.done', 'input_audio_buffer.committed', 'conversation.item.input_audio_transcription.completed'];
  check('OPENAI: the events that matter say something', needed.every((n) => !silent.includes(n)), silent.join(' '));
}

// ---- requests, and sessions of speech-to-text ----

// What the dialect makes of the events of some answers. Each: { d, facts, err }
function takenOf(wireName, answers) {
  const input = answers.map((data) => data.join('\n')).join('\n\n');
  const out = lines(execFileSync(wire, ['takes', wireName], { input: `${input}\n`, encoding: 'utf8', maxBuffer: 1 << 28 }));
  return answers.flat().map((d, i) => ({ ...out[i], d }));
}
const sentBy = (wireName) => lines(execFileSync(wire, ['sends', wireName], { encoding: 'utf8' }));
function countReceived(wireName, answers) {
  let ok = true;
  let at = 0;
  const out = takenOf(wireName, answers);
  for (const data of answers) {
    const blocks = {};
    for (const d of data) {
      const { facts, err } = out[at++];
      ok &&= !err;
      for (const name of receivedNames(wireName, d, blocks)) count(wireName, 'received', name, 'wire', facts);
    }
  }
  return ok;
}

const askSchemas = { CHAT: 'CreateChatCompletionRequest', RESPONSES: 'CreateResponse' };
async function asked(wireName) {
  const sent = sentBy(wireName).map((s) => s.event);
  sent.forEach((b) => sentNames(wireName, b).forEach((n) => count(wireName, 'sent', n, 'wire')));
  const why = askSchemas[wireName] ? sent.map((b) => unlike(b, askSchemas[wireName])).filter(Boolean) : [];
  check(`${wireName}: each request is as the published schema says`, sent.length > 3 && !why.length, why.slice(0, 5).join('\n'));
  const got = await askStandin(wireName, sent);
  const refused = got.slice(-sent.length).filter((a) => a.status >= 400 && !/previous_response/.test(a.data[0]));
  check(`${wireName}: the stand-in takes them`, !refused.length, refused.map((a) => a.data[0]).join('\n'));
  check(`${wireName}: understands the stand-in`, countReceived(wireName, got.map((a) => a.data)));
  if (wireName !== 'RESPONSES') return;
  const made = Object.entries(samples('ResponseStreamEvent'));
  const out = takenOf(wireName, made.map(([, e]) => [JSON.stringify(e)]));
  out.forEach((o, i) => count(wireName, 'received', made[i][0], 'made', o.facts));
  check(`${wireName}: every published event is understood`, out.length > 50 && out.every((o) => !o.err), out.length);
}

async function listened(wireName) {
  const sent = sentBy(wireName);
  sent.forEach((m) => count(wireName, 'sent', m.event ? sentNames(wireName, m.event)[0] : 'binary message', 'wire'));
  if (wireName === 'OPENAI/transcribe') {
    const why = sent.map((m) => invalid(m.event, clientEvents)).filter(Boolean);
    check(`${wireName}: each is as the published schema says`, !why.length, why.join('\n'));
  }
  const codes = wireName === 'ELEVENLABS/transcribe' ? understood()[wireName] : ['server_error'];
  const came = await hearStandin(wireName, sent, codes);
  check(`${wireName}: understands the stand-in`, came.length > 3 && countReceived(wireName, [came.map((e) => JSON.stringify(e))]), came.length);
  if (wireName !== 'OPENAI/transcribe') return;
  const made = Object.entries(samples('RealtimeServerEvent'));
  takenOf(wireName, [made.map(([, e]) => JSON.stringify(e))]).forEach((o, i) => count(wireName, 'received', made[i][0], 'made', o.facts));
}

async function transcribed(wireName) {
  for (const { form } of sentBy(wireName)) {
    const fields = formOf(form);
    sentNames(wireName, fields).forEach((n) => count(wireName, 'sent', n, 'wire'));
    const body = await transcribeStandin(wireName, fields);
    check(`${wireName}: understands the stand-in`, countReceived(wireName, [[body.replaceAll('\n', ' ')]]), body.slice(0, 200));
  }
}

// ---- the table of what must be seen ----

// events.table: each event of each dialect, and `talk`, or why no conversation has it:
//   often FILE      as talk; where no conversation happened to have it, the test that has it (checked)
//   alone           the dialect by itself and its stand-in have it (checked)
//   silent          nothing follows from it (checked: no fact), and no stand-in needs to send it
//   no-talk         no conversation of this dialect is held here (checked: none was)
//   test FILE       a test has it (checked: the file names it)
//   not-used WHY    a description declares it (checked), nobody sends it (checked), and nothing follows from it (checked)
const describes = declared();
// Dialects and events whose content other events carry, too. From every other event that comes, a dialect takes something.
const idle = [/^[A-Z_]+ (ping|input_audio_buffer\.cleared|rate_limits\.updated|conversation\.item\.(added|done|created))$/,
  /^[A-Z_]+ response\.(in_progress|content_part\.(added|done)|output_text\.done|(output_)?audio(_transcript)?\.done|reasoning_summary_text\.(delta|done))$/,
  /^CHAT (delta\.(role|reasoning_content)|\[DONE\])$/,
  /^ANTHROPIC (message_stop|content_block_(start|stop) (text|thinking)|content_block_delta (thinking|signature)_delta)$/,
  /^[A-Z_]+\/transcribe (ping|session[._](created|updated|started)|conversation\.(created|item\.(added|done))|input_audio_buffer\.cleared)$/];
const mustTake = (row) => row.direction === 'received' && !idle.some((p) => p.test(`${row.dialect} ${row.name}`));
function why(row, cell, talks) {
  const reason = row.how.join(' ');
  const [kind] = row.how;
  if (cell?.wire && !cell.facts.size && mustTake(row)) return 'came, and control took nothing from it';
  if (kind === 'not-used') {
    if (!describes[row.dialect]?.[row.direction].includes(row.name)) return 'no description declares it';
    if (row.how.length < 4) return 'has no reason';
    return cell?.wire || cell?.talk || cell?.facts.size ? `was seen, so "${reason}" is out of date` : '';
  }
  if (!cell && kind !== 'often') return 'was never seen';
  if (kind === 'talk') return cell.talk ? '' : 'was seen in no conversation';
  if (cell?.talk && !['often', 'silent', 'alone'].includes(kind)) return `was seen in a conversation, so "${reason}" is out of date`;
  if (kind === 'alone') return cell.wire ? '' : 'was sent by nobody';
  if (kind === 'silent') return cell.facts.size ? `says ${[...cell.facts]}, so it is not silent` : '';
  if (kind === 'no-talk') return talks.has(row.dialect) ? 'conversations of this dialect are held' : cell.wire ? '' : 'was sent by nobody';
  if (kind === 'often' && cell?.talk) return '';
  if (kind === 'test' || kind === 'often') {
    let text = '';
    try { text = readFileSync(new URL(`../../${row.how[1]}`, import.meta.url), 'utf8'); } catch { return `there is no ${row.how[1]}`; }
    return text.includes(row.name.split(' ').at(-1).split('.').at(-1)) ? '' : `${row.how[1]} does not name it`;
  }
  return `"${reason}" is no reason`;
}

// What is wrong with the rows of a dialect, and with what was seen of it.
function wrongWith(dialect, rows, talks) {
  const wrong = [];
  for (const direction of ['sent', 'received']) {
    const mine = rows.filter((r) => r.dialect === dialect && r.direction === direction);
    const names = new Set(mine.map((r) => r.name));
    const seen = table[dialect]?.[direction] ?? {};
    for (const r of mine) { const w = why(r, seen[r.name], talks); if (w) wrong.push(`${direction} ${r.name}: ${w}`); }
    for (const name of Object.keys(seen)) if (!names.has(name)) wrong.push(`${direction} ${name}: events.table has no row for it`);
    for (const name of describes[dialect]?.[direction] ?? []) if (!names.has(name) && !seen[name]) wrong.push(`${direction} ${name}: is declared, and events.table has no row for it`);
  }
  return wrong;
}

// What control's parsers have in their tables and nobody sent: of a table that two dialects share, one of them must.
function unseen(rows) {
  const has = (dialect, name) => rows.some((r) => r.dialect === dialect && r.direction === 'received' && (r.name === name || r.name.startsWith(`${name} `)) && r.how[0] !== 'not-used');
  // The voices that speak OpenAI's dialect share one parser.
  const family = realtimeNames().filter((n) => !rows.some((r) => r.direction === 'received' && r.name === n && r.how[0] !== 'not-used')).map((n) => `realtime ${n}`);
  return family.concat(Object.entries(understood()).flatMap(([dialect, names]) => names.filter((n) => !has(dialect, n) && !(dialect === 'OPENAI/transcribe' && has('XAI/transcribe', n))).map((n) => `${dialect} ${n}`)));
}

function expected() {
  const rows = readFileSync(new URL('./events.table', import.meta.url), 'utf8').split('\n').filter((l) => l && !l.startsWith('#'))
    .map((l) => { const [dialect, direction, name, how] = l.split(/ *\| */); return { dialect, direction, name, how: how.split(' ') }; });
  const talks = new Set(Object.entries(table).filter(([, t]) => [...Object.values(t.sent), ...Object.values(t.received)].some((c) => c.talk)).map(([d]) => d));
  for (const dialect of new Set([...rows.map((r) => r.dialect), ...Object.keys(table), ...Object.keys(describes)])) {
    const wrong = wrongWith(dialect, rows, talks);
    check(`${dialect}: every event of its table was seen`, !wrong.length, wrong.join('\n'));
    // The check itself: of each dialect, a row that nobody sends or receives must be found, and so must one that is missing.
    const planted = ['sent', 'received'].flatMap((direction) => ['talk', 'silent', 'no-talk', 'alone', 'not-used nobody has ever declared it', 'test tests/interop/events.mjs']
      .map((how) => ({ dialect, direction, name: `x.${how}`, how: how.split(' ') })));
    const found = wrongWith(dialect, [...rows, ...planted], talks).filter((w) => w.includes(' x.')).length;
    check(`${dialect}: rows that are never seen are found`, found === planted.length, found);
    const mine = rows.filter((r) => r.dialect === dialect);
    // So must an event of which control takes nothing any more.
    const taking = mine.filter((r) => mustTake(r) && table[dialect]?.received[r.name]?.wire);
    const deaf = taking.filter((r) => !why(r, { ...table[dialect].received[r.name], facts: new Set() }, talks));
    check(`${dialect}: events that are not understood are found`, !deaf.length, deaf.map((r) => r.name).join(' '));
    const missed = mine.filter((r) => wrongWith(dialect, rows.filter((x) => x !== r), talks).length === wrong.length && r.how[0] !== 'often');
    check(`${dialect}: rows that are missing are found`, !missed.length, missed.map((r) => r.name).join(' '));
  }
  const missing = unseen(rows);
  check('what control has a parser for was sent', !missing.length, missing.join('\n'));
  check('and one of a voice, too', unseen(rows.filter((r) => r.name !== 'response.text.delta')).join() === 'realtime response.text.delta');
  check('and a parser whose event nobody sends is found', unseen(rows.filter((r) => r.name !== 'response.incomplete')).join() === 'RESPONSES response.incomplete');
  const kinds = {};
  for (const r of rows) kinds[r.how[0]] = (kinds[r.how[0]] ?? 0) + 1;
  console.log(`${rows.length} rows of ${new Set(rows.map((r) => r.dialect)).size} dialects: ${Object.entries(kinds).map(([k, n]) => `${n} ${k}`).join(', ')}`);
}

// ---- in conversation ----

const eleven = ['InitializeConnection', 'SendText', 'CloseConnection', 'InitializeConnectionMulti', 'InitialiseContext', 'SendTextMulti', 'FlushContext',
  'CloseContext', 'CloseSocket', 'KeepContextAlive'];
async function elevenInvalid(message) {
  const tried = [];
  for (const name of eleven) {
    if (!Eleven[name]) continue;
    try { await Eleven[name].parseOrThrow(message, { unrecognizedObjectKeys: 'fail' }); return ''; } catch (e) { tried.push(`${name}: ${JSON.stringify(e.errors ?? e.message).slice(0, 80)}`); }
  }
  return `${JSON.stringify(message).slice(0, 120)} is none of the serializers' messages (${tried[0]})`;
}

// Demos and talks, at most so many at a time: they mostly wait for what is said.
const LANES = Number(process.env.LANES ?? 2);
function run(command, args, env) {
  return new Promise((done) => {
    execFile(command, args, { env: { ...process.env, ...env }, timeout: 240000, maxBuffer: 1 << 26 }, (error, stdout) => done({ ok: !error, stdout }));
  });
}
async function inLanes(jobs) {
  const left = [...jobs];
  await Promise.all(Array.from({ length: LANES }, async () => { while (left.length) await left.shift()(); }));
}
const read = (...path) => { try { return lines(readFileSync(join(...path, 'events.jsonl'), 'utf8')); } catch { return []; } };

async function talk(brain) {
  const out = join(dir, brain);
  const { ok, stdout } = await run('../../tests/demo.sh', [], { BIN: bin, BRAIN: brain, OUT: out });
  check(`${brain}: a conversation`, ok, ok ? '' : String(stdout).slice(-1500));
  const writer = { elevenlabs: 'chat', chat: 'chat', anthropic: 'anthropic' }[brain];
  await talked({ chat: 'chat', anthropic: 'chat' }[brain] ?? brain, read(out, 'brain'));
  if (writer) await talked(writer, read(out, 'log/writer'));
  if (brain === 'xai' || brain === 'gemini') await talked('openai', read(out, 'log/recogniser'));
}

// Talks in which something goes wrong, cell by cell of tests/scenarios/brains.matrix.
async function trouble(provider, faults) {
  const keep = join(dir, `trouble-${provider}`);
  const { ok, stdout } = await run('../../tests/scenarios/brains.sh', [bin, ...faults.map((f) => `${provider}/${f}`)], { KEEP: keep });
  check(`${provider}: talks with ${faults.join(', ')}`, ok, ok ? '' : String(stdout).slice(-1500));
  for (const f of faults) await talked(provider, read(keep, `record-${provider}-${f}`));
  await talked('openai', read(keep, 'record-local'));
  if (provider === 'xai') await talked('xai', read(keep, 'record-hearing'));
}

const schemas = { '/v1/chat/completions': 'CreateChatCompletionRequest', '/v1/responses': 'CreateResponse' };
const namesOn = (on, e) => (on === 'ELEVENLABS/speech' ? [Object.keys(e).sort().join('+')] : e.message_type ? [e.message_type] : namesOf(e));

// One message or answer of a link. on: { wire, rest: of a stream that has come in part, blocks }.
function countAnswer(on, event) {
  if (event && typeof event === 'object' && 'bytes' in event) {
    count(on.wire, 'received', 'bytes', 'talk');
  } else if (typeof event === 'string') {
    const { data, rest } = sse(on.rest + event);
    on.rest = rest;
    for (const d of data) for (const n of receivedNames(on.wire, d, on.blocks)) count(on.wire, 'received', n, 'talk');
  } else if (on.post) {
    for (const n of receivedNames(on.wire, event, on.blocks)) count(on.wire, 'received', n, 'talk');
  } else {
    for (const n of namesOn(on.wire, event)) count(on.wire, 'received', n, 'talk');
  }
}

// provider: of the stand-in that made the record.
async function talked(provider, record) {
  const why = [];
  const links = {};
  for (const l of record) {
    const on = links[l.link] ?? { wire: '' };
    if (l.what === 'request') {
      const wireName = wireOf(provider, l);
      links[l.link] = { wire: wireName, post: l.method === 'POST', rest: '', blocks: {} };
      if (schemas[l.path] && l.event) why.push(unlike(l.event, schemas[l.path]));
      if (!wireName) continue;
      count(wireName, 'sent', `${l.method} ${l.path}`, 'talk');
      if (schemas[l.path] || wireName === 'ANTHROPIC') sentNames(wireName, l.event).forEach((n) => count(wireName, 'sent', n, 'talk'));
    } else if (!on.wire) {
      continue;
    } else if (l.what === 'form') {
      sentNames(on.wire, l.event).forEach((n) => count(on.wire, 'sent', n, 'talk'));
    } else if (l.what === 'in') {
      if (!l.event || typeof l.event !== 'object' || 'bytes' in l.event) { count(on.wire, 'sent', 'binary message', 'talk'); continue; }
      if (on.wire.startsWith('OPENAI')) why.push(invalid(l.event, clientEvents));
      if (on.wire === 'ELEVENLABS/speech') why.push(await elevenInvalid(l.event));
      for (const n of namesOn(on.wire, l.event)) count(on.wire, 'sent', n, 'talk');
    } else if (l.what === 'out' && l.event) {
      countAnswer(on, l.event);
      if (l.event.error && l.event.type === 'error' && shapeFault(l.event)) why.push(JSON.stringify(l.event.error));
    }
  }
  const faults = why.filter(Boolean);
  check(`${provider}: what control sent is as the provider describes it`, record.length > 3 && !faults.length, [...new Set(faults)].slice(0, 5).join('\n'));
}

await main(async () => {
  const known = readFileSync(new URL('../../control/settings/records.def', import.meta.url), 'utf8').match(/SETTINGS_DIALECT_WORDS "(.*)"/)[1].split('|');
  const wires = execFileSync(wire, ['list'], { encoding: 'utf8' }).split('\n').filter(Boolean);
  await wired('OPENAI', 'openai', '/v1/realtime?model=model');
  await wired('EMBEDDED', 'openai', '/v1/realtime?model=model');
  if (wires.includes('LOCALAI')) await wired('LOCALAI', 'openai', '/v1/realtime?model=model');
  if (wires.includes('OPENAI_BETA')) await wired('OPENAI_BETA', 'openai', '/v1/realtime?model=model', { 'OpenAI-Beta': 'realtime=v1' });
  if (wires.includes('XAI')) await wired('XAI', 'xai', '/v1/realtime?model=model');
  if (wires.includes('GEMINI')) await wired('GEMINI', 'gemini', '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent?key=x');
  published();
  for (const w of wires.filter((x) => ['CHAT', 'RESPONSES', 'ANTHROPIC'].includes(x))) await asked(w);
  for (const w of wires.filter((x) => x.endsWith('/transcribe'))) await listened(w);
  for (const w of wires.filter((x) => x.endsWith('/files'))) await transcribed(w);
  if (!process.argv.includes('--quick')) {
    await inLanes([
      ...[['openai', ['after_the_cut', 'unheard_words', 'quota', 'mid_word', 'unknown_tool']], ['xai', ['after_the_cut', 'unheard_words', 'quota', 'unknown_tool']],
        ['gemini', ['after_the_cut', 'unknown_tool']], ['elevenlabs', ['after_the_cut']],
        ...['chat', 'responses', 'anthropic'].map((p) => [p, ['unknown_tool', 'reasoning', 'quota', 'rate_limit']])]
        .map(([provider, faults]) => () => trouble(provider, faults)),
      ...['openai', 'xai', 'gemini', 'elevenlabs', 'chat', 'anthropic'].filter((b) => known.includes(b)).map((brain) => () => talk(brain))]);
  }
  print();
  if (!process.argv.includes('--quick')) expected();
}, 900000);
