// @discordjs/voice and mediad alternately receive the same ten speakers in real time: hear_vs_discordjs,
// hear_vs_discordjs_fast, hear_nocodec_vs_discordjs. Both are encrypted by DAVE and deliver mono at 24 kHz to a handler of the
// application: ours is that of control's link to mediad, in a process of its own, whose CPU time counts. The figure is the CPU time
// of the whole processes, less that of idle ones. `floor` is the figure of the relay (tests/bench/relay.h) in our place: the same
// threads, system calls and libraries with nothing of ours between them.
//
// The far end is build/bench/discordjs_peer. A client runs in a process of its own: this script with the name of a decoder.
import { fork, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const RATE = 24000;
const TURN_MS = 1500;
const TURNS = 3;
const TURNS_NOCODEC = 11;
const TOKEN = 'token-of-call-0';

// ---- a client ----

const decoders = {
  none: async () => () => (f) => f,
  opusscript: async () => {
    const { default: OpusScript } = await import('opusscript');
    return () => { const d = new OpusScript(RATE, 1, OpusScript.Application.VOIP); return (f) => d.decode(f); };
  },
  '@evan/opus': async () => {
    const { Decoder } = await import('@evan/opus');
    return () => { const d = new Decoder({ channels: 1, sample_rate: RATE }); return (f) => d.decode(f); };
  },
  // Loads the native part by name: the package around it lists platforms that are not published, so no lock file can hold it.
  mediaplex: async () => {
    const { OpusEncoder } = createRequire(import.meta.url)(`mediaplex-linux-${process.arch}-gnu`);
    return () => { const d = OpusEncoder.create(RATE, 1); return (f) => d.decode(f); };
  },
};

async function client(name) {
  const V = await import('@discordjs/voice');
  const make = await decoders[name]();
  const adapterCreator = (methods) => ({
    sendPayload() {
      setImmediate(() => {
        methods.onVoiceStateUpdate({ guild_id: '1', channel_id: process.env.CHANNEL, user_id: '900', session_id: 'session', self_deaf: false, self_mute: true,
          deaf: false, mute: false, self_video: false, suppress: false, request_to_speak_timestamp: null });
        methods.onVoiceServerUpdate({ guild_id: '1', token: TOKEN, endpoint: process.env.ENDPOINT });
      });
      return true;
    },
    destroy() {},
  });
  const conn = V.joinVoiceChannel({ guildId: '1', channelId: process.env.CHANNEL, selfDeaf: false, selfMute: true, daveEncryption: true, adapterCreator });
  conn.on('error', (e) => { console.error(e); process.exit(1); });
  await V.entersState(conn, V.VoiceConnectionStatus.Ready, 10000);
  let frames = 0;
  let samples = 0;
  process.on('message', (m) => {
    if (m.users) {
      for (const user of m.users) {
        const decode = make();
        conn.receiver.subscribe(user, { end: { behavior: V.EndBehaviorType.Manual } }).on('data', (f) => {
          samples += decode(f.payload ?? f).length;
          frames += 1;
        });
      }
      process.send({});
    } else {
      const u = process.cpuUsage();
      process.send({ us: u.user + u.system, frames, samples });
    }
  });
  process.send({});
}

// ---- the measurements ----

const round = (x, digits = 1) => Number(x.toFixed(digits));
const median = (v) => [...v].sort((a, b) => a - b)[v.length >> 1];
const row = (name, value, unit, more) => console.log(JSON.stringify({ name, value: Number(value.toPrecision(5)), unit, ...more })
  .replace(/":/g, '": ').replace(/,"/g, ', "'));
const raw = (name, v) => {
  if (!process.env.BENCH_RAW) return;
  mkdirSync(process.env.BENCH_RAW, { recursive: true });
  writeFileSync(join(process.env.BENCH_RAW, `${name}.raw`), v.map((x) => x.join(' ')).join('\n') + '\n');
};

async function call(name, burst, count = TURNS) {
  const peer = spawn(join(process.env.BIN ?? '../../build', 'bench', 'discordjs_peer'), { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: peer.stdout })[Symbol.asyncIterator]();
  const answer = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('discordjs_peer ended');
    return JSON.parse(value);
  };
  const ask = (line) => { peer.stdin.write(`${line}\n`); return answer(); };
  const far = await answer();
  const theirs = fork(fileURLToPath(import.meta.url), [name], { env: { ...process.env, NODE_EXTRA_CA_CERTS: far.ca, ENDPOINT: far.endpoint, CHANNEL: far.channel } });
  theirs.on('exit', (c) => { if (c !== null) throw new Error(`the client ended: ${c}`); });
  const said = () => new Promise((resolve) => { theirs.once('message', resolve); });
  const tell = (m) => { const s = said(); theirs.send(m); return s; };
  const there = said();
  const { users } = await ask('up');
  await there;
  await tell({ users });
  const turns = [];
  for (let t = 0; t <= count; t += 1) {
    const a = await tell({});
    const hear0 = await ask(`hear 0 ${TURN_MS} ${burst}`); // mediad idles
    const b = await tell({});
    const hear1 = await ask(`hear 1 ${TURN_MS} ${burst}`); // the client does
    const c = await tell({});
    const opus = await ask(`opus ${TURN_MS >> 1} ${burst}`);
    const relay = await ask(`relay ${TURN_MS} ${burst}`);
    const frames = b.frames - a.frames;
    if (frames < hear0.sent * 0.98 || hear1.heard < hear1.sent * 0.98) throw new Error(`${name}: ${frames} of ${hear0.sent}, ${hear1.heard} of ${hear1.sent} frames were heard`);
    if (t) turns.push([(b.us - a.us - (c.us - b.us)) / frames, (hear1.our_ns - hear0.our_ns) / 1000 / hear1.heard, opus.ns / 1000 / opus.frames, relay.ns / 1000 / relay.frames]);
  }
  theirs.kill();
  peer.stdin.end();
  raw(`hear_${name.replace(/\W/g, '')}_${burst}`, turns);
  return { theirs: median(turns.map((x) => x[0])), ours: median(turns.map((x) => x[1])), opus: median(turns.map((x) => x[2])), relay: median(turns.map((x) => x[3])),
    ratio: median(turns.map((x) => x[0] / x[1])), nocodec: median(turns.map((x) => x[0] / (x[1] - x[2]))),
    floor: round(median(turns.map((x) => x[0] / x[3])), 2), nocodecFloor: round(median(turns.map((x) => x[0] / (x[3] - x[2]))), 2) };
}



async function main() {
  const script = await call('opusscript', 1);
  row('hear_vs_discordjs', script.ratio, 'x', { discordjs_us: round(script.theirs), ours_us: round(script.ours), floor: script.floor, relay_us: round(script.relay) });
  const fast = [];
  for (const name of ['@evan/opus', 'mediaplex']) fast.push({ name, ...await call(name, 1) });
  fast.sort((a, b) => a.theirs - b.theirs);
  row('hear_vs_discordjs_fast', fast[0].ratio, 'x', { decoder: fast[0].name, discordjs_us: round(fast[0].theirs), ours_us: round(fast[0].ours), floor: fast[0].floor,
    relay_us: round(fast[0].relay),
    [`with ${fast[1].name}`]: round(fast[1].theirs) });
  const none = await call('none', 1, TURNS_NOCODEC);
  const lump = await call('none', 10);
  row('hear_nocodec_vs_discordjs', none.nocodec, 'x', { discordjs_us: round(none.theirs), ours_us: round(none.ours), bare_opus_us: round(none.opus), floor: none.nocodecFloor,
    relay_us: round(none.relay),
    ten_at_once: { ratio: round(lump.nocodec), discordjs_us: round(lump.theirs), ours_us: round(lump.ours), bare_opus_us: round(lump.opus) } });
  process.exit(0);
}

await (process.argv[2] ? client(process.argv[2]) : main());
