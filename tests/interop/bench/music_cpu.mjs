// music_cpu_vs_discordjs: the CPU time of @discordjs/voice for a player of an MP3 file, over that of mediad and decoderd for the same
// file (build/bench/music_cpu), which is measured before and after. The client decodes in ffmpeg, one process a player, and encodes
// either there, so that prism-media only takes packets out of Ogg, or by the native encoder of mediaplex; the cheaper way counts. Its
// idle process is subtracted. The far end is build/bench/pace --far. A client runs in a process of its own: this script with the name
// of a way.
import { execFileSync, fork, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { connect } from './far.mjs';

const PLAYERS = 8;
const SECONDS = 6;
const SETTLE_MS = 3000;
const MP3_48000 = 4; // in music_formats of tests/bench/music_stage.c
const FRAME = 960 * 4; // bytes of 20 ms
const bin = process.env.BIN ?? '../../build';
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

// ---- a client ----

const children = [];
function ffmpeg(...output) {
  const p = spawn('ffmpeg', ['-loglevel', 'error', '-i', process.env.MUSIC, ...output, 'pipe:1'], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(p.pid);
  return p.stdout;
}

const ways = {
  ogg: (V) => V.createAudioResource(ffmpeg('-c:a', 'libopus', '-b:a', '128k', '-f', 'opus'), { inputType: V.StreamType.OggOpus }),
  mediaplex: (V) => {
    const { OpusEncoder } = createRequire(import.meta.url)(`mediaplex-linux-${process.arch}-gnu`);
    const encoder = OpusEncoder.create(48000, 2);
    let rest = Buffer.alloc(0);
    const packets = new Transform({
      readableObjectMode: true,
      transform(chunk, _, done) {
        rest = Buffer.concat([rest, chunk]);
        for (; rest.length >= FRAME; rest = rest.subarray(FRAME)) this.push(encoder.encode(rest.subarray(0, FRAME)));
        done();
      },
    });
    return V.createAudioResource(ffmpeg('-f', 's16le', '-ar', '48000', '-ac', '2').pipe(packets), { inputType: V.StreamType.Opus });
  },
};

// CPU time in ms of a process with all its threads.
function cpuOf(pid) {
  return readdirSync(`/proc/${pid}/task`).reduce((ms, t) => ms + Number(readFileSync(`/proc/${pid}/task/${t}/schedstat`, 'utf8').split(' ')[0]) / 1e6, 0);
}

async function measure(pids) {
  const from = pids.map(cpuOf);
  await sleep(SECONDS * 1000);
  return pids.reduce((ms, pid, i) => ms + cpuOf(pid) - from[i], 0) / SECONDS;
}

async function client(way) {
  const V = await import('@discordjs/voice');
  const connections = [];
  for (let call = 0; call < PLAYERS; call += 1) connections.push(await connect(V, call));
  await sleep(SETTLE_MS);
  const idle = await measure([process.pid]);
  for (const conn of connections) {
    const player = V.createAudioPlayer();
    player.on('error', (e) => { console.error(e); process.exit(1); });
    conn.subscribe(player);
    player.play(ways[way](V));
    await V.entersState(player, V.AudioPlayerStatus.Playing, 10000);
  }
  await sleep(SETTLE_MS);
  const busy = await measure([process.pid, ...children]);
  for (const pid of children) process.kill(pid);
  process.send({ ms: (busy - idle) / PLAYERS }, () => process.exit(0));
}

// ---- the bench ----

async function peer(way, music) {
  const far = spawn(join(bin, 'bench', 'pace'), ['--far'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const { value } = await createInterface({ input: far.stdout })[Symbol.asyncIterator]().next();
  const { endpoint, ca } = JSON.parse(value);
  const child = fork(fileURLToPath(import.meta.url), [way], { env: { ...process.env, NODE_EXTRA_CA_CERTS: ca, ENDPOINT: endpoint, MUSIC: music } });
  child.on('exit', (c) => { if (c) throw new Error(`the client ended: ${c}`); });
  const { ms } = await new Promise((resolve) => { child.once('message', resolve); });
  far.stdin.end();
  return ms;
}

const ours = (music) => JSON.parse(execFileSync(join(bin, 'bench', 'music_cpu'), [String(SECONDS), String(MP3_48000), music], { stdio: ['ignore', 'pipe', 'inherit'] })).value;

if (process.argv[2]) {
  await client(process.argv[2]);
} else {
  try {
    execFileSync('ffmpeg', ['-version'], { stdio: 'ignore' });
  } catch {
    console.error('music_cpu_vs_discordjs needs ffmpeg');
    process.exit(1);
  }
  const folder = mkdtempSync(join(tmpdir(), 'parley-music-'));
  const music = join(folder, 'music.mp3');
  const before = ours(music);
  const ogg = await peer('ogg', music);
  const mediaplex = await peer('mediaplex', music);
  const mine = (before + ours(music)) / 2;
  rmSync(folder, { recursive: true });
  console.log(JSON.stringify({ name: 'music_cpu_vs_discordjs', value: Number((Math.min(ogg, mediaplex) / mine).toPrecision(4)), unit: 'x',
    ours_ms: Number(mine.toFixed(2)), ogg_ms: Number(ogg.toFixed(2)), mediaplex_ms: Number(mediaplex.toFixed(2)), players: PLAYERS })
    .replace(/":/g, '": ').replace(/,"/g, ', "'));
  process.exit(0);
}
