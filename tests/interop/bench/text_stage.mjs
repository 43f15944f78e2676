// A stage for benches of text chat: a guildd of its own with one server of text channels, and control without mediad.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALICE, BOB, BOT, TOKEN, until } from '../lib.mjs';

// A text model of the dialect chat: answer(words, req) gets the text of the last message, and gives the parts of an answer, a status, or
// null to drop the connection.
export function model(answer) {
  const server = createServer((req, res) => {
    const at = process.hrtime.bigint();
    let body = '';
    req.on('data', (d) => { body += d; });
    req.on('end', async () => {
      const last = JSON.parse(body).messages.filter((m) => m.role === 'user').at(-1)?.content ?? '';
      const said = await answer(Array.isArray(last) ? last.map((p) => p.text ?? '').join('\n') : last, at);
      if (said === null) { res.destroy(); return; }
      if (typeof said === 'number') { res.writeHead(said).end('{}'); return; }
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const content of said) res.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`);
      res.end('data: [DONE]\n\n');
    });
  });
  return new Promise((r) => { server.listen(0, '127.0.0.1', () => r(server)); });
}

export class Stage {
  constructor(settings = {}, options = []) {
    this.dir = mkdtempSync(join(tmpdir(), 'parley-text-'));
    this.settings = settings;
    this.options = options;
    this.reasons = new Map(); // message -> reasons that control told
    this.began = Date.now();
    this.deaf = false; // reasons are not read in control's log
    this.trace = []; // what happened, for a message that needs an explanation
  }

  note(line) { this.trace.push(`${((Date.now() - this.began) / 1000).toFixed(3)} ${line}`); }

  async api(method, path, body) {
    const r = await fetch(this.ready.control + path, { method, body: body === undefined ? undefined : JSON.stringify(body) });
    const text = await r.text();
    return text ? JSON.parse(text) : {};
  }

  program(name, args, env) {
    const p = spawn(join(process.env.BIN, name), args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    p.ended = once(p, 'exit');
    return p;
  }

  async open(channels, answer) {
    const file = join(this.dir, 'ready');
    this.guildd = this.program('guildd', ['--ready-file', file, '--log', 'fatal']);
    this.guildd.stdout.resume();
    this.guildd.stderr.resume();
    if (!(await until(() => existsSync(file) && readFileSync(file, 'utf8').length > 10, 10000))) throw new Error('guildd does not start');
    this.ready = JSON.parse(readFileSync(file, 'utf8'));
    this.model = await model(answer);
    this.channels = [];
    const guild = (await this.api('POST', '/guilds', { name: 'stage', owner_id: ALICE })).id;
    for (const user of [BOT, ALICE, BOB]) await this.api('POST', `/guilds/${guild}/members`, { user_id: user });
    await this.makeChannels(guild, channels);
    await this.start();
  }

  async makeChannels(guild, n) {
    for (let i = 0; i < n; i++) this.channels.push((await this.api('POST', `/guilds/${guild}/channels`, { type: 'text', name: `c${i}` })).id);
  }

  // While control is down: as after ten minutes more, so that its session is not resumed, and nothing is known of the servers.
  age() {
    const file = join(this.dir, 'state', 'session.json');
    const state = JSON.parse(readFileSync(file, 'utf8'));
    state.saved_ms -= 600000;
    writeFileSync(file, JSON.stringify(state));
  }

  async start() {
    const env = { DISCORD_TOKEN: TOKEN, PARLEY_DISCORD_API: this.ready.rest, OPENAI_API_KEY: '', PARLEY_BRAIN_URL: 'ws://127.0.0.1:9/', PARLEY_TEXT_CHAT: 'all',
      PARLEY_TEXT_SPACING_S: '0', PARLEY_TEXT_PER_HOUR: '60', PARLEY_TEXT_ASKS_PER_HOUR: '10000', PARLEY_TEXT_URL: `http://127.0.0.1:${this.model.address().port}/v1`, ...this.settings };
    const p = this.program('control', ['--media-sock', join(this.dir, 'none.sock'), '--state-dir', join(this.dir, 'state'), '--ca', this.ready.ca,
      ...this.options], env);
    this.control = p;
    this.note(`control starts as ${p.pid}`);
    let up = false;
    let rest = '';
    const read = (d) => {
      const lines = (rest + d).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        if (process.env.DEBUG) process.stderr.write(`${line}\n`);
        this.note(line);
        if (/ (ready|resumed) /.test(line)) up = true;
        const m = / text_message .*\bmessage=(\d+) .*\breason=([a-z_]+)/.exec(line);
        if (m && !this.deaf) this.addReason(m[1], m[2]);
      }
    };
    p.stdout.setEncoding('utf8').on('data', read);
    p.stderr.setEncoding('utf8').on('data', read);
    if (!(await until(() => up || p.exitCode !== null, 20000)) || !up) throw new Error('control does not become ready');
  }

  addReason(message, reason) { this.reasons.set(message, [...(this.reasons.get(message) ?? []), reason]); }

  // As an operator asks: a control that is killed may not have written its last lines, and what ended is in the store by then.
  async askWhy(message) {
    const p = this.program('control', [`--why=${message}`, '--state-dir', join(this.dir, 'state')], {});
    let said = '';
    p.stdout.setEncoding('utf8').on('data', (d) => { said += d; });
    p.stderr.resume();
    await once(p, 'close');
    const m = /^message \d+ .*: ([a-z_]+) \(/m.exec(said);
    if (m) this.addReason(message, m[1]);
  }

  async kill(signal) {
    this.note(`${signal} to control`);
    this.control.kill(signal);
    await this.control.ended;
  }

  // The bot's messages in all channels.
  async answers() {
    const all = [];
    for (const channel of this.channels) all.push(...(await this.api('GET', `/channels/${channel}/messages`)).filter((m) => m.author.id === BOT));
    return all;
  }

  close() {
    this.control?.kill('SIGKILL');
    this.guildd?.kill('SIGKILL');
    this.model?.closeAllConnections?.();
    this.model?.close();
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 3 });
  }
}
