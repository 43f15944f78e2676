// Shared by the scripts about end-to-end encryption: users and channels, the state of a channel's group, and tones that every
// member must receive from every other.
import { GUILD, api, check, goertzel, sleep, until } from './lib.mjs';

let nextId = 700000000000000000n;
export const newId = () => String(nextId++);

export async function newUser(name = 'member') {
  const id = newId();
  await api('POST', '/users', { id, name });
  await api('POST', `/guilds/${GUILD}/members`, { user_id: id });
  return id;
}
export const newUsers = (n) => Promise.all(Array.from({ length: n }, (_, i) => newUser(`member ${i}`)));
// Waits until every member of the list is up.
export async function up(members, ms = 15000) {
  await Promise.all(members.map((m) => m.ready(ms)));
  return members;
}
export async function newChannel(more = {}) {
  const id = newId();
  await api('POST', `/guilds/${GUILD}/channels`, { id, type: 'voice', name: 'Group', ...more });
  return id;
}
export const group = (channel) => api('GET', `/channels/${channel}/dave`, undefined, true);

// A seeded random number generator.
export function seeded(seed) {
  let s = seed >>> 0;
  const next = () => {
    s = (s + 0x6d2b79f5) >>> 0;
    let t = Math.imul(s ^ (s >>> 15), s | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
  return { below: (n) => next() % n, pick: (list) => list[next() % list.length] };
}
export function permutations(list) {
  if (list.length < 2) return [list];
  return list.flatMap((x, i) => permutations([...list.slice(0, i), ...list.slice(i + 1)]).map((rest) => [x, ...rest]));
}

// Waits until the group has exactly these members, no transition is pending, and all members show the same code (a single member
// shows none). Members have userId and code(). Returns the code, or undefined.
export async function settled(channel, members, ms = 8000) {
  const ids = members.map((m) => m.userId).sort().join();
  return until(async () => {
    const g = await group(channel);
    if (g.error || g.transitions.length || g.proposals) return undefined;
    if (members.length === 1) return g.epoch === 0 && g.members.length === 1 && members[0].code() === '' ? 'alone' : undefined;
    if (g.leaves.filter(Boolean).sort().join() !== ids || !g.members.every((m) => m.state === 'member')) return undefined;
    const codes = new Set(members.map((m) => m.code()));
    const [code] = codes;
    return codes.size === 1 && code.length === 30 ? code : undefined;
  }, ms, 25);
}
export async function checkSettled(name, channel, members, ms) {
  const code = await settled(channel, members, ms);
  const why = code ? '' : `codes ${members.map((m) => m.code() || '-').join(' ')}; ${JSON.stringify(await group(channel))}`;
  check(name, !!code, why || (code === 'alone' ? '' : code));
  return code;
}

// ---- tones ----
const pitch = (i) => 320 + 90 * (i % 25);
// Every member sends for `ms`, `at` members at a time, and every other member must receive it: the right pitch, for at least the
// share `least` of the time (npm members lose packets that arrive before op 5). Counts as one check.
export async function tones(name, members, { ms = 600, at = 3, least = 0.8 } = {}) {
  const deaf = [];
  let heard = 0;
  for (let i = 0; i < members.length; i += at) {
    const speakers = members.slice(i, i + at);
    const receivers = [];
    for (const [k, s] of speakers.entries()) {
      for (const m of members) if (m !== s) receivers.push({ s, m, hz: pitch(i + k), ear: m.ear(s.userId) });
    }
    await Promise.all(speakers.map((s, k) => s.sing(pitch(i + k), ms)));
    await sleep(150);
    for (const e of receivers) {
      e.ear.stop();
      const x = e.ear.samples();
      const want = goertzel(x, e.hz, e.ear.rate);
      const other = goertzel(x, e.hz === pitch(0) ? pitch(7) : pitch(0), e.ear.rate);
      if (x.length >= (e.ear.rate * ms * least) / 1000 && want > 1500 && want > 10 * other) heard += 1;
      else deaf.push(`${e.m.kind} ${e.m.userId} <- ${e.s.kind} ${e.s.userId}: ${x.length} samples, ${want.toFixed(0)} / ${other.toFixed(0)}`);
    }
  }
  const ways = members.length * (members.length - 1);
  check(name, deaf.length === 0 && heard === ways, deaf.length ? `${deaf.length} of ${ways}: ${deaf.slice(0, 6).join('; ')}` : `${heard} ways`);
}
