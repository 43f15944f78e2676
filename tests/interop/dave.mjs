// End-to-end encryption: unmodified @discordjs/voice members (with davey) through guildd. Joins and leaves in every order,
// all at once, and while something fails; every member must show the same privacy code and hear every other.
import { api, check, main, peer, sleep, stats, switches, until } from './lib.mjs';
import { checkSettled, group, join, newChannel, newUsers, permutations, seeded, tones } from './group.mjs';

const DAVE = { dave_version: 1, dave_required: 0 };
const leave = (p) => p.leave();
// Runs a part of the script and says how long it took.
async function part(fn, ...args) {
  if (process.env.PART && !process.env.PART.split(',').includes(fn.name)) return;
  const from = Date.now();
  await fn(...args);
  console.log(`     ${fn.name}${args.length ? ` ${args.join(' ')}` : ''}: ${Date.now() - from} ms`);
}
const counts = async (user) => (await stats()).counts[user] ?? {};

async function pairAndThree() {
  const channel = await newChannel();
  const [a, b, c] = await newUsers(3);
  const peers = await join(channel, [a]);
  await checkSettled('one is alone', channel, peers);
  peers.push(...await join(channel, [b]));
  const two = await checkSettled('two share a group', channel, peers);
  await tones('two hear each other', peers);
  peers.push(...await join(channel, [c]));
  const three = await checkSettled('three share a group', channel, peers);
  check('with another code', two !== three);
  await tones('three hear each other', peers);
  const before = await stats();
  const streams = before.relay.streams.filter((s) => s.channel_id === channel);
  check('no plain sound of a member', [a, b, c].every((u) => !before.counts[u]?.dave_plaintext), streams.map((s) => s.rx.plain).join(' '));
  check('no error', peers.every((p) => !p.errors.length), peers.flatMap((p) => p.errors).join('; '));
  await leave(peers.shift());
  await checkSettled('the first left', channel, peers);
  await tones('the others hear each other', peers);
  await Promise.all(peers.map(leave));
}

// Solo, group, solo, group: who stays starts anew each time.
async function soloAndBack() {
  const channel = await newChannel();
  const [a, b] = await newUsers(2);
  const [pa] = await join(channel, [a]);
  for (let round = 1; round <= 3; round++) {
    await checkSettled(`round ${round}: alone`, channel, [pa]);
    const [pb] = await join(channel, [b]);
    await checkSettled(`round ${round}: together`, channel, [pa, pb]);
    await tones(`round ${round}: heard`, [pa, pb], { frames: 20 });
    await leave(pb);
  }
  check('who stayed was told of the new epoch three times', (await counts(a)).dave_sent_24 === 3);
  await leave(pa);
}

// Three members: every order of coming with every order of going.
async function everyOrder() {
  const orders = permutations([0, 1, 2]);
  const cases = orders.flatMap((come) => orders.map((go) => ({ come, go })));
  const bad = [];
  let steps = 0;
  const lane = async () => {
    const channel = await newChannel();
    const users = await newUsers(3);
    for (let c = cases.pop(); c; c = cases.pop()) {
      const here = new Map();
      const look = async (what) => {
        if (!here.size) return;
        steps += 1;
        if (!(await settledQuietly(channel, [...here.values()]))) bad.push(`${c.come} / ${c.go}: ${what}`);
      };
      for (const i of c.come) { here.set(i, (await join(channel, [users[i]]))[0]); await look(`${i} came`); }
      for (const i of c.go) { await leave(here.get(i)); here.delete(i); await look(`${i} went`); }
    }
  };
  await Promise.all(Array.from({ length: 6 }, lane));
  check('36 orders of coming and going', bad.length === 0, bad.length ? bad.slice(0, 5).join('; ') : `${steps} steps`);
}
async function settledQuietly(channel, members) {
  const { settled } = await import('./group.mjs');
  return settled(channel, members);
}

// Eight users come and go as a seed says: one or some at a time, waiting for the group in between or not.
async function churn(seed, steps, patient) {
  const rnd = seeded(seed);
  const channel = await newChannel();
  const users = await newUsers(8);
  const here = new Map();
  const come = async (u) => { const p = peer(u, channel); here.set(u, p); await p.ready(15000); };
  const go = async (u) => { const p = here.get(u); here.delete(u); await leave(p); };
  const bad = [];
  for (let i = 0; i < steps; i++) {
    const n = 1 + (rnd.below(4) === 0 ? rnd.below(3) : 0);
    const chosen = new Set(Array.from({ length: n }, () => rnd.pick(users)));
    const work = [...chosen].map((u) => (here.has(u) ? go(u) : come(u)));
    if (patient) {
      await Promise.all(work);
      if (here.size && !(await settledQuietly(channel, [...here.values()]))) bad.push(`step ${i}: ${JSON.stringify(await group(channel))}`);
    } else {
      await sleep(rnd.below(60));
      await Promise.all(work);
    }
  }
  while (here.size < 3) await come(users.find((u) => !here.has(u)));
  const peers = [...here.values()];
  await checkSettled(`${steps} random steps of seed ${seed}${patient ? '' : ' without a pause'}`, channel, peers, 15000);
  check(`seed ${seed}: every step`, bad.length === 0, bad.slice(0, 3).join('; '));
  await tones(`seed ${seed}: heard`, peers, { frames: 20, at: 4 });
  await Promise.all(peers.map(leave));
}

// All of them live in one process, and davey takes some milliseconds for each Add, in each member: so they have time.
async function crowd(n) {
  await switches({ dave_batch_ms: 200, dave_commit_ms: 60000, voice_grace_ms: 60000 });
  const channel = await newChannel();
  const users = await newUsers(n);
  const peers = await join(channel, users.slice(0, 6));
  await checkSettled('6 begin a group at once', channel, peers, 20000);
  peers.push(...await join(channel, users.slice(6)));
  await checkSettled(`${n - 6} join it at once`, channel, peers, 30000);
  await tones(`${n} hear each other`, peers, { frames: 12, at: 5 });
  const gone = peers.splice(3, Math.floor(n / 2));
  await Promise.all(gone.map(leave));
  await checkSettled(`${gone.length} left at once`, channel, peers, 20000);
  peers.push(...await join(channel, gone.map((p) => p.userId)));
  await checkSettled('and came back at once', channel, peers, 20000);
  await tones('and are heard', peers.slice(-4), { frames: 15 });
  await Promise.all(peers.map(leave));
  await switches({ dave_batch_ms: 0, dave_commit_ms: 5000, voice_grace_ms: 5000 });
}

// The group changes while a member's connection is down: it gets what it missed, in order.
async function resumes(first) {
  await switches({ replay_first: first });
  const channel = await newChannel();
  const [a, b, c, d] = await newUsers(4);
  const peers = await join(channel, [a, b, c]);
  await checkSettled('before the connection is lost', channel, peers);
  await api('POST', `/users/${b}/drop`, { which: 'voice' });
  const [pd] = await join(channel, [d]);
  await leave(peers.pop());
  peers.push(pd);
  check('the lost connection is resumed', !!(await until(async () => (await counts(b)).voice_resumed === 1)));
  await Promise.all(peers.map((p) => p.ready()));
  await checkSettled('the group changed during a resume', channel, peers);
  await tones('and they hear each other', peers, { frames: 20 });
  await Promise.all(peers.map(leave));
  await switches({ replay_first: 0 });
}

async function faults() {
  const channel = await newChannel();
  const [a, b, c, d, e, f] = await newUsers(6);
  const peers = await join(channel, [a, b, c]);
  await checkSettled('before faults', channel, peers);
  const fault = (u, o) => api('POST', `/users/${u}/faults`, o);

  await fault(b, { op: 29, what: 'corrupt' });
  peers.push(...await join(channel, [d]));
  await checkSettled('after a corrupt commit', channel, peers);
  check('it asked to be added again', (await counts(b)).voice_op_31 === 1 && (await counts(b)).dave_sent_30 >= 1);

  await fault(e, { op: 30, what: 'corrupt' });
  peers.push(...await join(channel, [e]));
  await checkSettled('after a corrupt welcome', channel, peers);
  check('that one asked too', (await counts(e)).voice_op_31 === 1);
  await tones('all hear each other', peers, { frames: 20, at: 5 });

  await fault(a, { op: 22, what: 'lose' });
  await leave(peers.pop());
  await checkSettled('after a lost op 22', channel, peers);
  await fault(e, { op: 30, what: 'delay', ms: 400 });
  peers.push(...await join(channel, [e]));
  await checkSettled('after a late welcome', channel, peers);

  // The joiner is gone before anybody could commit: its Add is revoked, and another comes in the same epoch.
  const present = peers.map((p) => p.userId);
  for (const u of present) await fault(u, { op: 27, what: 'hold', ms: 250 });
  const [gone] = await join(channel, [f]);
  await until(async () => (await group(channel)).proposals === 1);
  await leave(gone);
  await until(async () => (await group(channel)).proposals === 0);
  peers.push(...await join(channel, [f]));
  await checkSettled('an Add was revoked', channel, peers);
  await tones('all hear each other again', peers, { frames: 20, at: 6 });

  // Without its commit a member is deaf until it has failed often enough; then it asks to be added again.
  const before = (await counts(b)).voice_op_31;
  await fault(b, { op: 29, what: 'lose' });
  await leave(peers.pop());
  await peers[0].play((await import('./lib.mjs')).tone(600, 60));
  const hears = peers[1].hear(a);
  check('a member that lost a commit asks to be added again', await until(async () => {
    await peers[0].play((await import('./lib.mjs')).tone(600, 30));
    return (await counts(b)).voice_op_31 > before;
  }, 8000) === true);
  await checkSettled('and is', channel, peers);
  void hears;
  await tones('and hears', peers, { frames: 20, at: 6 });
  await Promise.all(peers.map(leave));
}

// Clients without DAVE: refused where it is required, and where it is not the channel goes down to version 0 and up again.
async function versions() {
  const channel = await newChannel();
  const [a, b, c, d] = await newUsers(4);
  const peers = await join(channel, [a, b]);
  await checkSettled('encrypted', channel, peers);
  const [plain] = await join(channel, [c], { daveEncryption: false });
  check('a client without DAVE brings version 0', !!(await until(async () => {
    const g = await group(channel);
    return g.executed === 0 && g.transitions.length === 0;
  })));
  await tones('in the clear', [...peers, plain], { frames: 20 });
  check('no code is shown', peers.every((p) => p.code() === ''));
  peers.push(...await join(channel, [d]));
  await leave(plain);
  await checkSettled('it left: encrypted again', channel, peers);
  await tones('and they hear each other', peers, { frames: 20 });
  await Promise.all(peers.map(leave));
}

async function oldGroup({ channel, users, peers, begun }) {
  await sleep(Math.max(0, begun + 46000 - Date.now()));
  await checkSettled('an old group', channel, peers);
  peers.push(...await join(channel, users.slice(2)));
  await checkSettled('a member comes 46 s late', channel, peers);
  await tones('and all hear each other', peers);
  await Promise.all(peers.map(leave));
}

// PART=name runs one part alone.
await main(async () => {
  await api('POST', '/reset');
  await switches(DAVE);
  // A member that joins a group of 46 seconds: the group is begun here and joined at the end.
  const late = process.env.PART ? null : { channel: await newChannel(), users: await newUsers(3), begun: Date.now() };
  if (late) late.peers = await join(late.channel, late.users.slice(0, 2));

  await part(pairAndThree);
  await part(soloAndBack);
  await part(everyOrder);
  await part(churn, 1, 25, true);
  await part(churn, 2, 40, false);
  await part(crowd, 25);
  await part(resumes, 0);
  await part(faults);
  await part(versions);

  if (late) await oldGroup(late);
  check('guildd found nothing malformed', Object.values((await stats()).counts).every((c) => !c.dave_kp_bad && !c.dave_commit_bad));
}, 180000);
