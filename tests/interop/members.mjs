// The members of an encrypted call behind one interface: unmodified @discordjs/voice peers and calls of mediad.
//
//   userId, ready(ms), code(), sing(hz, ms), ear(user) -> { samples(), rate, stop() }, leave(), errors
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as V from '@discordjs/voice';
import { GUILD, api, check, decode, peer, ready, tone, until } from './lib.mjs';
import { E2EE, Media, PHASE } from './media.mjs';

const cache = new Map();
function cached(key, make) {
  if (!cache.has(key)) cache.set(key, make());
  return cache.get(key);
}

export function npmMember(userId, channel, more) {
  const p = peer(userId, channel, more);
  p.kind = 'npm';
  p.sing = (hz, ms) => p.play(cached(`opus ${hz} ${ms}`, () => tone(hz, ms / 20)));
  p.ear = (user) => {
    const got = [];
    const stream = p.conn.receiver.subscribe(user, { end: { behavior: V.EndBehaviorType.Manual } });
    stream.on('data', (f) => got.push(Buffer.from(f.payload ?? f)));
    stream.on('error', (e) => p.errors.push(`hear ${user}: ${e.message}`));
    return { rate: 48000, samples: () => decode(got), stop: () => { stream.destroy(); p.conn.receiver.subscriptions.delete(user); } };
  };
  return p;
}

// A process of mediad and the one control it has. It holds any number of calls; each is a member.
export class Host {
  static bin = join(process.env.BIN ?? '../../build', 'mediad');
  static built = () => existsSync(Host.bin);
  static async start(user) {
    const h = new Host();
    h.dir = mkdtempSync(join(tmpdir(), 'interop-'));
    const sock = join(h.dir, 'mediad.sock');
    h.proc = spawn(Host.bin, ['--listen', sock, '--ca', ready.ca, '--log', process.env.MEDIAD_LOG ?? 'warn'], { stdio: ['ignore', 'ignore', 'inherit'] });
    process.on('exit', () => h.proc.kill()); // a script that fails leaves nobody behind
    if (!(await until(() => existsSync(sock), 10000))) throw new Error('mediad does not listen');
    h.media = new Media(sock, user);
    h.media.setMaxListeners(0);
    await h.media.want('SYNCED');
    h.calls = 0;
    return h;
  }
  async stop() {
    const done = this.proc.exitCode === null ? once(this.proc, 'exit') : [this.proc.exitCode];
    this.proc.kill('SIGTERM');
    const [code] = await done;
    this.media.close();
    rmSync(this.dir, { recursive: true });
    return code;
  }
}

const RATE = 24000;
function sine(hz, ms) {
  const n = (RATE * ms) / 1000;
  const pcm = Buffer.alloc(n * 2);
  for (let i = 0; i < n; i++) pcm.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * hz * i) / RATE)), i * 2);
  return pcm;
}

export function mediadMember(host, userId, channel) {
  const m = host.media;
  const call = ++host.calls;
  const p = { userId, kind: 'mediad', errors: [], leases: 0, gen: 0, phase: 0 };
  const ours = (f) => (x) => { if (x.call === call) f(x); };
  let listens = 0;
  let playbacks = 0;
  const lease = async (s) => {
    const l = await api('POST', `/users/${userId}/join`, { channel_id: channel });
    p.gen = s.gen + 1;
    p.leases += 1;
    m.send('CALL_CREDENTIALS', { call, gen: p.gen, session: l.session_id, token: l.token, endpoint: l.endpoint, channel: BigInt(channel) });
  };
  const on = {
    CALL_STATE: ours((s) => {
      p.phase = s.phase;
      if (s.wants_credentials) lease(s).catch((e) => p.errors.push(e.message));
      if (s.phase === PHASE.FAILED) p.errors.push(`failed with ${s.code}`);
    }),
    CALL_SECURE: ours((s) => {
      p.secure = s;
    }),
  };
  for (const [name, f] of Object.entries(on)) m.on(name, f);
  m.send('CALL_OPEN', { call, gen: 0, guild: BigInt(GUILD), channel: BigInt(channel), user: BigInt(userId), bitrate: 64000, mute: false,
    deaf: false, stage: false, consent: true, e2ee: E2EE.PREFER });
  p.ready = async (ms = 5000) => {
    if (!(await until(() => p.phase === PHASE.UP, ms))) throw new Error(`mediad is not up: phase ${p.phase}, ${p.errors.join('; ')}`);
  };
  p.code = () => p.secure?.privacy_code ?? '';
  p.sing = async (hz, ms) => {
    const pcm = cached(`pcm ${hz} ${ms}`, () => sine(hz, ms));
    const playback = ++playbacks;
    const samples = pcm.length / 2;
    let sent = 0;
    let seq = 0;
    const pump = ours((c) => {
      while (c.playback === playback && sent < samples) {
        const n = Math.min(480, samples - sent);
        if (sent + n > c.samples) return;
        m.send('SAY', { call, gen: p.gen, playback, seq: seq++, pcm: pcm.subarray(sent * 2, (sent + n) * 2) });
        sent += n;
        if (sent === samples) m.send('SAY_END', { call, gen: p.gen, playback });
      }
    });
    m.on('SAY_CREDIT', pump);
    m.send('SAY_OPEN', { call, gen: p.gen, playback, rate: RATE, gain: 1000 });
    try {
      await m.want('SAY_DRAINED', (x) => x.call === call && x.playback === playback, 15000);
    } catch (e) {
      p.errors.push(e.message);
    }
    m.off('SAY_CREDIT', pump);
  };
  p.ear = (user) => {
    const listen = ++listens;
    const heard = [];
    const take = ours((x) => {
      if (x.listen === listen) for (let i = 0; i < x.pcm.length; i += 2) heard.push(x.pcm.readInt16LE(i));
    });
    m.on('HEARD', take);
    m.send('LISTEN', { call, gen: p.gen, listen, user: BigInt(user), rate: RATE, silence_ms: 700 });
    return { rate: RATE, samples: () => heard, stop: () => { m.off('HEARD', take); m.send('UNLISTEN', { call, gen: p.gen, listen }); } };
  };
  p.verify = async (user) => {
    m.send('VERIFY', { call, gen: p.gen, user: BigInt(user) });
    return (await m.want('CODE', (x) => x.call === call && String(x.user) === user && x.code)).code;
  };
  p.leave = async () => {
    m.send('CALL_CLOSE', { call, gen: p.gen });
    if (!(await until(() => p.phase === PHASE.CLOSED, 5000))) p.errors.push('did not close');
    for (const [name, f] of Object.entries(on)) m.off(name, f);
    await api('POST', `/users/${userId}/leave`, {}, true);
  };
  return p;
}

// Assigns members: kind(i) returns "npm" or "mediad" for the i-th user of a part.
export class Cast {
  hosts = [];
  static async make(hosts, kind) {
    const c = new Cast();
    c.kind = kind;
    for (let i = 0; i < hosts; i++) c.hosts.push(await Host.start(String(800000000000000000n + BigInt(i))));
    return c;
  }
  #next = 0;
  member(kind, userId, channel) {
    if (kind === 'npm') return npmMember(userId, channel);
    return mediadMember(this.hosts[this.#next++ % this.hosts.length], userId, channel);
  }
  async end() {
    for (const h of this.hosts) {
      const code = await h.stop();
      check('mediad ends in order', code === 0, code);
    }
  }
}
