// false_words: what the bot tells people (in the room, by /status, by --check) against what guildd recorded and what this script did,
// over seeded outages. Shares nothing with control: it reads sentences, guildd's history and world, and knows which processes it killed.
//
//   OUTAGES=n   how many (30)     SEED=n     of which seed (1)
//   PLANT=1     the bot says two false sentences by another hand: a test of this bench, which must find both and nothing else
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALICE, BOT, GUILD, TEXT, TOKEN, VOICE, api, ready, sleep, switches, until } from '../lib.mjs';
import { seeded } from '../group.mjs';
import { judge, SLACK } from './judge.mjs';
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
  const open = (list, at) => { if (!list.length || list.at(-1).to !== Infinity) list.push({ from: at, to: Infinity }); };
  const shut = (list, at) => { if (list.length && list.at(-1).to === Infinity) list.at(-1).to = at; };
  for (const e of (await api('GET', '/history')).filter((x) => x.user_id === BOT)) {
    if (e.what === 'voice_up') { open(up, e.from_ms); open(kept, e.from_ms); }
    if (e.what === 'voice_down') shut(kept, e.from_ms);
    if (e.what === 'voice_down' || e.what === 'voice_lost') shut(up, e.from_ms);
    if (e.what === 'in') open(listed, e.from_ms);
    if (e.what === 'left') shut(listed, e.from_ms);
  }
  return { up, kept, listed };
}
const muted = [];

// ---- what was said ----
const said = []; // { at, where, text, facts }
async function status() {
  const asked = Date.now();
  const { id } = await api('POST', '/interactions', { user_id: ALICE, channel_id: TEXT, name: 'status' }, true);
  if (!id) return;
  const text = await until(async () => (await api('GET', `/interactions/${id}`)).original?.content, 3000);
  if (!text) return;
  const world = (await api('GET', '/world')).guilds.find((g) => g.id === GUILD);
  said.push({ at: (asked + Date.now()) / 2, where: 'status', text, people: world.voice_states.filter((v) => v.user_id !== BOT).length });
}
// ---- outages ----
const on = (path, body = {}) => api('POST', `/users/${BOT}/${path}`, body, true);
const pause = (least, most) => sleep(least + rnd.below(most - least));
const outages = {
  async kill_mediad() { await mediadDown(); await pause(100, 1200); mediadUp(); },
  async stop_mediad() { await mediadDown(); await pause(11000, 14000); mediadUp(); },
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
    await pause(500, 12000);
    await switches({ main_away: 0 });
  },
  async region() { await on('new-server'); },
  async no_server() { await on('no-server'); await pause(500, 3000); await on('new-server'); },
  async mute() {
    await api('PATCH', `/guilds/${GUILD}/members/${BOT}`, { mute: true });
    muted.push({ from: Date.now(), to: Infinity });
    await pause(500, 4000);
    await api('PATCH', `/guilds/${GUILD}/members/${BOT}`, { mute: false });
    muted.at(-1).to = Date.now();
  },
  async kick() { await on('kick'); await pause(300, 1500); },
  async kill_control() { control.kill('SIGKILL'); await control.ended; await pause(0, 4000); startControl(); },
  async stop_control() { control.kill('SIGTERM'); await control.ended; await pause(0, 4000); startControl(); },
  async alice() { await api('POST', `/users/${ALICE}/join`, { channel_id: VOICE }); await pause(200, 1500); await api('POST', `/users/${ALICE}/leave`, {}, true); },
};
// The long ones are rarer.
const draw = () => rnd.pick(rnd.below(12) ? Object.keys(outages).filter((k) => k !== 'stop_mediad' && k !== 'both_away') : ['stop_mediad', 'both_away']);

const starts = [];
let control;
function startControl() {
  control = run('control', options, env);
  starts.push(Date.now());
}
const isUp = async () => { const { up } = await record(); return up.length && up.at(-1).to === Infinity; };
const join_ = () => api('POST', '/interactions', { user_id: ALICE, channel_id: TEXT, name: 'join', options: [{ name: 'channel', type: 7, value: VOICE }] }, true);
mediadUp();
startControl();
await until(async () => (await api('GET', `/bots/${BOT}/commands`)).global.length, 15000);
const trace = [];
for (let i = 0; i < OUTAGES; i++) {
  if (!(await isUp())) await join_();
  await until(isUp, 45000, 100);
  const kind = draw();
  const began = Date.now();
  const asking = (async () => { for (let n = 1 + rnd.below(3); n; n--) { await pause(50, 1500); await status(); } })();
  await outages[kind]();
  await asking;
  await pause(100, 2000);
  await status();
  trace.push({ kind, from: began, to: Date.now() });
  if (control.exitCode !== null) throw new Error(`control ended with status ${control.exitCode} in outage ${i}: ${kind}`);
}
const planted = process.env.PLANT ? ['The part of me that hears and speaks has stopped. I come back as soon as it runs again.', 'I am muted by the server: I hear you, but nobody hears me until a moderator unmutes me.'] : [];
if (planted.length) await sleep(2 * SLACK); // what was true is over
for (const content of planted)
  await fetch(`${ready.rest}/channels/${VOICE}/messages`, { method: 'POST', body: JSON.stringify({ content }),
    headers: { authorization: `Bot ${TOKEN}`, 'user-agent': 'DiscordBot (https://example.org, 1)', 'content-type': 'application/json' } });
for (const m of await api('GET', `/channels/${VOICE}/messages`)) if (m.author.id === BOT) said.push({ at: Date.parse(m.timestamp), where: 'room', text: m.content });
const truth = { ...await record(), mediads, muted, starts, brain: false, cut: [], full: [] }; // nobody asks anything here
let wrong = 0;
let found = 0;
for (const s of said) {
  for (const why of judge(s, truth, said)) {
    wrong += 1;
    found += planted.includes(s.text);
    const during = trace.find((t) => s.at >= t.from - SLACK && s.at <= t.to + SLACK);
    process.stderr.write(`FALSE (${why}; ${new Date(s.at).toISOString()}, ${during?.kind ?? 'later'}): ${s.text.split('\n').slice(0, 3).join(' | ')}\n`);
  }
}
// --check, with a mediad and without.
const check = () => spawnSync(join(bin, 'control'), [...options, '--check'], { env: { ...process.env, ...env }, encoding: 'utf8' }).stdout;
if (!/ok +mediad:/.test(check())) { wrong += 1; process.stderr.write('FALSE (--check misses a mediad that runs)\n'); }
await mediadDown();
if (!/missing +mediad:/.test(check())) { wrong += 1; process.stderr.write('FALSE (--check finds a mediad that is dead)\n'); }
if (planted.length) console.log(`${found} passed, ${planted.length - found + wrong - found} failed, 0 skipped`);
else row('false_words', wrong, '', { outages: OUTAGES, statements: said.length, room: said.filter((s) => s.where === 'room').length });
control.kill();
process.exit(planted.length && (found < planted.length || wrong > found) ? 1 : 0);
