// back_spawned_ms, back_unit_ms: from kill -9 of mediad in the middle of an answer to the bot's next audible packet. The first with
// README's start (control --spawn-mediad), the second with a supervisor that obeys Restart= and RestartSec= of the systemd unit.
// gone_after_term_ms: from SIGTERM of control to the moment at which Discord does not list the bot in its channel any more.
//
//   BENCH_KILLS=n    how often of each (10; 50 take a quarter of an hour)
//
// guildd's own record (GET /history) has the times of day of packets with sound and of leaving.
import { spawn } from 'node:child_process';
import { mkdtempSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALICE, BOT, GUILD, TOKEN, VOICE, api, ready, sleep, until } from '../lib.mjs';
import { quantile, raw, row } from './watch.mjs';

const KILLS = Number(process.env.BENCH_KILLS ?? 10);
const bin = process.env.BIN;
const dir = mkdtempSync(join(tmpdir(), 'parley-back-'));
const running = new Set();
process.on('exit', () => { for (const p of running) p.kill('SIGKILL'); rmSync(dir, { recursive: true, force: true }); });
const must = (ok, what) => { if (!ok) throw new Error(what); return ok; };

function run(program, args, env = {}) {
  const p = spawn(join(bin, program), args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  p.out = '';
  p.stdout.on('data', (d) => { p.out += d; });
  p.stderr.on('data', (d) => { p.out += d; });
  p.ended = once(p, 'exit').finally(() => running.delete(p));
  running.add(p);
  return p;
}
async function end(p, signal = 'SIGTERM') {
  p.kill(signal);
  await p.ended;
}
const wait = (p, pattern, ms) => until(() => pattern.exec(p.out), ms, 10);
const history = async (what) => (await api('GET', '/history')).filter((e) => e.what === what && e.user_id === BOT);

// The supervisor of deploy/systemd/parley-mediad.service.
function unit() {
  const text = readFileSync(new URL('../../../deploy/systemd/parley-mediad.service', import.meta.url), 'utf8');
  const value = (name) => text.match(new RegExp(`^${name}=(.*)$`, 'm'))?.[1];
  must(value('Restart') === 'on-failure', 'the unit does not restart mediad');
  const [, n, ms] = must(/^(\d+)(ms)?s?$/.exec(value('RestartSec')), 'RestartSec is not understood');
  return ms ? Number(n) : Number(n) * 1000;
}
function supervise(sock) {
  const s = { pid: 0, stopped: false };
  const wait = unit();
  const start = () => {
    if (s.stopped) return;
    s.p = run('mediad', ['--listen', sock, '--ca', ready.ca]);
    s.pid = s.p.pid;
    s.p.ended.then(() => setTimeout(start, wait));
  };
  start();
  s.end = async () => { s.stopped = true; await end(s.p); };
  return s;
}

let n = 0;
async function bot(spawned, brain) {
  const state = join(dir, `state${n++}`);
  const sock = `${state}.sock`;
  const sup = spawned ? null : supervise(sock);
  const where = spawned ? [`--spawn-mediad=${join(bin, 'mediad')}`] : ['--media-sock', sock];
  const p = run('control', [...where, '--guild', GUILD, '--channel', VOICE, '--state-dir', state, '--ca', ready.ca],
    { DISCORD_TOKEN: TOKEN, PARLEY_DISCORD_API: ready.rest, PARLEY_BRAIN_URL: brain, XDG_RUNTIME_DIR: dir, OPENAI_API_KEY: '' });
  must(await wait(p, /call_state .*phase=up/, 20000), `the bot does not come up:\n${p.out.slice(-2000)}`);
  p.mediad = () => (sup ? sup.pid : Number(p.out.match(/child_started program=\S*mediad pid=(\d+)/g).pop().match(/\d+$/)[0]));
  p.finish = async () => { await end(p); await sup?.end(); };
  return p;
}

async function back(spawned, brain, caller) {
  const p = await bot(spawned, brain);
  await sleep(300);
  const asked = run('caller', ['--api', ready.control, '--media-sock', caller, '--offlined', join(bin, 'offlined'), '--record', join(dir, 'brain'),
    '--out', join(dir, 'out'), '--guild', GUILD, '--channel', VOICE, '--user', ALICE, '--bot', BOT, '--say', 'parley what can you do']);
  must(await wait(asked, /the bot begins to speak/, 25000), `no answer:\n${asked.out}`);
  await sleep(300 + (n * 137) % 1500);
  const last = must((await history('sound')).pop(), 'the bot is not audible');
  const at = Date.now();
  must(at - last.to_ms < 400, 'the bot does not speak');
  process.kill(p.mediad(), 'SIGKILL');
  const next = must(await until(async () => (await history('sound')).find((e) => e.from_ms > at), 20000, 10), `the bot stays silent:\n${p.out.slice(-2000)}`);
  await end(asked, 'SIGKILL');
  await p.finish();
  return next.from_ms - at;
}

async function gone(brain) {
  const p = await bot(true, brain);
  await sleep(n * 53 % 400);
  const at = Date.now();
  await end(p);
  const left = must((await history('left')).pop(), 'the bot has not left');
  must(left.from_ms >= at, 'the bot had left before');
  must(!(await api('GET', '/world')).guilds.some((g) => g.voice_states?.some((v) => v.user_id === BOT)), 'the bot is still listed');
  return left.from_ms - at;
}

async function tell(name, measure, goal) {
  const ms = [];
  for (let i = 0; i < KILLS; i++) ms.push(await measure());
  raw(name, ms);
  row(name, quantile(ms, goal), 'ms', { p50: quantile(ms, 0.5), max: Math.max(...ms), kills: KILLS });
}

mkdirSync(join(dir, 'brain'));
mkdirSync(join(dir, 'out'));
const offlined = run('offlined', ['--listen', '127.0.0.1:0', '--record', join(dir, 'brain')]);
const brain = must(await wait(offlined, /"url": ?"([^"]+)"/, 20000), 'offlined does not start')[1];
const caller = join(dir, 'caller.sock');
run('mediad', ['--listen', caller, '--ca', ready.ca]);
await tell('back_spawned_ms', () => back(true, brain, caller), 1);
await tell('back_unit_ms', () => back(false, brain, caller), 1);
await tell('gone_after_term_ms', () => gone(brain), 0.99);
process.exit(0);
