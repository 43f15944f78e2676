// A storm of re-keys: 12 members in a channel, 3 of mediad and 9 of davey, 10 of them sending; another one joins or leaves every
// 500 ms, REKEY_STEPS times (120; the long run has 1000). Rows: rekey_deaf_p99_ms, rekey_lost_frames.
//
// Deaf time: for each step, each mediad and each npm sender, the longest time from a packet's arrival to its delivery (HEARD carries
// the arrival time; a packet without a key waits). Lost: frames that guildd forwarded to a mediad, less those that it delivered, or
// its own count of undecryptable packets, whichever is more.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { api, sleep, switches, until } from '../lib.mjs';
import { newChannel, newUsers } from '../group.mjs';
import { Host, mediadMember } from '../members.mjs';
import { quantile, raw, row, watch } from './watch.mjs';

const STEPS = Number(process.env.REKEY_STEPS ?? 120);
const PERIOD = 500;
const MEDIADS = 3;
const NPM = 9;
const SINGING_MEDIADS = 1; // with all nine of davey: ten
const must = (ok, what) => { if (!ok) throw new Error(what); };

await switches({ dave_version: 1, dave_required: 0, record_forwarded: 1, dave_commit_ms: 60000, voice_grace_ms: 60000 });
const channel = await newChannel();
const users = await newUsers(MEDIADS + NPM + 2);
const npm = users.slice(MEDIADS, MEDIADS + NPM);
const churners = users.slice(MEDIADS + NPM);
const hosts = await Promise.all(Array.from({ length: MEDIADS }, (_, i) => Host.start(String(800000000000000000n + BigInt(i)))));
const ours = hosts.map((h, i) => mediadMember(h, users[i], channel));
for (const m of ours) await m.ready(15000);
const memberProcess = fork(new URL('members_process.mjs', import.meta.url), [JSON.stringify({ channel, users: npm })], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
process.on('exit', () => memberProcess.kill());
must((await once(memberProcess, 'message'))[0].ready, 'no member process');
must(await until(async () => {
  memberProcess.send({ codes: true });
  const [{ codes }] = await once(memberProcess, 'message');
  return new Set([...ours.map((m) => m.code()), ...codes]).size === 1 && ours[0].code().length === 30;
}, 20000), 'no common group');

// Receivers start before the first sender, so they lose nothing.
const statistics = hosts.map(() => new Map());
hosts.forEach((h, i) => h.media.on('USER_STATS', (s) => statistics[i].set(String(s.user), s)));
const receivers = hosts.flatMap((h, i) => npm.map((user) => ({ i, user, ear: watch(h, ours[i], 1, user) })));
await sleep(300);
memberProcess.send({ sing: true });
let over = false;
const singing = ours.slice(0, SINGING_MEDIADS).map(async (m) => { while (!over) await m.sing(900, 10000); });
must(await until(() => receivers.every((e) => e.ear.count() > 25), 15000), 'not everybody is heard');

const began = performance.now();
const marks = [];
const late = [];
for (let k = 0; k < STEPS; k++) {
  const at = began + k * PERIOD;
  await sleep(Math.max(0, at - performance.now()));
  late.push(performance.now() - at);
  marks.push(performance.now());
  memberProcess.send({ churn: churners[(k >> 1) % churners.length] });
}
marks.push(performance.now() + PERIOD);
await sleep(PERIOD + 1500);
over = true;
memberProcess.send({ stop: true });
await Promise.all(singing);
await sleep(6500); // statistics come every 5 s
const deaf = [];
for (let k = 0; k < STEPS; k++) for (const e of receivers) deaf.push(e.ear.wait(marks[k], marks[k + 1]));

let missing = 0;
let forwarded = 0;
for (const [i, m] of ours.entries()) {
  const { streams } = await api('GET', `/users/${m.userId}/forwarded`);
  for (const f of streams.flatMap((s) => s.from)) {
    const e = receivers.find((x) => x.i === i && x.user === f.user_id);
    if (!e) continue;
    forwarded += f.count;
    missing += Math.max(0, f.count - e.ear.count());
  }
}
const refused = statistics.reduce((sum, map) => sum + [...map.values()].reduce((n, s) => n + s.undecryptable + s.not_sealed, 0), 0);
const outages = statistics.reduce((sum, map) => sum + [...map.values()].reduce((n, s) => n + s.outages, 0), 0);
const heals = ours.map((m) => m.secure.recovers + m.secure.resumes + m.secure.rejoins).reduce((a, b) => a + b, 0);
raw('rekey_deaf_p99_ms', deaf);
row('rekey_deaf_p99_ms', quantile(deaf, 0.99), 'ms', { p50: Math.round(quantile(deaf, 0.5)), max: Math.round(Math.max(...deaf)), steps: STEPS,
  worst_step_late_ms: Math.round(Math.max(...late)), outages, heals, errors: ours.flatMap((m) => m.errors).length });
row('rekey_lost_frames', Math.max(missing, refused), 'frames', { forwarded, missing, refused });
for (const e of receivers) e.ear.stop();
await Promise.all(ours.map((m) => m.leave()));
await Promise.all(hosts.map((h) => h.stop()));
process.exit(0);
