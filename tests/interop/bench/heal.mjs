// heal_p99_ms: the recovery time of an encrypted call after each kind of fault. HEAL_RUNS of each kind (8).
//
//   corrupt commit, lost welcome (its number there or not), lost op 22, another external sender
//
// An npm member sends a tone continuously; the figure is the longest time in which mediad decrypted none of it (for a welcome:
// from the moment its session was up). After a lost op 22 it is the other members who cannot decrypt: there mediad sends, and the
// figure is the longest time in which the npm member decrypted nothing, over the twelve seconds in which old keys expire.
import * as V from '@discordjs/voice';
import { api, sleep, switches, until } from '../lib.mjs';
import { newChannel, newUsers } from '../group.mjs';
import { Host, mediadMember, npmMember } from '../members.mjs';
import { quantile, raw, row, singOn, watch } from './watch.mjs';

const RUNS = Number(process.env.HEAL_RUNS ?? 8);
const fault = (user, o) => api('POST', `/users/${user}/faults`, o);
const must = (ok, what) => { if (!ok) throw new Error(what); };

// A channel with a sender of a tone and a mediad that receives it.
async function scene(host) {
  const channel = await newChannel();
  const [a, m, c] = await newUsers(3);
  const singer = npmMember(a, channel);
  await singer.ready(10000);
  const member = mediadMember(host, m, channel);
  const call = host.calls;
  await member.ready(10000);
  must(await until(() => member.code().length === 30, 10000), 'no group');
  const song = singOn(singer, 440);
  const ear = watch(host, member, call, a);
  must(await until(() => ear.count() > 25, 10000), 'the singer is not heard');
  return { channel, singer, member, call, song, ear, third: c, end: async () => {
    song.stop();
    ear.stop();
    await member.leave();
    await singer.leave();
  } };
}

// Waits until audio has been decrypted for a second again; returns the longest gap.
async function settle(s, from, ms = 15000) {
  must(await until(() => s.ear.at.filter((t) => t > performance.now() - 1000).length > 40, ms), 'it stays deaf');
  return s.ear.gap(from);
}

const kinds = {
  async corrupt_commit(host) {
    const s = await scene(host);
    await fault(s.member.userId, { op: 29, what: 'corrupt' });
    const from = performance.now();
    const c = npmMember(s.third, s.channel);
    await c.ready(10000);
    await sleep(1500);
    const gap = await settle(s, from);
    await c.leave();
    await s.end();
    return gap;
  },
  lost_welcome: (host, i) => welcome(host, i % 2 ? 'lose' : 'skip'),
  async lost_op_22(host) {
    const s = await scene(host);
    const got = [];
    const stream = s.singer.conn.receiver.subscribe(s.member.userId, { end: { behavior: V.EndBehaviorType.Manual } });
    stream.on('data', () => got.push(performance.now()));
    stream.on('error', () => {});
    const singing = s.member.sing(600, 14000);
    must(await until(() => got.length > 25, 8000), 'mediad is not heard');
    await fault(s.member.userId, { op: 22, what: 'skip' });
    const from = performance.now();
    const c = npmMember(s.third, s.channel);
    await c.ready(10000);
    await singing;
    const inside = got.filter((t) => t > from);
    must(inside.length > 300, `only ${inside.length} frames of mediad came`);
    stream.destroy();
    await c.leave();
    await s.end();
    return Math.max(inside[0] - from, ...inside.slice(1).map((t, i) => t - inside[i]));
  },
  // Only mediad members: davey throws on the new signature, which ends an npm member's process.
  async new_sender(host) {
    const channel = await newChannel();
    const users = await newUsers(3);
    const singer = mediadMember(host, users[0], channel);
    await singer.ready(10000);
    const member = mediadMember(host, users[1], channel);
    const call = host.calls;
    await member.ready(10000);
    must(await until(() => member.code().length === 30, 10000), 'no group');
    const ear = watch(host, member, call, users[0]);
    const singing = singer.sing(440, 14000);
    must(await until(() => ear.count() > 25, 10000), 'the singer is not heard');
    const from = performance.now();
    await api('POST', `/channels/${channel}/dave`, { what: 'new_sender' });
    const third = mediadMember(host, users[2], channel);
    await third.ready(10000);
    await sleep(8000);
    const gap = await settle({ ear }, from);
    ear.stop();
    await singing;
    await Promise.all([singer, member, third].map((x) => x.leave()));
    return gap;
  },
};
async function welcome(host, what) {
  const channel = await newChannel();
  const [a, b, m] = await newUsers(3);
  const [singer, other] = [npmMember(a, channel), npmMember(b, channel)];
  await Promise.all([singer.ready(10000), other.ready(10000)]);
  const song = singOn(singer, 440);
  await sleep(300);
  await fault(m, { op: 30, what });
  const member = mediadMember(host, m, channel);
  const call = host.calls;
  await member.ready(10000);
  const from = performance.now();
  const ear = watch(host, member, call, a);
  const s = { ear };
  const gap = await settle(s, from);
  song.stop();
  ear.stop();
  await Promise.all([member.leave(), singer.leave(), other.leave()]);
  return gap;
}

await switches({ dave_version: 1, dave_required: 0 });
const host = await Host.start('800000000000000000');
const all = [];
const more = {};
for (const [name, run] of Object.entries(kinds)) {
  const got = [];
  for (let i = 0; i < RUNS; i++) got.push(await run(host, i));
  more[name] = { p50: Math.round(quantile(got, 0.5)), max: Math.round(Math.max(...got)) };
  if (process.env.BENCH_DEBUG) console.error(name, got.map(Math.round));
  all.push(...got);
}
raw('heal_p99_ms', all);
row('heal_p99_ms', quantile(all, 0.99), 'ms', { runs: all.length, ...more });
await host.stop();
process.exit(0);
