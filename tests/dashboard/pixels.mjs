// Measures the dashboard of a control that runs, for tests/bench/pixels.c: how long an event of the bus takes to change the page, and the
// work of the main thread for each frame while the list of all turns scrolls and while their timeline moves. Rows go to stdout.
//
//   pixels.mjs CONTROL FOLDER TURNS    the program control, the folder with control.log and state, how many turns there are at least
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Browser, sleep } from './browser.mjs';

const [control, folder, least] = process.argv.slice(2);
const seconds = Number(process.env.BENCH_SECONDS ?? 40), frames = 400;

const print = (name, value, more) => console.log(JSON.stringify({ name, value: Number(value.toFixed(2)), unit: 'ms', ...more }));
const at = (sorted, share) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];

function signInLink() {
  const port = /web_up .*port=(\d+)/.exec(readFileSync(join(folder, 'control.log'), 'utf8'))[1];
  const { stdout } = spawnSync(control, ['--sign-in=admin', '--state-dir', join(folder, 'state')], {
    env: { ...process.env, PARLEY_WEB_LISTEN: `127.0.0.1:${port}` }, encoding: 'utf8' });

  return stdout.trim().split('\n').at(-1).match(/http\S+/)[0];
}

// From the time in the event to the change of nodes that it causes: of the part that shows turns under way, which the event itself draws, and
// of the facts of the room, for which the page asks control: each turn that ends changes the number of turns there.
async function measurePixels(b) {
  await b.send('Page.addScriptToEvaluateOnNewDocument', { source: `window.samples = { now: [], facts: [] }; window.pending = { now: [], facts: [] };
    const Plain = window.EventSource;
    window.EventSource = class extends Plain {
      constructor(...a) {
        super(...a);
        for (const type of ['turn_admitted', 'turn_speaking', 'turn']) this.addEventListener(type, (m) => {
          window.pending.now.push(JSON.parse(m.data));
          if (type === 'turn') window.pending.facts.push(JSON.parse(m.data));
        });
      }
    };
    document.addEventListener('DOMContentLoaded', () => { for (const id of ['now', 'facts']) new MutationObserver(() => {
      const now = Date.now();
      for (const e of window.pending[id].splice(0)) if (e.guild === window.shown) window.samples[id].push(now - e.at);
    }).observe(document.getElementById(id), { childList: true, subtree: true, characterData: true }); });` });
  await b.go(signInLink());
  if (!await b.until("document.querySelectorAll('#rooms button').length >= 1", 20000)) throw new Error('no rooms are shown');
  b.troubles.length = 0; // the 401 of a page that asks who it is
  const rooms = await b.eval("fetch('/api/rooms').then((r) => r.json()).then((r) => r.rooms.map((x) => x.guild))");

  for (const [i, guild] of rooms.entries()) {
    await b.eval(`window.shown = null; window.pending = { now: [], facts: [] }; document.querySelectorAll('#rooms button')[${i}].click(); true`);
    await sleep(300);
    await b.eval(`window.shown = '${guild}'; true`);
    await sleep(1000 * seconds / rooms.length);
  }
  const of = await b.eval('window.samples'), sort = (list) => list.sort((x, y) => x - y), samples = sort([...of.now, ...of.facts]);

  sort(of.now);
  sort(of.facts);
  if (of.now.length < 20 || of.facts.length < 8) throw new Error(`only ${of.now.length} and ${of.facts.length} events changed the page`);
  print('event_to_pixel_p99_ms', at(samples, 0.99), { p50: at(samples, 0.5), max: samples.at(-1), n: samples.length, rooms: rooms.length,
    drawn_p99: at(of.now, 0.99), asked_p50: at(of.facts, 0.5), asked_p99: at(of.facts, 0.99), asked_n: of.facts.length });
}

// Three frames with a few new rows, as a wheel has them, then one whose rows are all new.
const scroll = (b, i) => b.send('Runtime.evaluate', { awaitPromise: true, expression: `new Promise((done) => requestAnimationFrame(() => {
  document.querySelector('.vlist').scrollTop += ${i % 4 ? 96 : 1200};
  const after = new MessageChannel();
  after.port1.onmessage = () => done();
  requestAnimationFrame(() => after.port2.postMessage(0));
}))` });

// The same for the timeline: a little way into the past with each frame, and a longer one with each fourth.
const pan = (b, i) => b.send('Runtime.evaluate', { awaitPromise: true, expression: `new Promise((done) => requestAnimationFrame(() => {
  document.querySelector('canvas.timeline').dispatchEvent(new WheelEvent('wheel', { deltaX: ${i % 4 ? -24 : -400}, cancelable: true, bubbles: true }));
  const after = new MessageChannel();
  after.port1.onmessage = () => done();
  requestAnimationFrame(() => after.port2.postMessage(0));
}))` });

// The processor time of the page's main thread for each frame that it began, in a trace: all its tasks since the frame before.
async function traceFrames(b, run) {
  const events = await b.trace(['toplevel', 'cc'], run);
  const begins = events.filter((e) => e.name === 'ProxyMain::BeginMainFrame'), thread = begins[0];
  const tasks = events.filter((e) => e.name === 'ThreadControllerImpl::RunTask' && e.ph === 'X' && e.pid === thread.pid && e.tid === thread.tid)
    .sort((x, y) => x.ts - y.ts);
  const starts = begins.filter((e) => e.pid === thread.pid && e.tid === thread.tid).map((e) => e.ts).sort((x, y) => x - y), work = [];
  let sum = 0, next = 0;

  for (const t of tasks) {
    sum += (t.tdur ?? 0) / 1000;
    if (!(starts[next] < t.ts + t.dur)) continue;
    while (starts[next] < t.ts + t.dur) next++;
    work.push(sum);
    sum = 0;
  }
  return work.sort((x, y) => x - y);
}

// The processor time of the main thread for a frame, while rows scroll by and while the timeline moves.
async function measureScrolling(b) {
  await b.eval("location.hash = '#turns'; true");
  await b.until("document.getElementById('turns-guild') !== null", 20000);
  await b.eval("(() => { const e = document.getElementById('turns-guild'); e.value = ''; e.dispatchEvent(new Event('change')); })()");
  if (!await b.until("document.querySelectorAll('.vrow').length > 5", 20000)) throw new Error('no turns are shown');
  const there = await b.eval(`(async () => {
    const list = document.querySelector('.vlist'), count = () => Number(/^\\d+/.exec(document.querySelector('.count').textContent)?.[0] ?? 0);
    for (let i = 0; i < 12000 && count() < ${least}; i++) { list.scrollTop = list.scrollHeight; await new Promise((r) => setTimeout(r, 20)); }
    list.scrollTop = 0;
    await new Promise((r) => setTimeout(r, 1000));
    return count();
  })()`);

  if (there < Number(least)) throw new Error(`only ${there} turns are listed`);
  await b.send('Performance.enable', { timeDomain: 'threadTicks' });
  const tasks = async () => 1000 * (await b.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration').value;

  // Of each frame in a trace; beside it, of each step, which draws two frames or three, without one.
  async function measure(step) {
    const steps = [];
    let before = await tasks();

    for (let i = 0; i < frames; i++) {
      await step(b, i);
      const now = await tasks();

      steps.push(now - before);
      before = now;
    }
    const own = await traceFrames(b, async () => {
      for (let i = 0; i < frames; i++) await step(b, i);
    });

    if (own.length < 1.5 * frames) throw new Error(`only ${own.length} frames were drawn`);
    return { own, steps: steps.sort((x, y) => x - y) };
  }
  const list = await measure(scroll);

  if (!await b.eval("document.querySelector('.vlist').scrollHeight === document.querySelector('.vspace').offsetHeight")) throw new Error('the list goes on behind its last turn');
  // Some hundred turns in the window, and all of them to go through.
  await sleep(500);
  await b.eval(`(() => { for (let i = 0; i < 5; i++) [...document.querySelectorAll('#view-body button')].find((e) => e.title === 'Zoom out').click(); })()`);
  const line = await measure(pan);

  print('frame_work_p99_ms', Math.max(at(list.own, 0.99), at(line.own, 0.99)), {
    list_p50: at(list.own, 0.5), list_p99: at(list.own, 0.99), list_max: list.own.at(-1), list_frames: list.own.length, list_step_p99: at(list.steps, 0.99),
    timeline_p50: at(line.own, 0.5), timeline_p99: at(line.own, 0.99), timeline_max: line.own.at(-1), timeline_frames: line.own.length,
    timeline_step_p99: at(line.steps, 0.99), turns: there, nodes: await b.eval("document.querySelectorAll('.vrow').length") });
}

const b = new Browser();
let failed = 0;

try {
  await b.open();
  await b.send('Emulation.setDeviceMetricsOverride', { width: 1280, height: 900, deviceScaleFactor: 1, mobile: false });
  await measurePixels(b);
  await b.picture('live-light', 1280, 900, false);
  await b.picture('live-dark', 1280, 900, true);
  await measureScrolling(b);
  await b.picture('scrolled', 1280, 900, false);
  if (b.troubles.length) throw new Error(b.troubles.join('; '));
} catch (e) {
  console.error(e.stack);
  failed = 1;
}
await b.close();
process.exit(failed);
