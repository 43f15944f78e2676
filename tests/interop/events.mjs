// The wires of control against the providers' own descriptions, and a table of every event type of each dialect.
//
//   - every event that a dialect of control can send (build/tests/wire) validates against the published schemas, and no stand-in
//     finds a field in it that it does not know;
//   - every published server event, the examples and one made from each schema, is understood;
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
import { clientEvents, invalid, sample, serverEvents, unlike } from './schema.mjs';

const bin = resolve(process.env.BIN ?? '../../build');
const wire = join(bin, 'tests/wire');
const lines = (text) => text.split('\n').filter(Boolean).map((l) => JSON.parse(l));
const dir = mkdtempSync(join(tmpdir(), 'events-'));
process.on('exit', () => rmSync(dir, { recursive: true, force: true }));

// The name of an event; of Gemini's messages, which have none, their members.
function nameOf(e) {
  if (e.type) return e.type;
  const [member] = Object.keys(e).filter((k) => k !== 'usageMetadata');
  const inner = e[member] && typeof e[member] === 'object' ? Object.keys(e[member]) : [];
  return ['realtimeInput', 'serverContent'].includes(member) && inner.length ? `${member}.${inner[0]}` : member ?? 'usageMetadata';
}

// table[dialect][direction][name] = { wire, talk, facts }
const table = {};
function count(dialect, direction, name, where, facts) {
  const row = ((table[dialect] ??= { sent: {}, received: {} })[direction][name] ??= { wire: 0, talk: 0, facts: new Set() });
  row[where] += 1;
  for (const f of facts ?? []) row.facts.add(f);
}
function print() {
  for (const [dialect, { sent, received }] of Object.entries(table)) {
    console.log(`\n${dialect.padEnd(12)} ${'event'.padEnd(62)} wire  talk  understood as`);
    for (const [name, r] of Object.entries(sent)) console.log(`${'sent'.padEnd(12)} ${name.padEnd(62)} ${String(r.wire).padStart(4)} ${String(r.talk).padStart(5)}`);
    for (const [name, r] of Object.entries(received))
      console.log(`${'received'.padEnd(12)} ${name.padEnd(62)} ${String(r.wire).padStart(4)} ${String(r.talk).padStart(5)}  ${[...r.facts].join(', ') || '-'}`);
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
  const s = await standin(provider, { script: 'commit transcript count to 3\nresponse 2 call weather {"city":"Paris"}\nresponse 3 gap 30' });
  const ws = new WebSocket(`ws://127.0.0.1:${s.port}${path}`, { headers });
  const got = [];
  ws.on('message', (data) => { try { got.push(JSON.parse(data)); } catch { /* sound in a binary message */ } });
  ws.on('close', (code, reason) => got.push({ type: 'closed', code, reason: String(reason) }));
  await once(ws, 'open');
  await sleep(100);
  for (const m of sent) {
    count(dialect, 'sent', nameOf(m.event ?? { type: 'binary message' }), 'wire');
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
  out.forEach((o) => count(dialect, 'received', nameOf(o.event), 'wire', o.facts));
  check(`${dialect}: understands the stand-in`, events.length > 3 && out.every((o) => o.err === 0), events.length);
}

function published() {
  const examples = lines(readFileSync(new URL('./openai.examples.jsonl', import.meta.url), 'utf8'));
  const made = Object.entries(serverEvents).map(([type, name]) => ({ ...sample(name), type, event_id: `event_${type}` }));
  const why = made.map((e) => invalid(e, serverEvents)).filter(Boolean);
  check(`one event of each of the ${made.length} published types is valid`, made.length >= 46 && !why.length, why.slice(0, 3).join('\n'));
  for (const dialect of ['OPENAI', 'XAI', 'LOCALAI', 'EMBEDDED']) {
    const out = taken(dialect, [...examples, ...made]);
    const failed = out.filter((o) => o.err);
    check(`${dialect}: every published server event is understood`, !failed.length, failed.map((o) => o.event.type).join(' '));
    if (dialect === 'OPENAI') out.forEach((o) => count(dialect, 'received', o.event.type, 'wire', o.facts));
  }
  // What says nothing to control is known to say nothing.
  const silent = Object.entries(table.OPENAI.received).filter(([, r]) => !r.facts.size).map(([n]) => n);
  const needed = ['session.created', 'response.created', 'response.output_audio.delta', 'response.output_audio_transcript.delta', 'response.done', 'error',
    'response.function_call_arguments.done', 'input_audio_buffer.committed', 'conversation.item.input_audio_transcription.completed'];
  check('OPENAI: the events that matter say something', needed.every((n) => !silent.includes(n)), silent.join(' '));
}

// ---- the table of what must be seen ----

// events.table: each event of each dialect, and `talk`, or why no conversation has it:
//   often FILE      as talk; where no conversation happened to have it, the test that has it (checked)
//   silent          nothing follows from it (checked: no fact), and no stand-in needs to send it
//   no-talk         no conversation of this dialect is held here (checked: none was)
//   test FILE       a test has it (checked: the file names it)
function why(row, cell, talks) {
  const reason = row.how.join(' ');
  if (!cell && row.how[0] !== 'often') return 'was never seen';
  if (row.how[0] === 'talk') return cell.talk ? '' : 'was seen in no conversation';
  if (cell?.talk && !['often', 'silent'].includes(row.how[0])) return `was seen in a conversation, so "${reason}" is out of date`;
  if (row.how[0] === 'silent') return cell.facts.size ? `says ${[...cell.facts]}, so it is not silent` : '';
  if (row.how[0] === 'no-talk') return talks.has(row.dialect) ? 'conversations of this dialect are held' : '';
  if (row.how[0] === 'often' && cell?.talk) return '';
  if (row.how[0] === 'test' || row.how[0] === 'often') {
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
    const seen = table[dialect]?.[direction] ?? {};
    for (const r of mine) { const w = why(r, seen[r.name], talks); if (w) wrong.push(`${direction} ${r.name}: ${w}`); }
    for (const name of Object.keys(seen)) if (!mine.some((r) => r.name === name)) wrong.push(`${direction} ${name}: events.table has no row for it`);
  }
  return wrong;
}

function expected() {
  const rows = readFileSync(new URL('./events.table', import.meta.url), 'utf8').split('\n').filter((l) => l && !l.startsWith('#'))
    .map((l) => { const [dialect, direction, name, how] = l.split(/ *\| */); return { dialect, direction, name, how: how.split(' ') }; });
  const talks = new Set(Object.entries(table).filter(([, t]) => [...Object.values(t.sent), ...Object.values(t.received)].some((c) => c.talk)).map(([d]) => d));
  for (const dialect of new Set([...rows.map((r) => r.dialect), ...Object.keys(table)])) {
    const wrong = wrongWith(dialect, rows, talks);
    check(`${dialect}: every event of its table was seen`, !wrong.length, wrong.join('\n'));
    // The check itself: of each dialect, a row that nobody sends or receives must be found.
    const planted = ['sent', 'received'].flatMap((direction) => ['talk', 'silent', 'no-talk', 'test tests/interop/events.mjs']
      .map((how) => ({ dialect, direction, name: `x.${how}`, how: how.split(' ') })));
    const found = wrongWith(dialect, [...rows, ...planted], talks).filter((w) => w.includes(' x.')).length;
    check(`${dialect}: rows that are never seen are found`, found === planted.length, found);
  }
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
  await talked(brain, [...read(out, 'brain'), ...read(out, 'log/writer')]);
}

// Talks in which something goes wrong, cell by cell of tests/scenarios/brains.matrix.
async function trouble(provider, faults) {
  const keep = join(dir, `trouble-${provider}`);
  const { ok, stdout } = await run('../../tests/scenarios/brains.sh', [bin, ...faults.map((f) => `${provider}/${f}`)], { KEEP: keep });
  check(`${provider}: talks with ${faults.join(', ')}`, ok, ok ? '' : String(stdout).slice(-1500));
  for (const f of faults) await talked(provider, read(keep, `record-${provider}-${f}`));
}

const schemas = { '/v1/chat/completions': 'CreateChatCompletionRequest', '/v1/responses': 'CreateResponse' };
async function talked(brain, record) {
  const dialect = brain === 'openai' || brain === 'xai' || brain === 'gemini' ? brain.toUpperCase() : brain;
  const why = [];
  for (const l of record) {
    if (l.what === 'in' && l.event) {
      if (brain === 'openai') why.push(invalid(l.event, clientEvents));
      if (l.event.text !== undefined || l.event.context_id !== undefined) why.push(await elevenInvalid(l.event));
      count(dialect, 'sent', l.event.message_type ?? (brain === 'elevenlabs' ? Object.keys(l.event).sort().join('+') : nameOf(l.event)), 'talk');
    } else if (l.what === 'request') {
      if (schemas[l.path] && l.event) why.push(unlike(l.event, schemas[l.path]));
      count(dialect, 'sent', `${l.method} ${l.path}`, 'talk');
    } else if (l.what === 'out' && l.event && typeof l.event === 'object') {
      count(dialect, 'received', l.event.message_type ?? (l.event.audio || l.event.isFinal ? Object.keys(l.event).sort().join('+') : nameOf(l.event)), 'talk');
      if (l.event.error && l.event.type === 'error' && shapeFault(l.event)) why.push(JSON.stringify(l.event.error));
    }
  }
  const faults = why.filter(Boolean);
  check(`${brain}: what control sent is as the provider describes it`, record.length > 3 && !faults.length, [...new Set(faults)].slice(0, 5).join('\n'));
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
  if (!process.argv.includes('--quick')) {
    await inLanes([
      ...[['openai', ['after_the_cut', 'unheard_words', 'quota', 'mid_word']], ['xai', ['after_the_cut', 'unheard_words', 'quota']], ['gemini', ['after_the_cut']], ['elevenlabs', ['after_the_cut']]]
        .map(([provider, faults]) => () => trouble(provider, faults)),
      ...['openai', 'xai', 'gemini', 'elevenlabs', 'chat', 'anthropic'].filter((b) => known.includes(b)).map((brain) => () => talk(brain))]);
  }
  print();
  if (!process.argv.includes('--quick')) expected();
}, 600000);
