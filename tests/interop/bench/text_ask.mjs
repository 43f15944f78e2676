// text_ask_p99_ms: from a message's arrival at control to the question on the text model's socket, less the coalescing window.
//
// The arrival is the time of the gateway's message in control's journal; the question's is that at which the model's server, a script in
// this process, has its head. Both are CLOCK_MONOTONIC; the figure is too long by this process's wake-up. The message waits out its
// window, and its memory is searched, in this time.
//
//   BENCH_ASKS=n   messages (300)
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ALICE, BOT, sleep, until } from '../lib.mjs';
import { Stage } from './text_stage.mjs';
import { row } from './watch.mjs';

const ASKS = Number(process.env.BENCH_ASKS ?? 300);
const CHANNELS = 20;
const COALESCE_MS = 1000;
const GRACE_MS = 250; // TEXT_GRACE_MS of control/text/text_chat.h
const journal = (stage) => join(stage.dir, 'control.journal');

// The times (ns) at which control read messages that hold a word, from its journal (ipc/journal.h).
function arrivals(file, words) {
  const data = readFileSync(file);
  const found = new Map();
  let at = data.indexOf(10, data.indexOf(10) + 1) + 1;
  while (at + 4 <= data.length) {
    const size = data.readUInt32BE(at);
    const bytes = data.subarray(at + 4, at + 4 + size);
    at += 4 + size;
    // u64 order, u64 now, u8 thread, u8 what (1: an input), u32 source, u8 kind
    if (bytes.length < 23 || bytes[17] !== 1 || bytes.indexOf('MESSAGE_CREATE') < 0) continue;
    const word = /\bw\d+w\b/.exec(bytes.toString('latin1', 23))?.[0];
    if (words.has(word) && !found.has(word)) found.set(word, bytes.readBigUInt64BE(8));
  }
  return found;
}

const asked = new Map();
const stage = new Stage({ PARLEY_TEXT_COALESCE_S: String(COALESCE_MS / 1000) });
stage.options = ['--journal', journal(stage)];
try {
  await stage.open(CHANNELS, (last, at) => {
    for (const w of last.match(/\bw\d+w\b/g) ?? []) if (!asked.has(w)) asked.set(w, at);
    return ['It is so.'];
  });
  const words = new Set();
  for (let i = 0; i < ASKS; i++) {
    const word = `w${i}w`;
    words.add(word);
    await stage.api('POST', `/channels/${stage.channels[i % CHANNELS]}/messages`, { user_id: ALICE, content: `<@${BOT}> is it ${word}` });
    await sleep(137); // a channel's answer is there before its next message
  }
  await until(() => asked.size === ASKS, 20000);
  await sleep(500);
  await stage.kill('SIGTERM');
  const came = arrivals(journal(stage), words);
  const ms = [...words].filter((w) => came.has(w) && asked.has(w)).map((w) => Number(asked.get(w) - came.get(w)) / 1e6 - COALESCE_MS - GRACE_MS).sort((a, b) => a - b);
  const q = (x) => ms[Math.min(ms.length - 1, Math.floor(ms.length * x))];
  if (!ms.length) throw new Error('nothing was measured');
  row('text_ask_p99_ms', q(0.99), 'ms', { p50: q(0.5), max: ms.at(-1), n: ms.length, of: ASKS, load: Number(readFileSync('/proc/loadavg', 'utf8').split(' ')[0]) });
} finally {
  stage.close();
}
process.exit(0);
