// A headless Chromium that is spoken to over a pipe, with axe-core. SHOTS=FOLDER also takes pictures, ROWS=FILE gets rows for the benches.
import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const shots = process.env.SHOTS, answerMs = 120000;
export const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

// A row of tests/bench/rows, where ROWS names a file.
export function row(name, value, unit, more = '') {
  if (process.env.ROWS) appendFileSync(process.env.ROWS, `{"name": "${name}", "value": ${value}, "unit": "${unit}"${more}}\n`);
}

export class Browser {
  // flags: further ones of Chromium.
  constructor(flags = []) {
    this.dir = mkdtempSync(join(tmpdir(), 'dashboard-chromium-'));
    this.troubles = [];
    this.examined = 0;
    this.violated = 0;
    this.waiting = new Map();
    this.next = 1;
    this.left = '';
    this.process = spawn(process.env.CHROMIUM ?? 'chromium', [
      '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--remote-debugging-pipe', `--user-data-dir=${this.dir}`, ...flags, 'about:blank',
    ], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    this.process.stdio[4].on('data', (d) => this.read(d));
  }

  read(data) {
    this.left += data;
    for (let end; (end = this.left.indexOf('\0')) >= 0; this.left = this.left.slice(end + 1)) this.take(JSON.parse(this.left.slice(0, end)));
  }

  take(m) {
    const w = this.waiting.get(m.id);

    clearTimeout(w?.timer);
    this.waiting.delete(m.id);
    if (w && m.error) w.reject(new Error(m.error.message));
    else if (w) w.resolve(m.result);
    else if (m.method === 'Tracing.dataCollected') this.traced.push(...m.params.value);
    else if (m.method === 'Tracing.tracingComplete') this.traceEnds();
    else if (m.method === 'Runtime.exceptionThrown') this.troubles.push(m.params.exceptionDetails.exception?.description ?? 'exception');
    else if (m.method === 'Page.javascriptDialogOpening') this.troubles.push('a dialog');
    else if (m.method === 'Log.entryAdded' && m.params.entry.level === 'error') this.troubles.push(m.params.entry.text);
  }

  send(method, params = {}, session = this.session) {
    const id = this.next++;
    const message = { id, method, params, sessionId: session ?? undefined };

    this.process.stdio[3].write(JSON.stringify(message) + '\0');
    return new Promise((resolve, reject) => {
      // A test that waits for ever says nothing about what is wrong.
      const timer = setTimeout(() => {
        this.waiting.delete(id);
        reject(new Error(`Chromium does not answer ${method}`));
      }, answerMs);

      this.waiting.set(id, { resolve, reject, timer });
    });
  }

  async open() {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' }, null);

    this.target = targetId;
    this.session = (await this.send('Target.attachToTarget', { targetId, flatten: true }, null)).sessionId;
    for (const domain of ['Page', 'Runtime', 'Log']) await this.send(`${domain}.enable`);
  }

  async go(url) {
    await this.send('Page.navigate', { url });
  }

  async eval(expression) {
    const r = await this.send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });

    if (r.exceptionDetails) throw new Error(r.exceptionDetails.exception?.description ?? r.exceptionDetails.text);
    return r.result.value;
  }

  // True once it holds.
  async until(expression, ms = 10000) {
    for (const end = Date.now() + ms; Date.now() < end; await sleep(50)) if (await this.eval(expression).catch(() => false)) return true;
    return false;
  }

  // The page has this size and these colours from then on, also without SHOTS.
  async picture(name, width, height, dark) {
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
    await this.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] });
    if (!shots) return;
    await sleep(300);
    const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
    writeFileSync(join(shots, `dashboard-${name}.png`), Buffer.from(data, 'base64'));
  }

  // The events of these categories while run runs. Tracing belongs to the browser, not to the page.
  async trace(categories, run) {
    const whole = (method, params) => this.send(method, params, null);
    const ended = new Promise((done) => { this.traceEnds = done; });

    this.traced = [];
    await whole('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: categories } });
    await run();
    await whole('Tracing.end');
    await ended;
    return this.traced;
  }

  async colours(dark) {
    await this.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] });
  }

  // What axe-core finds, light and dark.
  async violations() {
    const found = [];

    const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

    if (!await this.eval('Boolean(window.axe)')) await this.send('Runtime.evaluate', { expression: axe });
    for (const dark of [false, true]) {
      await this.colours(dark);
      await sleep(100);
      found.push(...await this.eval(`axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations.flatMap((v) =>
        v.nodes.map((n) => '${dark ? 'dark' : 'light'} ' + v.id + ' ' + n.target.join(' '))))`));
    }
    this.examined++;
    this.violated += found.length;
    return found;
  }

  async key(key) {
    const more = { Enter: { windowsVirtualKeyCode: 13, text: '\r' }, Tab: { windowsVirtualKeyCode: 9 } }[key];

    for (const type of ['keyDown', 'keyUp']) await this.send('Input.dispatchKeyEvent', { type, key, code: key, ...more });
  }

  async close() {
    this.session = undefined;
    this.send('Browser.close').catch(() => {});
    await Promise.race([new Promise((r) => this.process.on('exit', r)), sleep(5000)]);
    this.process.kill('SIGKILL');
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }
}
