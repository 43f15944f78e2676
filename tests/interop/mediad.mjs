// mediad, driven over its socket as by control, and an unmodified @discordjs/voice peer exchange audio through guildd, in both
// transport modes, on clean and on bad networks.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALICE, BOT, MODES, api, check, checkTone, decode, main, ready, skip, sleep, stats, tone, until } from './lib.mjs';
import { PHASE } from './media.mjs';
import { RATE, call, say, sine } from './mediad_call.mjs';

const bin = join(process.env.BIN ?? '../../build', 'mediad');
const BAD = ['bad_size', 'bad_version', 'bad_type', 'bad_ssrc', 'bad_source', 'no_key', 'bad_nonce', 'bad_auth', 'bad_ext',
  'bad_padding', 'empty', 'not_speaking'];

async function pair(sock, name, set, epoch) {
  const { m, b, over } = await call(sock, name, set, epoch);
  m.send('LISTEN', { call: 1, gen: m.gen, listen: 7, user: BigInt(ALICE), rate: RATE, silence_ms: 700 });
  const heard = [];
  m.on('HEARD', (h) => { for (let i = 0; i < h.pcm.length; i += 2) heard.push(h.pcm.readInt16LE(i)); });
  const heardByB = b.hear(BOT);
  const [said] = await Promise.all([say(m, 1, sine(1000, 2)), b.play(tone(440, 100))]);
  await m.want('HEARD_END', (x) => x.listen === 7);
  checkTone(`${name}: mediad hears the peer`, heard, 440, 1000, RATE);
  checkTone(`${name}: the peer hears mediad`, decode(heardByB), 1000, 440);
  check(`${name}: every sample was said`, said.drained.samples === said.samples, `${said.drained.samples} of ${said.samples}`);
  const s = await stats();
  const refused = [s.relay.network, ...s.relay.streams].flatMap((c) => BAD.filter((k) => c.rx[k]));
  check(`${name}: no bad packet`, refused.length === 0, refused.join(' '));
  const ours = s.relay.streams.find((x) => x.user_id === BOT);
  check(`${name}: silence at the end`, ours.rx.silence >= 5, ours.rx.silence);
  check(`${name}: one lease was enough`, m.leases === 1 && (s.counts[BOT]?.voice_reused_lease ?? 0) === 0);
  return { m, b, over };
}

// Loss reports that mediad sends and receives: guildd accepts them, and the encoder expects the reported loss.
async function reports(sock, epoch) {
  const { m, b, over } = await pair(sock, 'reports of loss', { rtcp_every: 2, report_loss_permille: 200 }, epoch);
  const told = await m.want('CALL_STATS', (s) => s.reports > 0, 8000);
  check('reports of loss are told', told.reported_loss >= 150 && told.reported_loss <= 250, told.reported_loss);
  check('the encoder expects loss', told.expected_loss > 5 && told.expected_loss <= 30, told.expected_loss);
  const bot = async () => (await stats()).relay.streams.find((s) => s.user_id === BOT);
  check('reports come to the server', !!(await until(async () => (await bot()).sender_reports > 0 && (await bot()).report_blocks > 0, 8000)));
  check('every report is well-formed', (await bot()).rx.bad_rtcp === 0);
  await over();
}

// A crashed voice server and a dropped connection are resumed without a new lease; 4006 asks for one.
async function faults(sock) {
  const { m, b, over } = await pair(sock, 'before faults', {}, 90);
  const resumed = async (n) => until(async () => (await stats()).counts[BOT]?.voice_resumed === n, 8000);
  await api('POST', `/users/${BOT}/close`, { which: 'voice', code: 4015 });
  check('4015 is resumed', !!(await resumed(1)));
  await api('POST', `/users/${BOT}/drop`, { which: 'voice' });
  check('a lost connection is resumed', !!(await resumed(2)) && m.leases === 1);
  await until(() => m.seen.filter((x) => x.type === 'CALL_STATE').at(-1).phase === PHASE.UP);
  await api('POST', `/users/${BOT}/close`, { which: 'voice', code: 4006 });
  check('4006 asks for a new lease', !!(await until(() => m.leases === 2, 8000)));
  check('and is up again', !!(await until(() => m.seen.filter((x) => x.type === 'CALL_STATE').at(-1).phase === PHASE.UP, 10000)));
  const heardByB = b.hear(BOT);
  await say(m, 2, sine(1000, 1));
  await sleep(200);
  checkTone('sound goes on', decode(heardByB), 1000, 440);
  await over();
}

// Every thread of mediad runs under a filter of system calls, and none may gain privileges.
const statuses = (pid) => readdirSync(`/proc/${pid}/task`).map((t) => readFileSync(`/proc/${pid}/task/${t}/status`, 'utf8'));
function sandboxed(pid) {
  const status = statuses(pid);
  const all = (what) => status.every((s) => s.includes(what));
  check('all its threads are under a filter', status.length >= 3 && all('Seccomp:\t2\n') && all('NoNewPrivs:\t1\n'), `${status.length} threads`);
  check('and without capabilities', all('CapEff:\t0000000000000000\n'));
}

await main(async () => {
  if (!existsSync(bin)) { skip('mediad', `${bin} is not built`); return; }
  const dir = mkdtempSync(join(tmpdir(), 'interop-'));
  const sock = join(dir, 'mediad.sock');
  const mediad = spawn(bin, ['--listen', sock, '--ca', ready.ca, '--log', process.env.MEDIAD_LOG ?? 'warn'], { stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    check('mediad listens', !!(await until(() => existsSync(sock))));
    // Its threads begin one after the other.
    await until(() => statuses(mediad.pid).length >= 3 && statuses(mediad.pid).every((s) => s.includes('Seccomp:\t2')), 5000);
    sandboxed(mediad.pid);
    let epoch = 1;
    for (const mode of MODES) await (await pair(sock, mode, { modes: mode }, epoch++)).over();
    await (await pair(sock, 'padding and reports', { pad_every: 5, pad_only_every: 9, rtcp_every: 10 }, epoch++)).over();
    await reports(sock, epoch++);
    await (await pair(sock, 'late, doubled, out of order', { delay_ms: 20, jitter_ms: 5, dup_permille: 50, reorder_permille: 20 }, epoch++)).over();
    await faults(sock);
  } finally {
    mediad.kill('SIGTERM');
    const [code] = mediad.exitCode === null ? await once(mediad, 'exit') : [mediad.exitCode];
    check('mediad ends in order', code === 0, code);
    rmSync(dir, { recursive: true });
  }
}, 120000);
