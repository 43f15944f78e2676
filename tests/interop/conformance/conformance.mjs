// `make conformance PEER=…`: plays the cases that voice clients get wrong against one client, and prints what it did right and wrong.
// guildd does what Discord does; its counters and its history say what the client did.
//
//   PEER=parley (control and mediad), discord.js, oceanic.js, dysnomia, or a command: it gets DISCORD_TOKEN, DISCORD_API,
//   DISCORD_GATEWAY, NODE_EXTRA_CA_CERTS, GUILD and CHANNEL, must join the channel as the bot, and play a sound without end
//   PATIENCE=n    a loaded machine: waits n times as long
//   CASES=a,b     only these      SWITCHES='{"op4_same_server":1}'     of guildd, for every case
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALICE, BOT, GUILD, TOKEN, VOICE, api, ready, sleep, stats, switches, until as untilWithin } from '../lib.mjs';
import { group, newChannel } from '../group.mjs';
import { Host, mediadMember } from '../members.mjs';

// A loaded machine makes everything late: times of waiting are multiplied.
const PATIENCE = Number(process.env.PATIENCE || 1);
const until = (f, ms, step) => untilWithin(f, ms * PATIENCE, step);
const NAME = process.env.PEER || 'parley';
const bin = process.env.BIN;
const here = new URL('.', import.meta.url).pathname;
const dir = mkdtempSync(join(tmpdir(), 'parley-conformance-'));
const running = new Set();
process.on('exit', () => { for (const p of running) p.kill('SIGKILL'); rmSync(dir, { recursive: true, force: true }); });

// ---- the client ----
let child;
let brain;
let started = 0;
function run(program, args, env = {}, shell = false) {
  const p = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'], shell, detached: false });
  p.out = '';
  for (const s of [p.stdout, p.stderr]) s.on('data', (d) => { p.out = (p.out + d).slice(-100000); });
  p.ended = once(p, 'exit').finally(() => running.delete(p));
  running.add(p);
  return p;
}
const env = { DISCORD_TOKEN: TOKEN, DISCORD_API: ready.rest, DISCORD_GATEWAY: ready.gateway, GUILD, CHANNEL: VOICE };
async function startBrain() {
  mkdirSync(join(dir, 'brain'));
  // It hears the question in any speech, and answers for some seconds.
  writeFileSync(join(dir, 'script'), `commit transcript parley what can you do\nresponse say ${'one two three four five six seven eight nine ten '.repeat(3)}\n`);
  const p = run(join(bin, 'standin'), ['openai', '--port', '0', '--script', join(dir, 'script')]);
  const port = (await until(() => /"port": ?"?(\d+)/.exec(p.out), 20000))[1];
  brain = join(dir, 'parley.json');
  writeFileSync(brain, JSON.stringify({ providers: [{ name: 'brain', dialect: 'openai', url: `http://127.0.0.1:${port}/v1` }], roles: { voice: ['brain'], transcribe: ['brain'] } }));
}
async function start(more = {}) {
  if (NAME === 'parley') {
    if (!brain) await startBrain();
    child = run(join(bin, 'control'), [`--spawn-mediad=${join(bin, 'mediad')}`, '--guild', GUILD, '--channel', VOICE, '--state-dir',
      join(dir, `state${started++}`), '--ca', ready.ca, '--config', brain], { ...env, PARLEY_DISCORD_API: ready.rest, XDG_RUNTIME_DIR: dir, OPENAI_API_KEY: '' });
  } else if (['discord.js', 'oceanic.js', 'dysnomia'].includes(NAME)) {
    child = run(process.execPath, [join(here, 'peer.mjs'), NAME], { ...env, ...more });
  } else {
    child = run(NAME, [], { ...env, ...more }, true);
  }
}
async function stop() {
  const p = child;
  p.kill('SIGTERM');
  await Promise.race([p.ended, sleep(3000)]);
  p.kill('SIGKILL');
  await until(async () => !(await stats()).main.sessions.length, 500);
}

// ---- what it did ----
const counts = async () => (await stats()).counts[BOT] ?? {};
const session = async () => (await stats()).voice.find((s) => s.user_id === BOT && s.connected && s.described);
const isUp = (ms = 15000) => until(session, ms, 50);
const rx = async () => (await stats()).relay.streams.find((s) => s.user_id === BOT);
const sounds = async (after) => (await api('GET', '/history')).filter((e) => e.what === 'sound' && e.user_id === BOT && e.to_ms > after);
const member = async (ms = 8000) => until(async () => (await group(VOICE)).members?.some((m) => m.user_id === BOT && m.state === 'member'), ms, 50);
let alice;
// A member of the channel; for parley it also asks a question, so that there is sound. The others play all the time.
async function others(host) {
  alice = mediadMember(host, ALICE, VOICE);
  await alice.ready(10000);
}
async function audible(ms = 8000) {
  const from = Date.now();
  let caller;
  let mediad;
  if (NAME === 'parley') {
    mkdirSync(join(dir, 'out'), { recursive: true });
    await alice.leave();
    await until(() => /engine_up/.test(child.out), 10000);
    const sock = join(dir, `caller${started}.sock`);
    mediad = run(join(bin, 'mediad'), ['--listen', sock, '--ca', ready.ca]);
    await until(() => existsSync(sock), 5000);
    caller = run(join(bin, 'caller'), ['--api', ready.control, '--media-sock', sock, '--offlined', join(bin, 'offlined'), '--record',
      join(dir, 'brain'), '--out', join(dir, 'out'), '--guild', GUILD, '--channel', VOICE, '--user', ALICE, '--bot', BOT, '--say', 'parley what can you do']);
  }
  const heard = await until(async () => (await sounds(from + 200)).some((s) => s.to_ms - s.from_ms > 400), ms + (caller ? 10000 : 0), 50);
  return { heard: !!heard, end: async () => { if (caller) { caller.kill('SIGKILL'); mediad.kill('SIGKILL'); await caller.ended; await api('POST', `/users/${ALICE}/leave`, {}, true); } } };
}

// A client that crashed is no client that stays away: its process runs, and heartbeats of its main session arrive.
async function alive() {
  const before = (await counts()).main_op_1 ?? 0;
  const runs = () => child.exitCode === null && child.signalCode === null;
  return runs() && until(async () => runs() && (await counts()).main_op_1 > before, 3 * MAIN_BEAT.main_heartbeat_ms, 100);
}
const staysAway = async (ok, fault) => say(ok && (await alive()), ok ? 'it crashed' : fault);
// The next heartbeats acknowledge the newest message.
async function acknowledges() {
  const beats = (await counts()).voice_op_3 ?? 0;
  const ok = await until(async () => { const s = await session(); return s && s.acked === s.seq && (await counts()).voice_op_3 >= beats + 2; }, 12000, 50);
  const [n, s] = [await counts(), await session()];
  if (!s) return 'it left the session';
  if ((n.voice_op_3 ?? 0) < beats + 2) return `${(n.voice_op_3 ?? 0) - beats} heartbeats came`;
  return say(ok && !n.voice_bad_seq_ack, `it acknowledged ${s.acked}, and ${s.seq} was sent (${n.voice_bad_seq_ack ?? 0} were ahead)`);
}
// It was resumed, and nothing was identified since: a session that was lost is back.
async function resumes(identified) {
  const n = await until(async () => { const c = await counts(); return c.voice_resumed && (await session()) && c; }, 10000);
  return say(n && n.voice_identified === identified, n ? 'it identified anew' : 'it did not resume');
}
// A session that was identified since.
const isNew = (identified, ms) => until(async () => (await counts()).voice_identified > identified && session(), ms, 50);

// ---- the cases: name: [the rule, what happens: returns true or the fault, switches from the start] ----
const say = (ok, fault) => (ok ? true : fault);
const BEAT = { voice_heartbeat_ms: 2000 };
const MAIN_BEAT = { main_heartbeat_ms: 5000 };
const cases = {
  join: ['the endpoint is used as it is, with its port (discord.md 6.1)', async () => say(await isUp(), 'it does not come up')],
  op5: ['op 5 before the first packet, with the own SSRC (2.2)', async () => {
    const a = await audible();
    const n = await counts();
    await a.end();
    if (!a.heard) return 'it is not audible';
    return say(!n.voice_unannounced && n.voice_op_5, 'packets came before op 5');
  }],
  rtp: ['packets: type 120, rising nonces, sequence by 1, time by 960 a frame (2.7)', async () => {
    const a = await audible();
    // It plays on: a second of packets is enough to judge.
    await until(async () => (await rx())?.rx.ok > 50, 5000, 50);
    const s = await rx();
    await a.end();
    if (!s) return 'no stream';
    const bad = Object.entries(s.rx).filter(([k, v]) => v && /^(bad_|empty|no_key|not_speaking)/.test(k)).map(([k, v]) => `${k} ${v}`);
    if (s.seq_jumps || s.ts_odd) bad.push(`sequence jumps ${s.seq_jumps}, odd times ${s.ts_odd}`);
    return say(!bad.length && s.rx.ok > 20, bad.join(', ') || 'too few packets');
  }],
  sealed: ['sound is end-to-end encrypted once there is a group (dave.md 9)', async () => {
    if (!(await member())) return 'it does not join the group';
    const a = await audible();
    const [n, s] = [await counts(), await until(async () => { const r = await rx(); return r?.sealed > 20 && r; }, 5000)];
    await a.end();
    if (!a.heard) return 'it is not audible';
    return say(s && !n.dave_plaintext, `${n.dave_plaintext ?? 0} plain packets${s ? '' : ', and too few encrypted ones'}`);
  }],
  discovery: ['IP discovery is sent again (2.6)', async () => {
    await stop();
    await switches({ discovery: 0 });
    const before = (await counts()).voice_identified ?? 0;
    await start();
    await until(async () => (await counts()).voice_identified > before, 15000);
    // As soon as one was lost: a client that sends one alone must not be saved by being slow.
    await until(async () => (await rx())?.discovery, 15000, 20);
    await switches({ discovery: 1 });
    return say(await isUp(8000), 'it sent discovery once');
  }],
  keepalive: ['keepalives at least every 10 s, and their echo is not needed (2.6)', async () => {
    await switches({ keepalive_echo: 0 });
    const before = (await rx())?.keepalive ?? 0;
    await sleep(11000);
    const after = (await rx())?.keepalive ?? 0;
    return say(after > before && (await session()), after > before ? 'it gave up without echoes' : 'none came');
  }],
  heartbeat: ['seq_ack is the newest number, never ahead of what was sent (2.4)', async () => {
    await api('POST', `/users/${BOT}/send`, { which: 'voice', op: 18, d: { user_id: ALICE, flags: null } });
    return acknowledges();
  }, BEAT],
  unknown_op: ['unknown opcodes are ignored (2.2)', async () => {
    await api('POST', `/users/${BOT}/send`, { which: 'voice', op: 99, d: { x: 1 } });
    const ok = await acknowledges();
    return ok === true ? say((await counts()).voice_identified === 1, 'it identified anew') : ok;
  }, BEAT],
  resume_1006: ['a lost connection is resumed, not identified anew (2.4)', async () => {
    await api('POST', `/users/${BOT}/drop`, { which: 'voice' });
    return resumes(1);
  }],
  resume_4015: ['4015 is resumed (2.5)', async () => {
    await api('POST', `/users/${BOT}/close`, { which: 'voice', code: 4015 });
    return resumes(1);
  }],
  fresh_4006: ['4006: a fresh op 4, never the same session and token (6.1)', async () => {
    const { main_op_4: ops, voice_identified: before } = await counts();
    await api('POST', `/users/${BOT}/close`, { which: 'voice', code: 4006 });
    const up = await isNew(before, 20000);
    const n = await counts();
    return say(up && n.main_op_4 > ops && !n.voice_reused_lease, up ? `used leases again: ${n.voice_reused_lease ?? 0}` : 'it does not come back');
  }],
  no_loop_4017: ['4017 ends, without a loop (2.5)', async () => {
    await switches({ voice_refuse: 4017 });
    const closes = async () => (await counts()).voice_close_4017 ?? 0;
    const before = await closes();
    await api('POST', `/users/${BOT}/new-server`);
    if (!(await until(async () => (await closes()) > before, 12000))) return 'it does not come to the new server';
    await sleep(8000);
    const tries = (await closes()) - before;
    return staysAway(tries <= 3, `${tries} Identifies in 8 s`);
  }, MAIN_BEAT],
  kicked: ['disconnected by a moderator: stays away (2.5)', async () => {
    const { voice_identified: before } = await counts();
    await api('POST', `/users/${BOT}/kick`);
    await sleep(6000);
    const listed = (await api('GET', '/world')).guilds.some((g) => g.voice_states.some((v) => v.user_id === BOT));
    return staysAway(!listed && (await counts()).voice_identified === before, 'it came back');
  }, MAIN_BEAT],
  moved: ['dragged to another channel: follows (6.3)', async () => {
    const to = await newChannel();
    await api('POST', `/users/${BOT}/move`, { channel_id: to });
    return say(await until(async () => (await session())?.channel_id === to, 12000), 'it does not follow');
  }],
  region: ['a VOICE_SERVER_UPDATE alone: a new connection (6.5)', async () => {
    await api('POST', `/users/${BOT}/new-server`);
    const n = await until(async () => { const c = await counts(); return c.voice_identified >= 2 && (await session()) && c; }, 12000);
    return say(n && !n.voice_reused_lease, 'it stays with the old server');
  }],
  endpoint_null: ['endpoint null: waits for the next one (6.5)', async () => {
    await api('POST', `/users/${BOT}/no-server`);
    await sleep(1500);
    await api('POST', `/users/${BOT}/new-server`);
    return say(await until(async () => (await counts()).voice_identified >= 2 && session(), 15000), 'it does not come back');
  }],
  main_resume: ['a main connection that is resumed leaves the call alone (1.5)', async () => {
    const before = (await counts()).voice_identified;
    await api('POST', `/users/${BOT}/drop`, { which: 'main' });
    await until(async () => (await counts()).main_resumed, 12000);
    await sleep(1500);
    const n = await counts();
    return say(n.main_resumed && n.voice_identified === before && (await session()), 'the call was lost');
  }],
  main_identify: ['after a new main session: op 4 again (6.20)', async () => {
    const before = await counts();
    await api('POST', `/users/${BOT}/invalidate`);
    await api('POST', `/users/${BOT}/drop`, { which: 'main' });
    if (!(await until(async () => (await counts()).main_identified > before.main_identified, 20000))) return 'it does not identify on the main gateway';
    return say((await isNew(before.voice_identified, 15000)) && (await counts()).main_op_4 > before.main_op_4, 'it does not join again');
  }],
  third: ['members come and go: still in the group (6.12)', async (host) => {
    if (!(await member())) return 'it does not join the group';
    const bob = mediadMember(host, '502', VOICE);
    await bob.ready(10000);
    const three = await until(async () => (await group(VOICE)).leaves?.filter(Boolean).length === 3, 8000);
    await bob.leave();
    const two = await until(async () => { const g = await group(VOICE); return g.leaves?.filter(Boolean).length === 2 && g.members.every((m) => m.state === 'member'); }, 10000);
    return say(three && two && (await session()), three ? 'it is lost when one leaves' : 'it is lost when one comes');
  }],
  bad_commit: ['a corrupt commit: op 31, and back in the group (6.11)', async (host) => {
    if (!(await member())) return 'it does not join the group';
    const before = await counts();
    await api('POST', `/users/${BOT}/faults`, { op: 29, what: 'corrupt' });
    const bob = mediadMember(host, '502', VOICE);
    await bob.ready(10000);
    if (!(await until(async () => (await counts()).fault_29, 8000))) return 'it was sent no commit';
    // The fault is noticed since then, and the group has all three again.
    const noticed = await until(async () => { const n = await counts(); return (n.voice_op_31 ?? 0) > (before.voice_op_31 ?? 0) || n.voice_identified > before.voice_identified; }, 8000);
    const back = await until(async () => { const g = await group(VOICE); return g.leaves?.filter(Boolean).length === 3 && g.members.every((m) => m.state === 'member'); }, 15000);
    await bob.leave();
    return say(noticed && back, noticed ? 'it stays outside' : 'it sent no op 31');
  }],
  lost_welcome: ['a welcome that is lost: back in the group (6.11)', async (host) => {
    await stop();
    await api('POST', '/reset');
    await alice.leave();
    alice = mediadMember(hosts, ALICE, VOICE);
    await alice.ready(10000);
    // The two are a group already: who comes later needs a welcome.
    const bob = mediadMember(host, '502', VOICE);
    await bob.ready(10000);
    await until(async () => (await group(VOICE)).members?.filter((m) => m.state === 'member').length === 2, 8000);
    await api('POST', `/users/${BOT}/faults`, { op: 30, what: 'corrupt' });
    await start();
    const lost = await until(async () => (await counts()).fault_30, 15000);
    const back = lost && (await member(20000));
    await bob.leave();
    return say(back, lost ? 'it stays outside' : 'it was sent no welcome');
  }],
  stage: ['a stage has no end-to-end encryption: op 4 is obeyed (dave.md 9)', async () => {
    const to = await newChannel({ type: 'stage' });
    await api('POST', `/users/${BOT}/move`, { channel_id: to });
    const up = await until(async () => (await session())?.channel_id === to, 12000);
    await sleep(500);
    const n = await counts();
    return say(up && !n.voice_close_4020 && (await session())?.channel_id === to, up ? 'it is thrown out' : 'it does not follow');
  }],
  // ---- transport ----
  xchacha: ['the other mode alone: aead_xchacha20_poly1305_rtpsize (5, "each mode")', async () => {
    await stop();
    await switches({ modes: 'aead_xchacha20_poly1305_rtpsize' });
    await start();
    if (!(await isUp())) return 'it does not come up';
    const a = await audible();
    const s = await rx();
    await a.end();
    return say(a.heard && !s.rx.bad_tag, a.heard ? `${s.rx.bad_tag} packets do not open` : 'it is not audible');
  }],
  discovery_junk: ['a datagram of another type before the answer to discovery is ignored (5.6)', async () => {
    await stop();
    await switches({ discovery_junk: 1 });
    await start();
    return say(await isUp(), 'it does not come up');
  }],
  junk: ['datagrams that are too short, of no type or do not open end nothing (5.2, 5.5)', async () => {
    await api('POST', `/users/${BOT}/datagrams`, { hex: ['00', '8078', '80780001000000010000000a', 'ff'.repeat(60), `8078${'11'.repeat(200)}`, `81c9${'22'.repeat(60)}`] });
    await sleep(500);
    if (!(await session())) return 'it left the session';
    const a = await audible();
    const n = await counts();
    await a.end();
    return say(a.heard && n.voice_identified === 1, a.heard ? 'it identified anew' : 'it is not audible');
  }],
  padded: ['padding, packets of padding alone, extensions and receiver reports disturb nothing (5, 6.10)', async (host) => {
    const bob = mediadMember(host, '502', VOICE);
    await bob.ready(10000);
    await until(async () => (await group(VOICE)).leaves?.filter(Boolean).length === 3, 8000);
    await bob.sing(440, 2500);
    const a = await audible();
    await until(async () => (await rx())?.rtcp_out > 3, 5000, 50);
    const [n, s] = [await counts(), await rx()];
    await a.end();
    await bob.leave();
    if (!(s?.padded > 20 && s.rtcp_out > 3)) return `it was sent ${s?.padded ?? 0} padded packets and ${s?.rtcp_out ?? 0} reports`;
    return say(a.heard && n.voice_identified === 1, a.heard ? 'it identified anew' : 'it is not audible');
  }, { pad_every: 2, pad_only_every: 5, rtcp_every: 10, header_ext: 1 }],
  silence: ['five frames of silence at the end of speech (5.9, 6.16)', async () => {
    let a;
    if (NAME === 'parley') a = await audible();
    else {
      await stop();
      await start({ SOUND_MS: '2000' });
      if (!(await isUp())) return 'it does not join';
      if (!(await until(async () => (await rx())?.rx.ok > 20, 10000, 50))) return 'it is not audible';
    }
    // The end: nothing came for a second.
    let last;
    await until(async () => { const r = (await rx())?.rx; const n = r ? r.ok + r.silence : 0; const same = n === last && n; last = n; return same; }, 25000, 1000);
    const s = await rx();
    if (a) await a.end();
    return say(s?.silence_run >= 5, `${s?.silence_run ?? 0} at the end`);
  }],
  pace: ['one packet each 20 ms, no bursts, and op 5 not for each of them (6.17, 6.20)', async () => {
    const a = await audible();
    await until(async () => (await rx())?.rx.ok > 60, 6000, 50);
    const [r, t] = [await rx(), Date.now()];
    await sleep(2000);
    const [q, ms] = [await rx(), Date.now() - t];
    const n = await counts();
    await a.end();
    if (!r || !q) return 'no stream';
    const got = q.rx.ok + q.rx.silence - r.rx.ok - r.rx.silence;
    // Of a sound that goes on, none is left out for long either.
    if (got > ms / 20 + 8 || got < (ms / 20) * 0.7) return `${got} packets in ${ms} ms`;
    return say(n.voice_op_5 <= 5, `op 5 was sent ${n.voice_op_5} times`);
  }],
  // ---- messages ----
  bad_json: ['a text that is no JSON, a binary message of no known kind: survived (5.7)', async () => {
    const { seq } = await session(); // the binary message repeats a number, so that it is no gap
    for (const more of [{ raw: '{"op":' }, { raw: '[]' }, { hex: `${seq.toString(16).padStart(4, '0')}7f00112233` }])
      await api('POST', `/users/${BOT}/send`, { which: 'voice', ...more });
    await api('POST', `/users/${BOT}/send`, { which: 'voice', op: 18, d: { user_id: ALICE, flags: null } });
    const ok = await acknowledges();
    return ok === true ? say((await counts()).voice_identified === 1, 'it identified anew') : ok;
  }, BEAT],
  old_messages: ['messages without seq and of older versions: ignored or obeyed, and seq_ack still right (2.2, 2.4, 5.4)', async () => {
    const send = (op, d, seq) => api('POST', `/users/${BOT}/send`, { which: 'voice', op, d, seq });
    await send(18, { user_id: ALICE, flags: null }, true);
    await send(12, { user_id: '503', audio_ssrc: 4242, video_ssrc: 0 }, false);
    await send(13, { user_id: '503' }, false);
    await send(3, { t: 1, seq_ack: -1 }, false);
    await send(6, 12345, false);
    await send(20, { user_id: ALICE, platform: 0 }, true);
    const ok = await acknowledges();
    if (ok !== true) return ok;
    await api('POST', `/users/${BOT}/drop`, { which: 'voice' });
    return resumes(1);
  }, BEAT],
  seq_wrap: ['sequence numbers go from 65535 to 0, and 0 is one (2.4, dave.md 10.21)', async () => {
    const identified = (await counts()).voice_identified;
    // To the number 0, so that it is acknowledged, and resumed from.
    const at0 = await until(async () => {
      const s = await session();
      if (!s || s.seq === 0 || s.seq < 60000) return true;
      await api('POST', `/users/${BOT}/send`, { which: 'voice', op: 18, d: { user_id: ALICE, flags: null } });
      return false;
    }, 8000, 5);
    const ok = at0 ? await acknowledges() : 'the numbers do not come to 0';
    if (ok !== true) return ok;
    await api('POST', `/users/${BOT}/drop`, { which: 'voice' });
    return resumes(identified);
  }, { ...BEAT, voice_seq_first: 65490 }],
  half_open: ['a connection that answers nothing any more is noticed by its heartbeats (5.7, 6.20)', async () => {
    await api('POST', `/users/${BOT}/drop`, { which: 'voice', silent: true });
    if (await session()) return 'the connection is not lost';
    return say(await until(session, 25000), 'it did not notice in 25 s');
  }, { voice_heartbeat_ms: 3000 }],
  silent_gateway: ['a voice gateway that answers nothing: no phase waits for ever (6.2)', async () => {
    await switches({ voice_silent: 1 });
    const ops = async () => (await stats()).counts[GUILD]?.voice_op_0 ?? 0;
    const before = await ops();
    await api('POST', `/users/${BOT}/new-server`);
    if (!(await until(async () => (await ops()) > before, 12000))) return 'it does not come to the new server';
    await sleep(22000);
    await switches({ voice_silent: 0 });
    return say(await isUp(12000), 'it waits for ever');
  }],
  // ---- sessions ----
  resume_refused: ['a Resume that is refused: a fresh session, never the same lease (2.4, 6.7)', async () => {
    await switches({ voice_resume_ms: 0, op4_same_server: 1 });
    const identified = (await counts()).voice_identified;
    await api('POST', `/users/${BOT}/drop`, { which: 'voice' });
    const up = await isNew(identified, 20000);
    const n = await counts();
    return say(up && !n.voice_reused_lease, up ? `used leases again: ${n.voice_reused_lease}` : 'it does not come back');
  }],
  server_first: ['VOICE_SERVER_UPDATE before VOICE_STATE_UPDATE (5.8, 6.6)', async () => {
    await stop();
    await switches({ server_first: 1 });
    await start();
    return say((await isUp()) && (await counts()).voice_identified >= 1 && !(await counts()).voice_reused_lease, 'it does not come up');
  }],
  moved_twice: ['dragged twice at once: in the last channel, by its own lease (5, 6.6)', async () => {
    const [one, two] = [await newChannel(), await newChannel()];
    await Promise.all([api('POST', `/users/${BOT}/move`, { channel_id: one }), api('POST', `/users/${BOT}/move`, { channel_id: two })]);
    const up = await until(async () => (await session())?.channel_id === two && session(), 15000);
    const n = await counts();
    return say(up && !n.voice_reused_lease, up ? `used leases again: ${n.voice_reused_lease}` : 'it does not come up');
  }],
  speaks_again: ['op 5 again before the first packet of a new session (2.2, 5)', async () => {
    await api('POST', `/users/${BOT}/new-server`);
    if (!(await until(async () => (await counts()).voice_identified >= 2 && session(), 12000))) return 'it does not come up';
    const a = await audible();
    const n = await counts();
    await a.end();
    return say(a.heard && !n.voice_unannounced, a.heard ? 'packets came before op 5' : 'it is not audible');
  }],
  wait_4021: ['4021: no reconnecting by itself (2.5)', async () => {
    await switches({ op4_same_server: 1 });
    const before = (await counts()).voice_identified;
    await api('POST', `/users/${BOT}/close`, { which: 'voice', code: 4021 });
    await sleep(6000);
    return staysAway((await counts()).voice_identified === before, 'it reconnected');
  }, MAIN_BEAT],
  deleted_4022: ['the channel is deleted (4022): no endless joining (6.4)', async () => {
    const to = await newChannel();
    await api('POST', `/users/${BOT}/move`, { channel_id: to });
    if (!(await until(async () => (await session())?.channel_id === to, 12000))) return 'it does not follow';
    const ops = (await counts()).main_op_4 ?? 0;
    await api('DELETE', `/channels/${to}`);
    await sleep(6000);
    const tries = ((await counts()).main_op_4 ?? 0) - ops;
    return staysAway(tries <= 2 && !(await session()), (await session()) ? 'it is in a channel that is gone' : `${tries} joins in 6 s`);
  }, MAIN_BEAT],
  server_4022: ['4022 and then a new voice server: follows (2.5)', async () => {
    await api('POST', `/users/${BOT}/close`, { which: 'voice', code: 4022 });
    await sleep(800);
    await api('POST', `/users/${BOT}/new-server`);
    const up = await until(async () => (await counts()).voice_identified >= 2 && session(), 15000);
    return say(up && !(await counts()).voice_reused_lease, up ? 'used a lease again' : 'it does not come back');
  }],
  fresh_4009: ['4009: a fresh session (2.5)', async () => {
    await switches({ op4_same_server: 1 });
    const identified = (await counts()).voice_identified;
    await api('POST', `/users/${BOT}/close`, { which: 'voice', code: 4009 });
    const up = await isNew(identified, 20000);
    return say(up && !(await counts()).voice_reused_lease, up ? 'used a lease again' : 'it does not come back');
  }],
  // ---- encryption ----
  downgrade: ['a channel that loses its encryption: nothing sealed by an old key, and sealed again after (dave.md 9)', async () => {
    if (!(await member())) return 'it does not join the group';
    const a = await audible();
    const stop = async (fault) => { await a.end(); return fault; };
    if (!a.heard) return stop('it is not audible');
    if (!(await until(async () => (await rx())?.sealed > 20, 5000))) return stop('it is not encrypted');
    await api('POST', `/channels/${VOICE}/dave`, { what: 'clear', value: 1 });
    await sleep(1500);
    const clear = async () => ({ sealed: (await rx())?.sealed_clear ?? 0, plain: (await counts()).dave_clear ?? 0 });
    const first = await clear();
    await sleep(2000);
    const second = await clear();
    // A client may leave instead: then it refuses to be heard by others than the members.
    const stays = await session();
    await api('POST', `/channels/${VOICE}/dave`, { what: 'clear', value: 0 });
    if (!stays) return stop(await staysAway(!second.plain, `it leaves, after ${second.plain} plain packets`));
    if (second.sealed > first.sealed) return stop(`${second.sealed - first.sealed} packets by an old key`);
    if (second.plain < first.plain + 20) return stop(`${second.plain - first.plain} plain packets in 2 s`);
    const back = await member(12000);
    await sleep(600);
    const [before, sealed] = [(await counts()).dave_plaintext ?? 0, (await rx())?.sealed ?? 0];
    await sleep(1500);
    const [plain, more] = [((await counts()).dave_plaintext ?? 0) - before, ((await rx())?.sealed ?? 0) - sealed];
    return stop(say(back && !plain && more > 20, back ? `${plain} plain and ${more} encrypted packets after` : 'it is not in the group again'));
  }, MAIN_BEAT],
};

let hosts;
async function main() {
  hosts = await Host.start(ALICE);
  const wanted = process.env.CASES ? process.env.CASES.split(',') : Object.keys(cases);
  let right = 0;
  const rows = [];
  const unknown = wanted.filter((name) => !cases[name]);
  if (unknown.length) {
    console.log(`There is no case ${unknown.join(', ')}; there are: ${Object.keys(cases).join(', ')}`);
    process.exit(2);
  }
  for (const name of wanted) {
    const [rule, play, first] = cases[name];
    await api('POST', '/reset');
    await switches({ ...first, ...JSON.parse(process.env.SWITCHES || '{}') });
    await others(hosts);
    await start();
    let fault;
    try {
      fault = (await isUp()) ? await Promise.race([play(hosts), sleep(45000 * PATIENCE).then(() => 'no outcome in time')]) : 'it does not join';
    } catch (e) { fault = e.message; }
    if (child.exitCode === 127 || child.exitCode === 126) {
      console.log(`PEER=${NAME} cannot be run: it is neither a known client nor a command`);
      process.exit(2);
    }
    await stop();
    try { await alice.leave(); } catch { /* it has left already */ }
    right += fault === true;
    const line = `${fault === true ? 'right' : 'WRONG'}  ${name.padEnd(14)} ${rule}${fault === true ? '' : `: ${fault}`}`;
    rows.push(line);
    console.log(line);
    if (fault !== true && process.env.VERBOSE) console.log(child.out.slice(-3000));
  }
  console.log(`${NAME}: ${right} of ${wanted.length} right`);
  if (process.env.OUT) writeFileSync(process.env.OUT, `${rows.join('\n')}\n`);
  await hosts.stop();
  process.exit(NAME === 'parley' && right < wanted.length ? 1 : 0);
}
process.on('unhandledRejection', (e) => { console.log(e); process.exit(1); });
await main();
