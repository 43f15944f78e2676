// Shared by the interop scripts: counting tests, guildd's control API, tones in and out, a voice peer.
// GUILDD_READY names the file with guildd's ready line; NODE_EXTRA_CA_CERTS must name its CA (run.sh sets both).
import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import * as V from '@discordjs/voice';
import OpusScript from 'opusscript';

export const GUILD = '41771983423143937';
export const TEXT = '127121515262115841';
export const VOICE = '127121515262115840';
export const BOT = '900';
export const ALICE = '501';
export const BOB = '502';
export const TOKEN = 'guildd.bot.token';
export const MODES = ['aead_aes256_gcm_rtpsize', 'aead_xchacha20_poly1305_rtpsize'];

export const ready = JSON.parse(readFileSync(process.env.GUILDD_READY, 'utf8'));
export const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

const sum = { passed: 0, failed: 0, skipped: 0 };
export function check(name, ok, detail = '') {
  sum[ok ? 'passed' : 'failed'] += 1;
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name}${detail === '' ? '' : ` (${detail})`}`);
  return ok;
}
export function skip(name, why) {
  sum.skipped += 1;
  console.log(`skip ${name}: ${why}`);
}
export function finish() {
  console.log(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`);
  process.exit(sum.failed ? 1 : 0);
}
// Runs the whole script; reports an exception or a hang as a failure.
export async function main(fn, limit = 90000) {
  setTimeout(() => { check(`ends within ${limit} ms`, false); finish(); }, limit).unref();
  process.on('unhandledRejection', (e) => { check('no unhandled rejection', false, e?.stack ?? e); finish(); });
  process.on('uncaughtException', (e) => { check('no uncaught exception', false, e?.stack ?? e); finish(); });
  try { await fn(); } catch (e) { check('no exception', false, e?.stack ?? e); }
  finish();
}

// guildd's control API; throws on an error unless `any`.
export async function api(method, path, body, any = false) {
  const r = await fetch(ready.control + path, { method, body: body === undefined ? undefined : JSON.stringify(body) });
  const j = await r.json();
  if (!r.ok && !any) throw new Error(`${method} ${path}: ${r.status} ${JSON.stringify(j)}`);
  return j;
}
export const stats = () => api('GET', '/stats');
export const switches = (o) => api('POST', '/switches', o);
// Polls until fn returns a true value, which it returns; undefined after the time limit.
export async function until(fn, ms = 5000, step = 20) {
  for (const end = Date.now() + ms; Date.now() < end; await sleep(step)) {
    const v = await fn();
    if (v) return v;
  }
  return undefined;
}

const RATE = 48000;
// Opus frames of 20 ms, stereo, of a sine wave.
export function tone(hz, frames) {
  const enc = new OpusScript(RATE, 2, OpusScript.Application.AUDIO);
  const out = Array.from({ length: frames }, (_, f) => {
    const pcm = Buffer.alloc(960 * 4);
    for (let i = 0; i < 960; i++) {
      const v = Math.round(8000 * Math.sin((2 * Math.PI * hz * (f * 960 + i)) / RATE));
      pcm.writeInt16LE(v, i * 4);
      pcm.writeInt16LE(v, i * 4 + 2);
    }
    return enc.encode(pcm, 960);
  });
  enc.delete();
  return out;
}
// The samples of both channels.
export function decodeStereo(frames) {
  const dec = new OpusScript(RATE, 2, OpusScript.Application.AUDIO);
  const channels = [[], []];
  for (const f of frames) {
    const pcm = dec.decode(f);
    for (let i = 0; i < pcm.length; i += 2) channels[(i / 2) & 1].push(pcm.readInt16LE(i));
  }
  dec.delete();
  return channels;
}
export const decode = (frames) => decodeStereo(frames)[0];
// Mean amplitude of one frequency.
export function goertzel(x, hz, rate = RATE) {
  const k = 2 * Math.cos((2 * Math.PI * hz) / rate);
  let a = 0;
  let b = 0;
  for (const v of x) [a, b] = [v + k * a - b, a];
  return x.length ? (2 * Math.sqrt(Math.max(0, a * a + b * b - k * a * b))) / x.length : 0;
}
// Waits until these peers share an encrypted group and show one privacy code. Returns false after the time limit.
export const secure = async (...peers) => !!(await until(() => peers[0].code() && peers.every((p) => p.code() === peers[0].code())));
export function checkTone(name, x, want, other, rate = RATE) {
  const w = goertzel(x, want, rate);
  const o = goertzel(x, other, rate);
  check(name, x.length > rate / 2 && w > 1500 && w > 30 * o,
    `${(x.length / rate).toFixed(2)} s, ${want} Hz ${w.toFixed(0)}, ${other} Hz ${o.toFixed(1)}`);
}

// An unmodified @discordjs/voice connection; the control API replaces the main gateway for its user.
// `more` goes to joinVoiceChannel: { daveEncryption: false } is a client without end-to-end encryption.
export function peer(userId, channelId = VOICE, more = {}) {
  const p = { userId, joins: 0, errors: [] };
  const adapterCreator = (methods) => {
    p.methods = methods;
    return {
      sendPayload(payload) {
        if (payload.op === 4) p.join = join(payload.d).catch((e) => p.errors.push(e.message));
        return true;
      },
      destroy() {},
    };
  };
  async function join(d) {
    if (!d.channel_id) { await api('POST', `/users/${userId}/leave`, {}, true); return; }
    p.joins += 1;
    const l = await api('POST', `/users/${userId}/join`,
      { channel_id: d.channel_id, self_mute: d.self_mute, self_deaf: d.self_deaf });
    p.lease = l;
    p.methods.onVoiceStateUpdate({ guild_id: GUILD, channel_id: l.channel_id, user_id: userId, session_id: l.session_id,
      self_deaf: d.self_deaf, self_mute: d.self_mute, deaf: false, mute: false, self_video: false, suppress: false,
      request_to_speak_timestamp: null });
    p.methods.onVoiceServerUpdate({ guild_id: GUILD, token: l.token, endpoint: l.endpoint });
  }
  p.conn = V.joinVoiceChannel({ guildId: GUILD, channelId, group: userId, selfDeaf: false, selfMute: false, adapterCreator,
    debug: !!process.env.DEBUG, ...more });
  p.conn.on('error', (e) => p.errors.push(e.message));
  if (process.env.DEBUG) p.conn.on('debug', (m) => console.log(`[${userId}]`, m.slice(0, 200)));
  p.ready = (ms = 5000) => V.entersState(p.conn, V.VoiceConnectionStatus.Ready, ms);
  p.play = (frames) => {
    p.player ??= V.createAudioPlayer();
    p.conn.subscribe(p.player);
    p.player.play(V.createAudioResource(Readable.from(frames, { objectMode: true }), { inputType: V.StreamType.Opus }));
    return V.entersState(p.player, V.AudioPlayerStatus.Playing, 3000)
      .then(() => V.entersState(p.player, V.AudioPlayerStatus.Idle, 20000));
  };
  // The privacy code of its group; '' without one.
  p.code = () => p.conn.voicePrivacyCode ?? '';
  // Collects the Opus frames of one user.
  p.hear = (user) => {
    const got = [];
    p.conn.receiver.subscribe(user, { end: { behavior: V.EndBehaviorType.Manual } })
      .on('data', (f) => got.push(Buffer.from(f.payload ?? f)))
      .on('error', (e) => p.errors.push(`hear ${user}: ${e.message}`));
    return got;
  };
  p.leave = async () => { if (p.conn.state.status !== 'destroyed') p.conn.destroy(); await p.join; };
  return p;
}
