// Watches how continuously a call of mediad receives a speaker: arrival times of decrypted frames; and an endless tone.
import { Readable } from 'node:stream';
import * as V from '@discordjs/voice';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tone } from '../lib.mjs';

const CONCEALED = 1; // MEDIA_HEARD_CONCEALED
let listens = 1000000;

// Frames of `user` that the member's mediad delivers. gap(from, to): the longest time in ms without a frame; wait(from, to): the
// longest time in ms between arrival and delivery of a frame.
export function watch(host, member, call, user) {
  const listen = ++listens;
  const at = []; // when it was told
  const wait = []; // for how long its packet had been there; the clocks are one and the same
  const on = (x) => {
    if (x.listen !== listen || x.flags & CONCEALED) return;
    at.push(performance.now());
    wait.push(Number(process.hrtime.bigint() - BigInt(x.at)) / 1e6);
  };
  host.media.on('HEARD', on);
  host.media.send('LISTEN', { call, gen: member.gen, listen, user: BigInt(user), rate: 16000, silence_ms: 5000 });
  return {
    at,
    count: () => at.length,
    last: () => at.at(-1) ?? 0,
    gap(from, to = performance.now()) {
      const inside = [from, ...at.filter((t) => t > from && t < to), to];
      return Math.max(...inside.slice(1).map((t, i) => t - inside[i]));
    },
    wait(from, to) { return Math.max(0, ...wait.filter((_, i) => at[i] > from && at[i] <= to)); },
    stop() { host.media.off('HEARD', on); host.media.send('UNLISTEN', { call, gen: member.gen, listen }); },
  };
}

// An npm member sends a tone until stop().
export function singOn(peer, hz) {
  const frames = tone(hz, 50);
  let over = false;
  function* endless() { for (let i = 0; !over; i = (i + 1) % frames.length) yield frames[i]; }
  const player = V.createAudioPlayer();
  peer.conn.subscribe(player);
  player.play(V.createAudioResource(Readable.from(endless(), { objectMode: true, highWaterMark: 5 }), { inputType: V.StreamType.Opus }));
  return { stop() { over = true; player.stop(true); } };
}

export const quantile = (v, q) => [...v].sort((a, b) => a - b)[Math.min(v.length - 1, Math.ceil(q * v.length) - 1)] ?? 0;
export function raw(name, v) {
  if (!process.env.BENCH_RAW) return;
  mkdirSync(process.env.BENCH_RAW, { recursive: true });
  writeFileSync(join(process.env.BENCH_RAW, `${name}.raw`), `${v.map((x) => [x].flat().join(' ')).join('\n')}\n`);
}
export const row = (name, value, unit, more = {}) => {
  const fields = { name, value: Number(value.toPrecision(5)), unit, ...more };
  console.log(`{${Object.entries(fields).map(([k, v]) => `${JSON.stringify(k)}: ${JSON.stringify(v)}`).join(', ')}}`);
};
