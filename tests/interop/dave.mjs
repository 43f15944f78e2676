// End-to-end encryption through guildd: unmodified @discordjs/voice members (with davey) and calls of mediad in one channel.
// Joins and leaves in every order, at the same time, and during faults; every member must show the same privacy code and
// receive every other.
//
//   dave.mjs            mediad among the members
//   dave.mjs --npm      npm members alone, which proves guildd
//   PART=name[,name]    these parts alone
//   SEEDS=n,n,…         random joins and leaves without a pause, with these seeds
import { api, check, main, skip, sleep, stats, switches, until } from './lib.mjs';
import { checkSettled, group, newChannel, newUsers, permutations, seeded, settled, tones, up } from './group.mjs';
import { Cast, Host, npmMember } from './members.mjs';

const npmOnly = process.argv.includes('--npm') || !Host.built();
let cast;
const leave = (m) => m.leave();
const counts = async (user) => (await stats()).counts[user] ?? {};
const errors = (members) => members.flatMap((m) => m.errors).join('; ');
// Members for these users of a part; users[i] is of kinds[i], the last kind for all further ones.
const enter = (channel, users, kinds = ['npm']) =>
  up(users.map((u, i) => cast.member(npmOnly ? 'npm' : kinds[Math.min(i, kinds.length - 1)], u, channel)));

// Runs a part of the script and prints its duration.
async function part(fn, ...args) {
  if (process.env.PART && !process.env.PART.split(',').includes(fn.name)) return;
  const from = Date.now();
  await fn(...args);
  console.log(`     ${fn.name}${args.length ? ` ${args.join(' ')}` : ''}: ${Date.now() - from} ms`);
}

async function twoAndThree(...kinds) {
  const name = npmOnly ? '' : ` (${kinds.join(', ')})`;
  const channel = await newChannel();
  const users = await newUsers(3);
  const members = await enter(channel, users.slice(0, 1), kinds);
  await checkSettled(`one is alone${name}`, channel, members);
  members.push(...await enter(channel, users.slice(1, 2), kinds.slice(1)));
  const two = await checkSettled(`two share a group${name}`, channel, members);
  await tones(`two hear each other${name}`, members);
  members.push(...await enter(channel, users.slice(2), kinds.slice(2)));
  const three = await checkSettled(`three share a group${name}`, channel, members);
  check(`with another code${name}`, two !== three);
  await tones(`three hear each other${name}`, members);
  const s = await stats();
  check(`no plain sound of a member${name}`, users.every((u) => !s.counts[u]?.dave_plaintext));
  check(`none of mediad ever${name}`, members.every((m) => m.kind === 'npm' || !s.counts[m.userId]?.dave_plaintext_early));
  await leave(members.shift());
  await checkSettled(`the first left${name}`, channel, members);
  await tones(`the others hear each other${name}`, members);
  check(`no error${name}`, !errors(members), errors(members));
  await Promise.all(members.map(leave));
}

// Alone, group, alone, group: the member that stays begins a new group each time.
async function soloAndBack(stays, comes) {
  const channel = await newChannel();
  const [a, b] = await newUsers(2);
  const [ma] = await enter(channel, [a], [stays]);
  for (let round = 1; round <= 3; round++) {
    await checkSettled(`round ${round}: ${stays} alone, ${comes} to come`, channel, [ma]);
    const [mb] = await enter(channel, [b], [comes]);
    await checkSettled(`round ${round}: ${stays} with ${comes}`, channel, [ma, mb]);
    await tones(`round ${round}: ${stays} and ${comes} are heard`, [ma, mb], { ms: 400 });
    await leave(mb);
  }
  check('a member that stayed received the new epoch three times', !!(await until(async () => (await counts(a)).dave_sent_24 === 3)));
  await leave(ma);
}

// Three members: every order of joining with every order of leaving.
async function everyOrder(...kinds) {
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
        if (!(await settled(channel, [...here.values()]))) bad.push(`${c.come} / ${c.go}: ${what}`);
      };
      for (const i of c.come) { here.set(i, (await enter(channel, [users[i]], [kinds[i]]))[0]); await look(`${i} came`); }
      for (const i of c.go) { await leave(here.get(i)); here.delete(i); await look(`${i} went`); }
    }
  };
  await Promise.all(Array.from({ length: 6 }, lane));
  check('36 orders of coming and going', bad.length === 0, bad.length ? bad.slice(0, 5).join('; ') : `${steps} steps`);
}

// Eight users, three of them mediad's, join and leave in a seeded order: one or several at a time, with or without waiting for
// the group in between.
async function churn(seed, steps, patient) {
  const rnd = seeded(seed);
  const channel = await newChannel();
  const users = await newUsers(8);
  const here = new Map();
  const come = async (u) => {
    const m = cast.member(npmOnly || users.indexOf(u) > 2 ? 'npm' : 'mediad', u, channel);
    here.set(u, m);
    await m.ready(15000);
  };
  const go = async (u) => { const m = here.get(u); here.delete(u); await leave(m); };
  const bad = [];
  for (let i = 0; i < steps; i++) {
    const n = 1 + (rnd.below(4) === 0 ? rnd.below(3) : 0);
    const chosen = new Set(Array.from({ length: n }, () => rnd.pick(users)));
    const work = [...chosen].map((u) => (here.has(u) ? go(u) : come(u)));
    if (!patient) await sleep(rnd.below(60));
    await Promise.all(work);
    if (patient && here.size && !(await settled(channel, [...here.values()]))) bad.push(`step ${i}: ${JSON.stringify(await group(channel))}`);
  }
  while (here.size < 3) await come(users.find((u) => !here.has(u)));
  const members = [...here.values()];
  await checkSettled(`${steps} random steps of seed ${seed}${patient ? '' : ' without a pause'}`, channel, members, 15000);
  check(`seed ${seed}: every step`, bad.length === 0, bad.slice(0, 3).join('; '));
  await tones(`seed ${seed}: heard`, members, { ms: 400, at: 4 });
  await Promise.all(members.map(leave));
}

// The npm members run in one process, and davey needs some milliseconds per Add in each member; therefore the time limit is long.
async function manyMembers(n) {
  await switches({ dave_batch_ms: 200, dave_commit_ms: 60000, voice_grace_ms: 60000 });
  const channel = await newChannel();
  const users = await newUsers(n);
  const members = await enter(channel, users.slice(0, 6), ['mediad', 'npm']);
  await checkSettled('6 begin a group at once', channel, members, 20000);
  members.push(...await enter(channel, users.slice(6), ['mediad', 'npm']));
  await checkSettled(`${n - 6} join it at once`, channel, members, 30000);
  await tones(`${n} hear each other`, members, { ms: 260, at: 5, least: 0.5 });
  const gone = members.splice(3, Math.floor(n / 2));
  await Promise.all(gone.map(leave));
  await checkSettled(`${gone.length} left at once`, channel, members, 20000);
  members.push(...await enter(channel, gone.map((p) => p.userId), ['mediad', 'npm']));
  await checkSettled('and came back at once', channel, members, 20000);
  await tones('and are heard', [members[0], ...members.slice(-4)], { ms: 300 });
  await Promise.all(members.map(leave));
  await switches({ dave_batch_ms: 0, dave_commit_ms: 5000, voice_grace_ms: 5000 });
}

// The group changes while a member's connection is down: it gets the missed messages in order, after op 9 or before it.
async function resumes(kind, first) {
  await switches({ replay_first: first });
  const channel = await newChannel();
  const [a, b, c, d] = await newUsers(4);
  const members = await enter(channel, [a, b, c], ['npm', kind, 'npm']);
  await checkSettled(`before ${kind} loses its connection`, channel, members);
  await api('POST', `/users/${b}/drop`, { which: 'voice' });
  const [md] = await enter(channel, [d]);
  await leave(members.pop());
  members.push(md);
  check('the lost connection is resumed', !!(await until(async () => (await counts(b)).voice_resumed === 1)));
  await up(members);
  await checkSettled(`the group changed during a resume${first ? ', told before op 9' : ''}`, channel, members);
  await tones('and they hear each other', members, { ms: 400 });
  await Promise.all(members.map(leave));
  await switches({ replay_first: 0 });
}

// `kind` is the member that suffers the faults.
async function faults(kind) {
  const channel = await newChannel();
  const [a, b, c, d, e, f] = await newUsers(6);
  const members = await enter(channel, [a, b, c], ['npm', kind, 'npm']);
  await checkSettled(`before faults on ${kind}`, channel, members);
  const fault = (u, o) => api('POST', `/users/${u}/faults`, o);

  await fault(b, { op: 29, what: 'corrupt' });
  members.push(...await enter(channel, [d]));
  await checkSettled('after a corrupt commit', channel, members);
  check('it asked to be added again', (await counts(b)).voice_op_31 === 1 && (await counts(b)).dave_sent_30 >= 1);

  await fault(e, { op: 30, what: 'corrupt' });
  members.push(...await enter(channel, [e], [kind]));
  await checkSettled('after a corrupt welcome', channel, members);
  check('that one asked too', (await counts(e)).voice_op_31 === 1);
  await tones('all hear each other', members, { ms: 400, at: 5 });

  // Not on the npm member that recovers below: while it waits for an op 22 it does not count undecryptable packets.
  await fault(kind === 'npm' ? a : b, { op: 22, what: 'lose' });
  await leave(members.pop());
  await checkSettled('after a lost op 22', channel, members);
  await fault(e, { op: 30, what: 'delay', ms: 400 });
  members.push(...await enter(channel, [e], [kind]));
  await checkSettled('after a late welcome', channel, members);

  // The joiner leaves before any member could commit: its Add is revoked, and another one follows in the same epoch.
  for (const m of members) await fault(m.userId, { op: 27, what: 'hold', ms: 250 });
  const [gone] = await enter(channel, [f], [kind]);
  await until(async () => (await group(channel)).proposals === 1);
  await leave(gone);
  await until(async () => (await group(channel)).proposals === 0);
  members.push(...await enter(channel, [f], [kind]));
  await checkSettled('an Add was revoked', channel, members);
  await tones('all hear each other again', members, { ms: 400, at: 6 });

  // Without its commit a member cannot decrypt; it must notice and recover by itself.
  await fault(b, { op: 29, what: 'lose' });
  await leave(members.pop());
  await until(async () => (await group(channel)).transitions.length === 0);
  const from = Date.now();
  const ear = members[1].ear(a);
  let back = false;
  for (let i = 0; i < 6 && !back; i++) {
    await members[0].sing(600, 800);
    back = !!(await settled(channel, members, 300));
  }
  ear.stop();
  const n = await counts(b);
  check(`${kind} that lost a commit finds back`, back,
    `${Date.now() - from} ms; ${n.voice_op_31} op 31, ${n.voice_resumed ?? 0} resumes, ${n.voice_identified - 1} rejoins`);
  await tones('and hears', members, { ms: 400, at: 6 });
  await Promise.all(members.map(leave));
}

// Faults from which mediad must recover by itself while a member speaks: measures the time until audio flows in both directions.
async function heals() {
  if (npmOnly) return;
  const channel = await newChannel();
  const [a, b, c, d] = await newUsers(4);
  const fault = (o) => api('POST', `/users/${b}/faults`, o);
  const members = await enter(channel, [a, c, b], ['npm', 'npm', 'mediad']);
  await checkSettled('before it heals', channel, members);
  const healed = async (name, before = {}) => {
    const from = Date.now();
    let talk = true;
    const talking = (async () => { while (talk) await members[0].sing(700, 1000); })();
    const code = await settled(channel, members, 12000);
    const took = Date.now() - from;
    talk = false;
    await talking;
    const n = await counts(b);
    check(name, !!code && !left(n), `${took} ms; ${(n.voice_op_31 ?? 0) - (before.voice_op_31 ?? 0)} op 31, ${(n.voice_resumed ?? 0) - (before.voice_resumed ?? 0)} resumes, ${n.voice_identified - before.voice_identified} rejoins${code ? '' : `; ${JSON.stringify(await group(channel))}`}`);
    await tones('and all hear each other', members, { ms: 400 });
  };

  // Every requested fault happened.
  let asked = 0;
  const left = (n) => asked - (n.fault_29 ?? 0) - (n.fault_30 ?? 0);
  let before = await counts(b);
  await leave(members.pop());
  await fault({ op: 30, what: 'lose' });
  asked += 1;
  members.push(...await enter(channel, [b], ['mediad']));
  await healed('a lost welcome', { ...before, voice_identified: before.voice_identified + 1 });

  before = await counts(b);
  await leave(members.pop());
  await settled(channel, members);
  await fault({ op: 30, what: 'skip' });
  asked += 1;
  members.push(...await enter(channel, [b], ['mediad']));
  await healed('a welcome that was never sent', { ...before, voice_identified: before.voice_identified + 1 });

  before = await counts(b);
  await fault({ op: 29, what: 'lose' });
  asked += 1;
  members.push(...await enter(channel, [d]));
  await healed('a lost commit', before);

  before = await counts(b);
  await switches({ dave_op31_close: 1 });
  await fault({ op: 29, what: 'corrupt' });
  asked += 1;
  await leave(members.pop());
  await healed('a corrupt commit, and op 31 is answered with 4006', before);
  await switches({ dave_op31_close: 0 });

  // A proposal that cannot be verified makes davey throw; therefore only mediad members.
  await Promise.all(members.splice(0).map(leave));
  members.push(...await enter(channel, [a, b], ['mediad', 'mediad']));
  await checkSettled('two of mediad', channel, members);
  await switches({ dave_commit_ms: 500 });
  await api('POST', `/channels/${channel}/dave`, { what: 'stale_proposal' });
  before = await counts(b);
  await api('POST', `/channels/${channel}/dave`, { what: 'new_sender' });
  members.push(...await enter(channel, [c], ['mediad']));
  await healed('another external sender', before);
  await switches({ dave_commit_ms: 5000 });
  await Promise.all(members.map(leave));
}

// Clients without DAVE: refused where it is required; elsewhere the channel changes to version 0 and back.
async function versions() {
  await switches({ dave_required: 0 });
  const channel = await newChannel();
  const [a, b, c, d] = await newUsers(4);
  const members = await enter(channel, [a, b], ['npm', 'mediad']);
  await checkSettled('encrypted', channel, members);
  const [plain] = await up([npmMember(c, channel, { daveEncryption: false })]);
  check('a client without DAVE brings version 0', !!(await until(async () => {
    const g = await group(channel);
    return g.executed === 0 && g.transitions.length === 0;
  })));
  await tones('in the clear', [...members, plain], { ms: 400 });
  check('no code is shown', members.every((p) => p.code() === ''));
  members.push(...await enter(channel, [d], ['mediad']));
  await leave(plain);
  await checkSettled('it left: encrypted again', channel, members);
  await tones('and they hear each other', members, { ms: 400 });
  await Promise.all(members.map(leave));
  await switches({ dave_required: 1 });
}

// Verification codes: both sides compute the same 45 digits.
async function verification() {
  if (npmOnly) return;
  const channel = await newChannel();
  const [a, b] = await newUsers(2);
  const [npm, ours] = await enter(channel, [a, b], ['npm', 'mediad']);
  await checkSettled('two who verify each other', channel, [npm, ours]);
  const theirs = await npm.conn.getVerificationCode(b);
  const code = await ours.verify(a);
  check('show the same verification code', theirs === code && code.length === 45, `${theirs} ${code}`);
  await Promise.all([npm, ours].map(leave));
}

// A member joins a group that is 46 seconds old: this part begins the group first and joins last.
async function oldGroup({ channel, users, members, begun }) {
  await sleep(Math.max(0, begun + 46000 - Date.now()));
  await checkSettled('an old group', channel, members);
  members.push(...await enter(channel, users.slice(3, 5), ['npm', 'mediad']));
  await checkSettled('members come 46 s late', channel, members);
  await tones('and all hear each other', members);
  await Promise.all(members.map(leave));
}

await main(async () => {
  if (!Host.built()) skip('mediad among the members', `${Host.bin} is not built`);
  await api('POST', '/reset');
  cast = await Cast.make(npmOnly ? 0 : 2);
  let late;
  if (!process.env.PART) {
    late = { channel: await newChannel(), users: await newUsers(5), begun: Date.now() };
    late.members = await enter(late.channel, late.users.slice(0, 3), ['npm', 'mediad', 'npm']);
  }
  // Each part has a channel and members of its own; parts that change no switch of guildd run in parallel.
  const mixed = npmOnly ? [] : [part(twoAndThree, 'mediad', 'npm', 'mediad'), part(twoAndThree, 'mediad', 'mediad', 'mediad'),
    part(soloAndBack, 'npm', 'mediad')];
  await Promise.all([part(twoAndThree, 'npm', 'npm', 'npm'), part(soloAndBack, 'mediad', 'npm'), ...mixed]);
  await Promise.all([part(everyOrder, 'mediad', 'npm', 'npm'), part(churn, 1, 25, true)]);
  for (const seed of (process.env.SEEDS ?? '2').split(',')) await part(churn, Number(seed), 40, false);
  await part(manyMembers, 25);
  await part(resumes, 'npm', 0);
  if (!npmOnly) {
    await part(resumes, 'mediad', 0);
    await part(resumes, 'mediad', 1);
    await part(faults, 'mediad');
  }
  await part(faults, 'npm');
  await part(heals);
  await part(versions);
  await part(verification);
  if (late) await oldGroup(late);
  const all = (await stats()).counts;
  const sum = (name) => Object.values(all).reduce((n, c) => n + (c[name] ?? 0), 0);
  check('guildd found nothing malformed', !sum('dave_kp_bad') && !sum('dave_commit_bad'), `${sum('dave_commit_bad')} commits`);
  await cast.end();
}, 240000);
