// pace_discordjs_p999_us: the packet intervals of @discordjs/voice at 50 and 100 speaking calls, Opus passed through, measured at
// the same far end as mediad's pace_p999_us, DAVE at version 1. One process holds all connections, each with a player of its own.
import { fork, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import OpusScript from 'opusscript';
import { connect } from './far.mjs';

const SECONDS = 6;
const row = (name, value, unit, more) => console.log(JSON.stringify({ name, value: Number(value.toPrecision(5)), unit, ...more })
  .replace(/":/g, '": ').replace(/,"/g, ', "'));

// Opus frames of 20 ms of a tone.
function tone(n) {
  const enc = new OpusScript(48000, 2, OpusScript.Application.AUDIO);
  return Array.from({ length: n }, (_, f) => {
    const pcm = Buffer.alloc(960 * 4);
    for (let i = 0; i < 960 * 2; i += 1) pcm.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * 440 * (f * 960 + (i >> 1))) / 48000)), i * 2);
    return enc.encode(pcm, 960);
  });
}

async function speak(calls) {
  const V = await import('@discordjs/voice');
  const frames = tone(100);
  async function* forever() { for (;;) yield* frames; }
  for (let call = 0; call < calls; call += 1) {
    const conn = await connect(V, call);
    const player = V.createAudioPlayer();
    conn.subscribe(player);
    player.play(V.createAudioResource(Readable.from(forever(), { objectMode: true }), { inputType: V.StreamType.Opus }));
    await V.entersState(player, V.AudioPlayerStatus.Playing, 5000);
  }
  process.send({});
  process.on('message', () => process.exit(0));
}

async function measure(calls) {
  const far = spawn(join(process.env.BIN ?? '../../build', 'bench', 'pace'), ['--far'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: far.stdout })[Symbol.asyncIterator]();
  const { endpoint, ca } = JSON.parse((await lines.next()).value);
  const child = fork(fileURLToPath(import.meta.url), [String(calls)], { env: { ...process.env, NODE_EXTRA_CA_CERTS: ca, ENDPOINT: endpoint } });
  child.on('exit', (c) => { if (c) throw new Error(`the client ended: ${c}`); });
  await new Promise((resolve) => { child.once('message', resolve); });
  await new Promise((r) => setTimeout(r, 1500));
  far.stdin.write(`measure ${calls} ${SECONDS} pace_discordjs_${calls}\n`);
  const got = JSON.parse((await lines.next()).value);
  child.send({});
  far.stdin.end();
  return { p50: got.p50_us, p99: got.p99_us, p999: got.p999_us, max: got.max_us, intervals: got.intervals, skipped: got.skipped };
}

if (process.argv[2]) {
  await speak(Number(process.argv[2]));
} else {
  const fifty = await measure(50);
  const hundred = await measure(100);
  row('pace_discordjs_p999_us', Math.max(fifty.p999, hundred.p999), 'us', { at_50: fifty, at_100: hundred });
  process.exit(0);
}
