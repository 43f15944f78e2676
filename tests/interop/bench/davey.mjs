// Measures davey through Node and our code alternately: frames of 160 bytes, and welcomes into groups of 25 and 100 members.
// Rows: dave_vs_davey, welcome_vs_davey, welcome_100_ms, mls_audio_delay_us. Our side is build/bench/davey_peer, one line per request.
import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import davey from '@snazzah/davey';
import { ExternalSender } from '../extsender.mjs';

const CHANNEL = '927310423890473011';
const OURS = '4242'; // the user of davey_peer
const FRAME = Buffer.alloc(160, 7);
const row = (name, value, unit, more = {}) => console.log(JSON.stringify({ name, value: Number(value.toPrecision(5)), unit, ...more })
  .replace(/":/g, '": ').replace(/,"/g, ', "'));
const median = (v) => [...v].sort((a, b) => a - b)[v.length >> 1];
const raw = (name, v) => {
  if (!process.env.BENCH_RAW) return;
  mkdirSync(process.env.BENCH_RAW, { recursive: true });
  writeFileSync(join(process.env.BENCH_RAW, `${name}.raw`), v.map((x) => [x].flat().join(' ')).join('\n') + '\n');
};
const cpu = () => { const u = process.cpuUsage(); return (u.user + u.system) * 1000; };

const bin = join(process.env.BIN ?? '../../build', 'bench');
const child = spawn(join(bin, 'davey_peer'), { stdio: ['pipe', 'pipe', 'inherit'] });
const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
const ask = async (line) => {
  child.stdin.write(`${line}\n`);
  const { value, done } = await lines.next();
  if (done) throw new Error(`davey_peer ended at "${line.slice(0, 40)}"`);
  return value.trim();
};

// A group of one member that stays (the committer) and n - 2 others, which exist only as key packages.
class Group {
  constructor(n) {
    this.ds = new ExternalSender(CHANNEL);
    this.a = new davey.DAVESession(1, '100', CHANNEL);
    this.a.setExternalSender(this.ds.package);
    this.a.getSerializedKeyPackage();
    this.known = ['100', OURS];
    const adds = [];
    for (let i = 0; i < n - 2; i += 1) {
      const user = String(1000 + i);
      const s = new davey.DAVESession(1, user, CHANNEL);
      s.setExternalSender(this.ds.package);
      adds.push(this.ds.add(s.getSerializedKeyPackage()));
      this.known.push(user);
    }
    this.joiner = n - 1; // leaf: all before it are taken
    if (adds.length) this.step(adds);
  }
  // Commits these proposals and returns the welcome.
  step(proposals) {
    const { commit, welcome } = this.a.processProposals(0, this.ds.vector(proposals), this.known);
    this.a.processCommit(commit);
    this.ds.epoch += 1n;
    return welcome;
  }
  // Adds a joiner, and removes it after the measurement.
  welcome(user, keyPackage) {
    this.known.push(user);
    return this.step([this.ds.add(keyPackage)]);
  }
  leave() { this.step([this.ds.remove(this.joiner)]); }
}

async function frames(turns, n) {
  const g = new Group(2);
  const b = new davey.DAVESession(1, '101', CHANNEL);
  b.setExternalSender(g.ds.package);
  const w = g.welcome('101', b.getSerializedKeyPackage());
  b.processWelcome(w);
  const seals = [];
  const opens = [];
  for (let t = 0; t < turns; t += 1) {
    const sealed = new Array(n);
    let from = cpu();
    for (let i = 0; i < n; i += 1) sealed[i] = g.a.encryptOpus(FRAME);
    const seal = (cpu() - from) / n;
    from = cpu();
    for (let i = 0; i < n; i += 1) b.decrypt('100', davey.MediaType.AUDIO, sealed[i]);
    const open = (cpu() - from) / n;
    const [ourSeal, ourOpen] = (await ask(`frames ${n}`)).split(' ').map(Number);
    if (t === 0) continue; // everything is cold
    seals.push([seal, ourSeal]);
    opens.push([open, ourOpen]);
  }
  raw('dave_vs_davey', seals.map((s, i) => [...s, ...opens[i]]));
  const ratio = (v) => median(v.map(([x, y]) => x / y));
  row('dave_vs_davey', Math.min(ratio(seals), ratio(opens)), 'x', { seal: ratio(seals).toFixed(2), open: ratio(opens).toFixed(2),
    davey_ns: [seals, opens].map((v) => Math.round(median(v.map((x) => x[0])))), ours_ns: [seals, opens].map((v) => Math.round(median(v.map((x) => x[1])))) });
}

async function welcomes(n, turns) {
  const g = new Group(n);
  const ours = Buffer.from(await ask(`keypackage ${CHANNEL}`), 'hex');
  const got = [];
  for (let t = 0; t < turns; t += 1) {
    const user = String(500000 + t);
    const s = new davey.DAVESession(1, user, CHANNEL);
    s.setExternalSender(g.ds.package);
    const theirs = g.welcome(user, s.getSerializedKeyPackage());
    const from = cpu();
    s.processWelcome(theirs);
    const davies = cpu() - from;
    if (s.voicePrivacyCode !== g.a.voicePrivacyCode) throw new Error('davey is in another group');
    g.leave();
    const mine = g.welcome(OURS, ours);
    const [ns, code, members] = (await ask(`welcome ${CHANNEL} ${g.ds.package.toString('hex')} ${mine.toString('hex')}`)).split(' ');
    if (code !== g.a.voicePrivacyCode || Number(members) !== n) throw new Error(`we are in another group: ${code}, ${members} members`);
    g.leave();
    if (t > 0) got.push([davies / 1e6, Number(ns) / 1e6]);
  }
  raw(`welcome_${n}`, got);
  return { n, davey_ms: median(got.map((x) => x[0])), ours_ms: median(got.map((x) => x[1])), ratio: median(got.map(([x, y]) => x / y)) };
}

// One welcome into a group of n members, which mls_delay processes repeatedly.
async function delay(n) {
  const g = new Group(n);
  const mine = g.welcome(OURS, Buffer.from(await ask(`keypackage ${CHANNEL}`), 'hex'));
  const r = spawnSync(join(bin, 'mls_delay'), { input: `${CHANNEL} ${g.ds.package.toString('hex')} ${mine.toString('hex')}\n`,
    stdio: ['pipe', 'inherit', 'inherit'] });
  if (r.status !== 0) throw new Error(`mls_delay ended with ${r.status}`);
}

await frames(15, 20000);
const w = [await welcomes(25, 15), await welcomes(100, 9)];
row('welcome_vs_davey', Math.min(...w.map((x) => x.ratio)), 'x', Object.fromEntries(w.flatMap((x) => [[`davey_${x.n}_ms`, +x.davey_ms.toFixed(2)],
  [`ours_${x.n}_ms`, +x.ours_ms.toFixed(2)]])));
row('welcome_100_ms', w[1].ours_ms, 'ms');
await delay(100);
child.stdin.end();
process.exit(0);
