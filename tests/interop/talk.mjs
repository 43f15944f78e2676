// `make talk` in a real browser: headless Chromium with a recorded question as its microphone, driven over the DevTools
// protocol. `make talk-test`.
//
//   BIN=folder of the programs   OUT=folder for logs and recordings   SHOT=file.png   also takes the picture for docs/
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import WebSocket from 'ws';

const ROOT = new URL('../..', import.meta.url).pathname;
const BIN = resolve(process.env.BIN ?? join(ROOT, 'build'));
const OUT = resolve(process.env.OUT ?? join(ROOT, 'out/talk-test'));
const LEAD_S = 4; // before the question: joining takes a while
const TAIL_S = 14; // after it: the answer is not to be spoken over by the next round
const ANSWER_MS = 120000; // a busy machine may need a second round of the question
const FAKE = '--use-fake-device-for-media-stream';
const QUESTION = 'parley what time is it';

const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const sum = { passed: 0, failed: 0, skipped: 0 };
function check(name, ok, detail = '') {
  sum[ok ? 'passed' : 'failed'] += 1;
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name}${detail === '' ? '' : ` (${detail})`}`);
  return ok;
}
async function until(what, ms = 10000) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await what();
    if (value || Date.now() > end) return value;
    await sleep(50);
  }
}

// ---- sound ----

function readWav(path) {
  const b = readFileSync(path);
  let at = 12;
  let rate = 0;
  while (at + 8 <= b.length) {
    const id = b.toString('latin1', at, at + 4);
    const n = b.readUInt32LE(at + 4);
    if (id === 'fmt ') rate = b.readUInt32LE(at + 12);
    if (id === 'data') return { rate, pcm: b.subarray(at + 8, at + 8 + n) };
    at += 8 + n + (n & 1);
  }
  throw new Error(`${path} is no WAVE file`);
}

function writeWav(path, rate, pcm) {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + pcm.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(pcm.length, 40);
  writeFileSync(path, Buffer.concat([head, pcm]));
}

function offlined(...args) {
  const r = spawnSync(join(BIN, 'offlined'), args, { encoding: 'utf8' });
  if (r.status !== 0) throw new Error(`offlined ${args[0]}: ${r.stderr}`);
  return r.stdout.trim();
}

// The demo's question, with silence around it: Chromium plays it again and again.
function makeMicrophone(path) {
  const spoken = join(OUT, 'question.wav');
  offlined('--speak', QUESTION, '--voice', 'rms', '-o', spoken);
  const { rate, pcm } = readWav(spoken);
  writeWav(path, rate, Buffer.concat([Buffer.alloc(rate * 2 * LEAD_S), pcm, Buffer.alloc(rate * 2 * TAIL_S)]));
}

// The share of loud audio, and its mean amplitude.
function loudness(pcm, rate) {
  const frame = rate / 50;
  let frames = 0;
  let squares = 0;
  for (let at = 0; at + frame * 2 <= pcm.length; at += frame * 2) {
    let s = 0;
    for (let i = 0; i < frame; i++) s += pcm.readInt16LE(at + i * 2) ** 2;
    if (s / frame < 200 ** 2) continue;
    frames++;
    squares += s / frame;
  }
  return { seconds: frames / 50, rms: Math.round(Math.sqrt(squares / (frames || 1))) };
}

function wordsInCommon(said, heard) {
  const words = (t) => t.toLowerCase().match(/[a-z']+/g) ?? [];
  const got = words(heard);
  const want = words(said);
  return want.length ? want.filter((w) => got.includes(w)).length / want.length : 0;
}

// ---- the browser ----

// Records the audio that a page plays.
const TAP = `(() => {
  const connect = AudioNode.prototype.connect;
  const parts = [];
  AudioNode.prototype.connect = function (to, ...rest) {
    if (to instanceof AudioDestinationNode) {
      const c = this.context;
      if (!c.tap) {
        c.tap = c.createScriptProcessor(4096, 1, 1);
        c.tap.onaudioprocess = (e) => parts.push(Int16Array.from(e.inputBuffer.getChannelData(0), (v) => v * 32767));
        connect.call(c.tap, to);
      }
      connect.call(this, c.tap);
    }
    return connect.call(this, to, ...rest);
  };
  window.takePlayed = () => {
    const bytes = parts.splice(0).flatMap((p) => [new Uint8Array(p.buffer)]);
    let text = '';
    for (const b of bytes) for (let i = 0; i < b.length; i += 4096) text += String.fromCharCode(...b.subarray(i, i + 4096));
    return btoa(text);
  };
})()`;

class Browser {
  static async start(flags) {
    const b = new Browser();
    b.dir = mkdtempSync(join(tmpdir(), 'talk-chromium-'));
    b.process = spawn(process.env.CHROMIUM ?? 'chromium', [
      '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--mute-audio',
      '--disable-background-networking', '--disable-component-update', '--remote-debugging-port=0', `--user-data-dir=${b.dir}`,
      ...flags, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'] });
    b.log = '';
    b.process.stderr.on('data', (d) => { b.log += d; });
    b.ended = new Promise((r) => b.process.on('exit', r));
    b.process.on('error', (e) => { b.log += e.message; });
    const file = join(b.dir, 'DevToolsActivePort');
    const port = await until(() => existsSync(file) && readFileSync(file, 'utf8').trim().split('\n'), 30000);
    if (!port?.[1]) throw new Error(`Chromium did not start: ${b.log.slice(-500)}`);
    b.ws = new WebSocket(`ws://127.0.0.1:${port[0]}${port[1]}`, { perMessageDeflate: false });
    await new Promise((r, e) => b.ws.once('open', r).once('error', e));
    b.next = 1;
    b.waiting = new Map();
    b.tabs = new Map();
    b.ws.on('message', (m) => b.message(JSON.parse(m)));
    return b;
  }

  message(m) {
    const w = this.waiting.get(m.id);
    if (w) {
      this.waiting.delete(m.id);
      if (m.error) w.reject(new Error(m.error.message));
      else w.resolve(m.result);
    } else {
      this.tabs.get(m.sessionId)?.event(m);
    }
  }

  send(method, params = {}, sessionId = undefined) {
    const id = this.next++;
    this.ws.send(JSON.stringify({ id, method, params, sessionId }));
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
  }

  async open(url) {
    const t = new Tab();
    t.browser = this;
    t.troubles = [];
    t.target = (await this.send('Target.createTarget', { url: 'about:blank', newWindow: true, width: 760, height: 760 })).targetId;
    t.session = (await this.send('Target.attachToTarget', { targetId: t.target, flatten: true })).sessionId;
    this.tabs.set(t.session, t);
    for (const domain of ['Page', 'Runtime', 'Log']) await t.send(`${domain}.enable`);
    await t.send('Page.addScriptToEvaluateOnNewDocument', { source: TAP });
    await t.send('Page.navigate', { url });
    await t.until("document.readyState === 'complete'");
    return t;
  }

  async close() {
    this.send('Browser.close').catch(() => {});
    await Promise.race([this.ended, sleep(5000)]);
    this.process.kill('SIGKILL');
    await this.ended;
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Tab {
  event(m) {
    if (m.method === 'Runtime.exceptionThrown') this.troubles.push(m.params.exceptionDetails.exception?.description ?? 'exception');
    if (m.method === 'Log.entryAdded' && m.params.entry.level === 'error') this.troubles.push(m.params.entry.text);
  }

  send(method, params) {
    return this.browser.send(method, params, this.session);
  }

  async eval(expression) {
    const r = await this.send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
    if (r.exceptionDetails) throw new Error(r.exceptionDetails.exception?.description ?? r.exceptionDetails.text);
    return r.result.value;
  }

  until(expression, ms) {
    return until(() => this.eval(expression), ms);
  }

  text(id) {
    return this.eval(`document.getElementById('${id}').textContent`);
  }

  // Clicks as a user does, because the browser allows audio only after a click.
  async click(id) {
    const [x, y] = await this.eval(`(() => { const r = document.getElementById('${id}').getBoundingClientRect();
      return [r.x + r.width / 2, r.y + r.height / 2]; })()`);
    for (const type of ['mousePressed', 'mouseReleased'])
      await this.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
  }

  async join(name) {
    await this.eval(`document.getElementById('name').value = '${name}'`);
    await this.click('join');
    return this.until("document.getElementById('state').textContent.startsWith('You are in')", 20000);
  }

  // [{name, heard, said, reason, text, stage, why}], newest first
  turns() {
    return this.eval(`[...document.querySelectorAll('#turns > li')].map((li) => ({
      stage: li.dataset.stage, name: li.querySelector('.heard b').textContent, heard: li.querySelector('.heard span').textContent,
      said: li.querySelector('.said span').textContent, reason: li.querySelector('.reason').textContent,
      text: li.querySelector('.text').textContent, why: li.querySelectorAll('tr').length }))`);
  }

  people() {
    return this.eval("[...document.querySelectorAll('#people > li')].map((li) => li.textContent)");
  }

  async played() {
    return Buffer.from(await this.eval('takePlayed()'), 'base64');
  }

  close() {
    return this.browser.send('Target.closeTarget', { targetId: this.target });
  }
}

// ---- the processes of make talk ----

function processes() {
  return readdirSync('/proc').filter((d) => /^\d+$/.test(d)).flatMap((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return state === 'Z' ? [] : [{ pid: Number(pid), parent: Number(parent),
        args: readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0') }];
    } catch {
      return [];
    }
  });
}

// All descendants of this process.
function offspring(pid, all = processes()) {
  return all.filter((p) => p.parent === pid).flatMap((p) => [p, ...offspring(p.pid, all)]);
}

class Room {
  static async start() {
    const r = new Room();
    r.process = spawn(join(ROOT, 'tests/talk.sh'), {
      // The speed of the recogniser is not under test.
      env: { ...process.env, BIN, OUT: join(OUT, 'room'), PORT: '0', PARLEY_ASR_WAIT_MS: '20000' }, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
    r.said = '';
    r.process.stdout.on('data', (d) => { r.said += d; });
    r.ended = new Promise((done) => r.process.on('exit', (code, signal) => done(code ?? signal)));
    const url = await until(() => /open (http:\S+)/.exec(r.said)?.[1], 30000);
    if (!url) throw new Error('make talk did not start');
    r.url = url;
    r.world = JSON.parse(readFileSync(join(OUT, 'room/guildd.out'), 'utf8').split('\n')[0]).control;
    return r;
  }

  // mediads of tabs: the bridge's children
  mediads() {
    const all = offspring(this.process.pid);
    const bridge = all.find((p) => p.args[0].endsWith('/talk'));
    return bridge ? all.filter((p) => p.parent === bridge.pid) : [];
  }

  async get(path) {
    return (await fetch(`${this.world}${path}`)).json();
  }

  // The names of the members in the voice channel.
  async members() {
    const w = await this.get('/world');
    const names = new Map(w.users.map((u) => [u.id, u.username ?? u.name]));
    return w.guilds[0].voice_states.filter((v) => v.channel_id).map((v) => names.get(v.user_id) ?? v.user_id).sort();
  }

  async user(name) {
    return (await this.get('/world')).users.find((u) => (u.username ?? u.name) === name)?.id;
  }

  // The number of audio packets that guildd received from them.
  async packets(user) {
    const { streams } = (await this.get('/stats')).relay;
    return streams.filter((s) => s.user_id === user).reduce((n, s) => n + s.rx.ok, 0);
  }
}

// Opens a WebSocket as another program would; returns the close code, or 'open' if it stays open.
function knock(url, origin, send = null) {
  return new Promise((r) => {
    const ws = new WebSocket(url, { origin, perMessageDeflate: false });
    const timer = setTimeout(() => { ws.terminate(); r('open'); }, 1000);
    ws.on('open', () => { if (send) ws.send(send); });
    ws.on('close', (code) => { clearTimeout(timer); r(code); });
    ws.on('error', () => {});
  });
}

// ---- the tests ----

async function strangers(room) {
  const { host } = new URL(room.url);
  const socket = `ws://${host}/room`;
  const origin = `http://${host}`;
  const raw = await fetch(room.url);
  check('the page is served with a policy', raw.status === 200 && /default-src 'none'/.test(raw.headers.get('content-security-policy')));
  check('what is not part of it is not served', (await fetch(`${room.url}..%2f..%2fMakefile`)).status === 400 && (await fetch(`${room.url}Makefile`)).status === 404);
  check("another site's page is refused", await knock(socket, 'http://evil.example') === 1006);
  check('a program without an origin is refused', await knock(socket, undefined) === 1006);
  check('nonsense is refused', await knock(socket, origin, '{"do":"sing"}') === 1008);
  check('a message that is too big is refused', await knock(socket, origin, Buffer.alloc(100000)) === 1009);
  const open = [];
  for (let i = 0; i < 8; i++) {
    const ws = new WebSocket(socket, { origin });
    await new Promise((r) => ws.once('open', r));
    open.push(ws);
  }
  check('there are places for eight tabs', await knock(socket, origin) === 1013);
  await Promise.all(open.map((ws) => new Promise((r) => { ws.once('close', r); ws.close(); })));
  check('whose places become free again', await until(async () => await knock(socket, origin) === 'open', 5000));
}

async function answered(tab, name, ms) {
  const t = await until(async () => (await tab.turns()).find((x) => x.stage === 'ended' && x.name === name && x.reason === 'answered'), ms);
  return t || (await tab.turns())[0];
}

async function conversation(room, ann) {
  check('Ann joins', await ann.join('Ann'), await ann.text('state'));
  check('the call is encrypted, with a privacy code', await ann.until("/\\d{5}( \\d{5}){5}/.test(document.getElementById('code').textContent)", 10000));
  check('she sees the bot', (await ann.people()).some((p) => /^Parley · bot/.test(p)), (await ann.people()).join(', '));
  check('she is a member of the channel', (await room.members()).includes('Ann'), (await room.members()).join(', '));
  check('with a mediad of her own', room.mediads().length === 1);

  check('she reads what the bot wrote', await ann.until("document.getElementById('chat').textContent.includes('guest')", 20000), await ann.text('chat'));
  const t = await answered(ann, 'Ann', ANSWER_MS);
  await ann.click('mute');
  check('her question appears as words', wordsInCommon(QUESTION, t?.heard ?? '') >= 0.6, t?.heard);
  check('and so does the answer', (t?.said ?? '').split(' ').length > 3, t?.said);
  check('and its reason', t?.reason === 'answered' && t.text.length > 10, `${t?.reason}: ${t?.text}`);
  check('and how it came to it', t?.why >= 3, `${t?.why} decisions`);
  await sleep(1000);
  const pcm = await ann.played();
  writeWav(join(OUT, 'played.wav'), 48000, pcm);
  const { seconds, rms } = loudness(pcm, 48000);
  check('the answer comes back as sound', seconds > 1 && rms > 500, `${seconds.toFixed(1)} s at ${rms} rms`);
  const words = offlined('--transcribe', join(OUT, 'played.wav'));
  // The recogniser misrecognises some hours even in the original audio.
  check('which says what was said', wordsInCommon(t?.said ?? '', words) >= 0.4, words);
}

async function two(room, browser, ann) {
  const bea = await browser.open(room.url);
  await bea.click('mute');
  check('Bea joins in a second tab', await bea.join('Bea'), await bea.text('state'));
  check('and is another person', (await until(async () => (await room.members()).length === 3 && room.members()))
    ?.join() === 'Ann,Bea,parley', (await room.members()).join(', '));
  check('with another mediad', room.mediads().length === 2);
  check('each sees the other', await ann.until("document.getElementById('people').textContent.includes('Bea')")
    && await bea.until("[...document.querySelectorAll('#people > li')].some((li) => li.textContent.startsWith('Ann ·'))"),
  (await bea.people()).join(', '));
  check('and that she is muted', (await bea.people()).includes('Ann · muted'), (await bea.people()).join(', '));

  // The microphones play the question once in this time.
  await until(async () => (await ann.turns()).every((t) => t.stage === 'ended'), 20000);
  const before = (await ann.turns()).length;
  const users = [await room.user('Ann'), await room.user('Bea')];
  const packets = await Promise.all(users.map((u) => room.packets(u)));
  await sleep((LEAD_S + TAIL_S + 3) * 1000);
  const after = await Promise.all(users.map((u) => room.packets(u)));
  check('who is muted sends nothing', after.every((n, i) => n === packets[i]) && packets[0] > 50, `${packets} then ${after} packets`);
  check('and so nothing is heard', (await ann.turns()).length === before);

  await ann.played();
  await bea.click('mute');
  const t = await answered(bea, 'Bea', ANSWER_MS);
  check('what the second says is hers', t?.name === 'Bea' && t.reason === 'answered', `${t?.name}: ${t?.heard}`);
  await sleep(1000);
  const { seconds } = loudness(await ann.played(), 48000);
  check('and the first hears her and the answer', seconds > 2.5, `${seconds.toFixed(1)} s`);
  return bea;
}

// Opens the decisions of the newest turn, if there is one.
async function picture(tab, file) {
  await tab.eval("document.querySelector('details').open = true");
  const [width, height] = await tab.eval("[document.body.getBoundingClientRect().right + 16, document.getElementById('turns').getBoundingClientRect().bottom + 12]");
  const { data } = await tab.send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true,
    clip: { x: 0, y: 0, width, height, scale: 1 } });
  writeFileSync(file, Buffer.from(data, 'base64'));
}

async function leaving(room, ann, bea) {
  await ann.click('leave');
  check('who leaves is told so', await ann.until("document.getElementById('state').textContent.startsWith('Press Join')", 3000));
  check('is gone from the channel', await until(async () => !(await room.members()).includes('Ann'), 5000), (await room.members()).join(', '));
  check('and from the list of the other', await bea.until("!document.getElementById('people').textContent.includes('Ann ·')", 5000),
    (await bea.people()).join(', '));
  check('and her mediad ends', await until(() => room.mediads().length === 1, 5000));
  check('she can come again, under a name that nobody has', await ann.join('Bea') && (await ann.people()).includes('Bea 2 (you) · muted'),
    (await ann.people()).join(', '));
  await bea.close();
  check('who closes the tab has left', await until(async () => !(await room.members()).includes('Bea') && room.mediads().length === 1, 8000),
    (await room.members()).join(', '));
  check('no page complained', ann.troubles.length === 0 && bea.troubles.length === 0, [...ann.troubles, ...bea.troubles].join('; '));
}

// Without a microphone, or without permission to use it.
async function refused(room, what, flags, words) {
  const browser = await Browser.start(flags);
  try {
    await browser.send('Browser.setPermission', { permission: { name: 'microphone' }, setting: 'denied', origin: new URL(room.url).origin });
    const tab = await browser.open(room.url);
    await tab.click('join');
    check(`${what} is told in plain words`, await tab.until(`document.getElementById('trouble').textContent.includes('${words}')`, 5000),
      await tab.text('trouble'));
    check('and Join can be pressed again', await tab.eval("!document.getElementById('join').disabled"));
  } finally {
    await browser.close();
  }
}

async function ending(room, tab) {
  const below = offspring(room.process.pid).map((p) => p.pid);
  process.kill(-room.process.pid, 'SIGINT');
  const status = await Promise.race([room.ended, sleep(10000)]);
  check('ctrl-C ends it cleanly', status === 0, `status ${status}`);
  check('with all it started', await until(() => !processes().some((p) => below.includes(p.pid)), 3000), `${below.length} processes`);
  check('and the page says so', await tab.until("document.getElementById('trouble').textContent.includes('make talk')", 5000), await tab.text('trouble'));
}

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
const microphone = join(OUT, 'microphone.wav');
makeMicrophone(microphone);
let room;
let browser;
try {
  room = await Room.start();
  await strangers(room);
  browser = await Browser.start([FAKE, '--use-fake-ui-for-media-stream', `--use-file-for-fake-audio-capture=${microphone}`]);
  const ann = await browser.open(room.url);
  await conversation(room, ann);
  const bea = await two(room, browser, ann);
  if (process.env.SHOT) await picture(bea, process.env.SHOT);
  await leaving(room, ann, bea);
  await refused(room, 'a missing microphone', [], 'no microphone');
  await refused(room, 'a refused microphone', [FAKE], 'not allowed');
  await ending(room, ann);
} catch (e) {
  check('the test itself', false, e.stack);
} finally {
  await browser?.close();
  if (room && room.process.exitCode === null && room.process.signalCode === null) {
    process.kill(-room.process.pid, 'SIGTERM');
    await Promise.race([room.ended, sleep(5000)]);
  }
}
console.log(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`);
process.exit(sum.failed ? 1 : 0);
