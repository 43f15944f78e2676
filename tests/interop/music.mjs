// Music of mediad, driven over its socket as by control, for an unmodified @discordjs/voice peer: it arrives in stereo, falls under
// speech and returns, and two files follow each other without a pause.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BOT, check, decodeStereo, goertzel, main, ready, sleep, until } from './lib.mjs';
import { MUSIC, Media } from './media.mjs';
import { call, say, sine } from './mediad_call.mjs';

const bin = join(process.env.BIN ?? '../../build', 'mediad');
const RATE = 48000;
const DUCK = { duck: 150, duck_attack_ms: 80, duck_hold_ms: 600, duck_release_ms: 600 };

// A WAV file with another tone in each channel.
function wav(path, left, right, seconds) {
  const n = RATE * seconds;
  const b = Buffer.alloc(44 + n * 4);
  b.write('RIFF', 0); b.writeUInt32LE(36 + n * 4, 4); b.write('WAVEfmt ', 8); b.writeUInt32LE(16, 16);
  b.writeUInt16LE(1, 20); b.writeUInt16LE(2, 22); b.writeUInt32LE(RATE, 24); b.writeUInt32LE(RATE * 4, 28);
  b.writeUInt16LE(4, 32); b.writeUInt16LE(16, 34); b.write('data', 36); b.writeUInt32LE(n * 4, 40);
  for (let i = 0; i < n; i++) {
    b.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * left * i) / RATE)), 44 + i * 4);
    b.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * right * i) / RATE)), 46 + i * 4);
  }
  writeFileSync(path, b);
}
const part = (channel, from, to) => channel.slice(Math.round(from * RATE), Math.round(to * RATE));
// The level of a tone in windows of 100 ms.
const levels = (channel, hz) => Array.from({ length: Math.floor(channel.length / 4800) }, (_, i) => goertzel(channel.slice(i * 4800, i * 4800 + 4800), hz));

async function stereo(sock, epoch) {
  const { m, b, over } = await call(sock, 'music', {}, epoch);
  const frames = b.hear(BOT);
  m.send('MUSIC_PLAY', { call: 1, gen: m.gen, music: 1, kind: MUSIC.kinds.FILE, path: 'a.wav', gain: 1000, ...DUCK, bitrate: 128000 });
  m.send('MUSIC_NEXT', { call: 1, gen: m.gen, music: 2, kind: MUSIC.kinds.FILE, path: 'b.wav', gain: 1000 });
  await m.want('MUSIC_STATE', (s) => s.music === 1 && s.phase === MUSIC.phases.PLAYING);
  await m.want('MUSIC_STATE', (s) => s.music === 2 && s.phase === MUSIC.phases.ENDED, 12000);
  await sleep(200);
  const [left, right] = decodeStereo(frames);
  check('music: all of it arrives', left.length > 5.8 * RATE && left.length < 6.6 * RATE, `${(left.length / RATE).toFixed(2)} s`);
  for (const [name, channel, from, own, others] of [['left', left, 1, 440, [1000, 600, 1400]], ['right', right, 1, 1000, [440, 600, 1400]],
    ['left, second file', left, 4, 600, [1400, 440, 1000]], ['right, second file', right, 4, 1400, [600, 440, 1000]]]) {
    const x = part(channel, from, from + 1);
    const o = Math.max(...others.map((hz) => goertzel(x, hz)));
    check(`music: ${name}`, goertzel(x, own) > 3000 && goertzel(x, own) > 30 * o, `${goertzel(x, own).toFixed(0)}, others ${o.toFixed(1)}`);
  }
  // Where one file follows the other neither tone is missing for as long as a frame.
  const joint = levels(left, 440).map((v, i) => v + levels(left, 600)[i]).slice(5, 55);
  check('music: no pause between the files', Math.min(...joint) > 2500, Math.min(...joint).toFixed(0));
  await over();
}

async function ducked(sock, epoch) {
  const { m, b, over } = await call(sock, 'speech over music', {}, epoch);
  const frames = b.hear(BOT);
  m.send('MUSIC_PLAY', { call: 1, gen: m.gen, music: 1, kind: MUSIC.kinds.FILE, path: 'long.wav', gain: 1000, ...DUCK, bitrate: 128000 });
  await m.want('MUSIC_STATE', (s) => s.music === 1 && s.phase === MUSIC.phases.PLAYING);
  await sleep(1000);
  await say(m, 1, sine(2000, 2));
  await sleep(2500);
  m.send('MUSIC_STOP', { call: 1, gen: m.gen, music: 1, fade_ms: 0 });
  await m.want('MUSIC_STATE', (s) => s.music === 1 && s.phase === MUSIC.phases.ENDED);
  const [left, right] = decodeStereo(frames);
  const speech = levels(left, 2000);
  const first = speech.findIndex((v) => v > 2000);
  const last = speech.findLastIndex((v) => v > 2000);
  const music = levels(left, 440);
  const under = music.slice(first + 2, last - 1);
  check('ducked: the speech is in both channels', first > 0 && Math.abs(levels(right, 2000)[first + 3] - speech[first + 3]) < 400, `${first} to ${last}`);
  const before = music[first - 3];
  const db = under.map((v) => 20 * Math.log10(v / before));
  check('ducked: music is 16.5 dB lower under it', Math.max(...db) < -15.5 && Math.min(...db) > -17.5, `${Math.min(...db).toFixed(1)} to ${Math.max(...db).toFixed(1)} dB`);
  check('ducked: and returns', music[last + 16] > 0.9 * before, (music[last + 16] / before).toFixed(2));
  await over();
}

await main(async () => {
  const dir = mkdtempSync(join(tmpdir(), 'interop-'));
  const sock = join(dir, 'mediad.sock');
  mkdirSync(join(dir, 'music'));
  wav(join(dir, 'music', 'a.wav'), 440, 1000, 3);
  wav(join(dir, 'music', 'b.wav'), 600, 1400, 3);
  wav(join(dir, 'music', 'long.wav'), 440, 440, 20);
  const mediad = spawn(bin, ['--listen', sock, '--ca', ready.ca, '--music-root', join(dir, 'music'), '--log', process.env.MEDIAD_LOG ?? 'warn'], { stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    check('mediad listens', !!(await until(() => existsSync(sock))));
    await stereo(sock, 1);
    await ducked(sock, 2);
  } finally {
    mediad.kill('SIGTERM');
    const [code] = mediad.exitCode === null ? await once(mediad, 'exit') : [mediad.exitCode];
    check('mediad ends in order', code === 0, code);
    rmSync(dir, { recursive: true });
  }
}, 60000);
