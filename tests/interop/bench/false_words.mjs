// false_words: what the bot tells people (in the room, by /status, by --check) against what guildd recorded and what this script did,
// over seeded outages; unsaid_words: outages that it had to tell of and did not, commands without an answer; repeated_words: sentences
// that it told twice. Shares nothing with control: it reads sentences, guildd's history and world, and knows which processes it killed.
//
//   OUTAGES=n   how many (30)     SEED=n     of which seed (1)     KINDS=a,b   of these kinds, in turn
//   PLANT=…     a test of this bench, which must find the planted faults and nothing else: `false`, the bot says two false sentences by
//               another hand; `twice`, it says what it said again; `mute`, nothing of it arrives in the room, nor an answer to /status
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALICE, BOT, GUILD, TEXT, TOKEN, VOICE, api, ready, sleep, switches, until } from '../lib.mjs';
import { seeded } from '../group.mjs';
import { judge, LATE, repeated, SLACK, unsaid } from './judge.mjs';
import { row } from './watch.mjs';

const OUTAGES = Number(process.env.OUTAGES ?? 30);
const rnd = seeded(Number(process.env.SEED ?? 1));
const bin = process.env.BIN;
const dir = mkdtempSync(join(tmpdir(), 'parley-words-'));
const running = new Set();
process.on('exit', () => { for (const p of running) p.kill('SIGKILL'); rmSync(dir, { recursive: true, force: true }); });
function run(program, args, env = {}) {
  const p = spawn(join(bin, program), args, { env: { ...process.env, ...env }, stdio: 'ignore' });
  p.ended = once(p, 'exit').finally(() => running.delete(p));
  running.add(p);
  return p;
}
const sock = join(dir, 'mediad.sock');
const env = { DISCORD_TOKEN: TOKEN, PARLEY_DISCORD_API: ready.rest, PARLEY_BRAIN_URL: 'ws://127.0.0.1:9/', OPENAI_API_KEY: '' };
const options = ['--media-sock', sock, '--state-dir', join(dir, 'state'), '--ca', ready.ca];

// ---- what is true: intervals of the wall clock ----
const mediads = []; // { from, to }
let mediad;
function mediadUp() {
  mediad = run('mediad', ['--listen', sock, '--ca', ready.ca]);
  mediads.push({ from: Date.now(), to: Infinity });
}
async function mediadDown() {
  mediad.kill('SIGKILL');
  mediads.at(-1).to = Date.now();
  await mediad.ended;
}
// Intervals in which the bot had a voice session, and in which it was listed in a channel.
async function record() {
  const up = []; // connected
  const kept = []; // connected, or to be resumed
  const listed = [];
  const mains = []; // connected to the main gateway
  const open = (list, at) => { if (!list.length || list.at(-1).to !== Infinity) list.push({ from: at, to: Infinity }); };
  const shut = (list, at) => { if (list.length && list.at(-1).to === Infinity) list.at(-1).to = at; };
  for (const e of (await api('GET', '/history')).filter((x) => x.user_id === BOT)) {
    if (e.what === 'voice_up') { open(up, e.from_ms); open(kept, e.from_ms); }
    if (e.what === 'voice_down') shut(kept, e.from_ms);
    if (e.what === 'voice_down' || e.what === 'voice_lost') shut(up, e.from_ms);
    if (e.what === 'in') open(listed, e.from_ms);
    if (e.what === 'left') shut(listed, e.from_ms);
    if (e.what === 'main_up') open(mains, e.from_ms);
    if (e.what === 'main_lost' || e.what === 'main_ended') shut(mains, e.from_ms);
  }
  return { up, kept, listed, mains };
}
const muted = [];

// ---- what was said ----
const said = []; // { at, where, text, facts }
async function status() {
  const asked = Date.now();
  const { id } = await api('POST', '/interactions', { user_id: ALICE, channel_id: TEXT, name: 'status' }, true);
  const text = id && (await until(async () => (await api('GET', `/interactions/${id}`)).original?.content, LATE));
  if (!text) { said.push({ at: Date.now(), asked, where: 'status' }); return; }
  const world = (await api('GET', '/world')).guilds.find((g) => g.id === GUILD);
  said.push({ at: (asked + Date.now()) / 2, where: 'status', text, people: world.voice_states.filter((v) => v.user_id !== BOT).length });
}
// ---- outages ----
const on = (path, body = {}) => api('POST', `/users/${BOT}/${path}`, body, true);
const pause = (least, most) => sleep(least + rnd.below(most - least));
const outages = {
  async kill_mediad() { await mediadDown(); await pause(100, 1200); mediadUp(); },
  async stop_mediad() { await mediadDown(); await pause(11000, 18000); mediadUp(); },
  async drop_voice() { await on('drop', { which: 'voice' }); },
  async close_voice() { await on('close', { which: 'voice', code: rnd.pick([1001, 4006, 4009, 4015]) }); },
  async drop_main() { await on('drop', { which: 'main' }); },
  async main_away() { await switches({ main_away: 1 }); await on('drop', { which: 'main' }); await pause(500, 4000); await switches({ main_away: 0 }); },
  async both_away() {
    await switches({ main_away: 1 });
    await on('drop', { which: 'main' });
    await on('close', { which: 'voice', code: 4006 });
    await pause(300, 2000);
    await mediadDown();
    await pause(100, 800);
    mediadUp();
    await pause(500, 16000);
    await switches({ main_away: 0 });
  },
  async silent_voice() { await switches({ voice_silent: 1 }); await on('new-server'); await pause(8000, 20000); await switches({ voice_silent: 0 }); },
  async region() { await on('new-server'); },
  async no_server() { await on('no-server'); await pause(500, 3000); await on('new-server'); },
  async mute() {
    await api('PATCH', `/guilds/${GUILD}/members/${BOT}`, { mute: true });
    muted.push({ from: Date.now(), to: Infinity });
    await pause(500, 9000);
    await api('PATCH', `/guilds/${GUILD}/members/${BOT}`, { mute: false });
    muted.at(-1).to = Date.now();
  },
  async kick() { wanted.at(-1).to = Date.now(); await on('kick'); await pause(300, 1500); },
  async kill_control() { await endControl('SIGKILL'); await pause(0, 4000); startControl(); },
  async stop_control() { await endControl('SIGTERM'); await pause(0, 4000); startControl(); },
  async alice() { await api('POST', `/users/${ALICE}/join`, { channel_id: VOICE }); await pause(200, 1500); await api('POST', `/users/${ALICE}/leave`, {}, true); },
};
// The long ones are rarer.
const long = ['stop_mediad', 'both_away', 'silent_voice'];
const kinds = process.env.KINDS?.split(',');
const draw = (i) => (kinds ? kinds[i % kinds.length] : rnd.pick(rnd.below(8) ? Object.keys(outages).filter((k) => !long.includes(k)) : long));

const controls = []; // { from, to }
let control;
function startControl() {
  control = run('control', options, env);
  controls.push({ from: Date.now(), to: Infinity });
}
async function endControl(signal) {
  controls.at(-1).to = Date.now();
  control.kill(signal);
  await control.ended;
}
const isUp = async () => { const { up } = await record(); return up.length && up.at(-1).to === Infinity; };
const wanted = []; // when somebody wanted the bot in the call
const join_ = () => {
  if (!wanted.length || wanted.at(-1).to !== Infinity) wanted.push({ from: Date.now(), to: Infinity });
  return api('POST', '/interactions', { user_id: ALICE, channel_id: TEXT, name: 'join', options: [{ name: 'channel', type: 7, value: VOICE }] }, true);
};
mediadUp();
startControl();
await until(async () => (await api('GET', `/bots/${BOT}/commands`)).global.length, 15000);
// Nothing of a mute bot arrives.
const PLANT = process.env.PLANT;
const hush = (contains) => api('POST', '/faults', { contains, times: 1000000, status: 403 });
if (PLANT === 'mute') { await hush('/messages'); await hush('/webhooks'); await hush('/callback'); }
const spoken = async () => (await api('GET', `/channels/${VOICE}/messages`)).filter((m) => m.author.id === BOT);
const planted = new Set(); // ids of messages by another hand
async function utter(content) {
  const r = await fetch(`${ready.rest}/channels/${VOICE}/messages`, { method: 'POST', body: JSON.stringify({ content }),
    headers: { authorization: `Bot ${TOKEN}`, 'user-agent': 'DiscordBot (https://example.org, 1)', 'content-type': 'application/json' } });
  planted.add((await r.json()).id);
}
let echoing = PLANT === 'twice';
(async () => {
  for (const echoed = new Set(); echoing; await sleep(100))
    for (const m of await spoken()) if (!planted.has(m.id) && !echoed.has(m.id)) { echoed.add(m.id); await utter(m.content); }
})();
const trace = [];
for (let i = 0; i < OUTAGES; i++) {
  if (!(await isUp())) await join_();
  await until(isUp, 45000, 100);
  const kind = draw(i);
  const began = Date.now();
  const asking = (async () => { for (let n = 1 + rnd.below(3); n; n--) { await pause(50, 1500); await status(); } })();
  await outages[kind]();
  await asking;
  await pause(100, 2000);
  await status();
  trace.push({ kind, from: began, to: Date.now() });
  if (control.exitCode !== null) throw new Error(`control ended with status ${control.exitCode} in outage ${i}: ${kind}`);
}
await sleep(LATE); // for what is still to be said
const end = Date.now();
echoing = false;
if (PLANT === 'false') {
  await sleep(2 * SLACK); // what was true is over
  await utter('The part of me that hears and speaks has stopped. I come back as soon as it runs again.');
  await utter('I am muted by the server: I hear you, but nobody hears me until a moderator unmutes me.');
}
for (const m of await spoken()) said.push({ at: Date.parse(m.timestamp), where: 'room', text: m.content });
// Nobody asks anything here.
const truth = { ...await record(), mediads, muted, wanted, controls, starts: controls.map((c) => c.from), until: end, brain: false, cut: [], full: [] };
const tell = (what, at, text) => {
  const during = trace.find((t) => at >= t.from - SLACK && at <= t.to + SLACK);
  process.stderr.write(`${what} (${new Date(at).toISOString()}, ${during?.kind ?? 'later'}): ${text.split('\n').slice(0, 3).join(' | ')}\n`);
};
// A sentence that is false in two ways is one.
const wrong = said.map((s) => [s, judge(s, truth, said)]).filter(([, why]) => why.length);
const missing = unsaid(said, truth);
const twice = repeated(said, truth);
for (const [s, why] of wrong) tell(`FALSE: ${why.join(', and ')}`, s.at, s.text);
for (const m of missing) tell('UNSAID', m.at, m.what);
for (const s of twice) tell('TWICE', s.at, s.text);
// --check, with a mediad and without.
let checks = 0;
const check = () => spawnSync(join(bin, 'control'), [...options, '--check'], { env: { ...process.env, ...env }, encoding: 'utf8' }).stdout;
if (!/ok +mediad:/.test(check())) { checks += 1; process.stderr.write('FALSE (--check misses a mediad that runs)\n'); }
await mediadDown();
if (!/missing +mediad:/.test(check())) { checks += 1; process.stderr.write('FALSE (--check finds a mediad that is dead)\n'); }
control.kill();
if (!PLANT) {
  const room = said.filter((s) => s.where === 'room').length;
  const more = { outages: OUTAGES, statements: said.length, room, load: Number(readFileSync('/proc/loadavg', 'utf8').split(' ')[0]) };
  row('false_words', wrong.length + checks, '', { ...more, unsaid: missing.length, repeated: twice.length });
  row('unsaid_words', missing.length, '', more);
  row('repeated_words', twice.length, '', more);
  process.exit(0);
}
// What was planted is found, and nothing else: a mute bot misses each begin and end, and its answers.
const found = { false: [planted.size, 0, 0], twice: [0, 0, planted.size], mute: [0, missing.length, 0] }[PLANT];
const got = [wrong.length + checks, missing.length, twice.length];
const ok = got.join() === found.join() && (PLANT === 'mute' ? missing.some((m) => /status/.test(m.what)) && missing.some((m) => /stopped/.test(m.what)) : planted.size >= 2);
if (!ok) for (const s of said) if (s.where === 'room') console.log(`     ${new Date(s.at).toISOString()} ${s.text}`);
console.log(`${ok ? 'ok  ' : 'FAIL'} ${PLANT}: ${got[0]} false, ${got[1]} unsaid, ${got[2]} repeated; ${planted.size} planted`);
console.log(`${ok ? 1 : 0} passed, ${ok ? 0 : 1} failed, 0 skipped`);
process.exit(ok ? 0 : 1);
