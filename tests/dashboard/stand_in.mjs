// A control that a test plays: the page's own files and the answers of the API that the page asks for, from state that the test changes.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

const folder = new URL('../../control/web/page/', import.meta.url);
const types = { html: 'text/html', css: 'text/css', js: 'text/javascript' };
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'none'; img-src 'self' data:; media-src 'self'; "
  + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

export const person = (user, name) => ({ user, name, heard: true, unheard: null });

export const room = (guild, name, people) => ({
  guild, guildName: name, channel: guild + '1', channelName: `Voice of ${name}`, phase: 'up', since: new Date(Date.now() - 3e5).toISOString(),
  secure: null, brain: null, muted: false, answeredCount: 1, turnCount: 2, peopleCount: people.length, heardCount: people.length, people, faults: [],
  turns: [], lastTurn: null, now: { floor: null, turns: [], spentUsd: 0.01 }, spentTodayUsd: 0.02, calls: [], screens: [], music: null, brainTools: [],
});

export const turn = (id, guild, { at = Date.now(), user = '501', name = 'Alice', heard = `words ${id}`, reason = 'answered', first = 900 } = {}) => ({
  id: String(id), turn: id, guild, channel: guild + '1', at: new Date(at).toISOString(), spokenAt: new Date(at - 3000).toISOString(), sessionId: null,
  user, name, heard, said: reason === 'answered' ? 'an answer' : null, reason, part: false, mergedInto: null, firstAudioMs: first, why: [], costs: [], context: null, recordings: [],
  stages: first === null ? [] : [{ name: 'endpointing', startMs: 0, endMs: 300 }, { name: 'model', startMs: 300, endMs: first }],
  timeline: [{ kind: 'speech', user, name, startMs: -1200, endMs: 0 }],
});

export class StandIn {
  constructor() {
    this.streams = new Set();
    this.looks = new Set(); // streams of the visualizer
    this.asked = [];
    this.refused = new Map(); // "METHOD path" to {status, title}
    this.rooms = [];
    this.turns = []; // the newest first
    this.asr = [];
    this.out = false; // nobody is signed in
    this.who = { role: 'admin', words: true, talk: null };
    this.settings = {
      schema: { settings: [], presets: [] },
      now: { intent: {}, effective: {}, bindings: {}, _meta: { version: 1, updatedAt: '2026-11-01T00:00:00.000Z' } },
    };
    this.server = createServer((request, answer) => this.take(request, answer).catch((e) => answer.destroy(e)));
  }

  async listen() {
    await new Promise((done) => this.server.listen(0, '127.0.0.1', done));
    this.origin = `http://127.0.0.1:${this.server.address().port}`;
  }

  close() {
    for (const s of [...this.streams, ...this.looks]) s.destroy();
    this.server.close();
    this.server.closeAllConnections();
  }

  // How often the page asked for this since the list was emptied.
  count(path, method = 'GET') {
    return this.asked.filter((a) => a.method === method && a.url.pathname === path).length;
  }

  send(type, event) {
    for (const s of this.streams) s.write(`event: ${type}\ndata: ${JSON.stringify({ event: type, at: Date.now(), ...event })}\n\n`);
  }

  listTurns(query) {
    const guild = query.get('guild'), user = query.get('user'), reason = query.get('reason'), limit = Number(query.get('limit') ?? 50);
    const since = Number(query.get('since') ?? 0), before = Number(query.get('before') ?? Infinity), cursor = Number(query.get('cursor') ?? Infinity);
    const all = this.turns.filter((t) => (!guild || t.guild === guild) && (!user || t.user === user) && (!reason || t.reason === reason)
      && Number(t.id) < cursor && Date.parse(t.at) >= since && Date.parse(t.at) < before);

    return { turns: all.slice(0, limit), next: all.length > limit ? all[limit - 1].id : null };
  }

  answerOf(path, query, method) {
    const guilds = this.guilds ?? this.rooms.map((r) => ({ id: r.guild, name: r.guildName }));
    const one = /^\/api\/turns\/(\d+)$/.exec(path);

    if (path === '/api/turns') return this.listTurns(query);
    if (one) return this.turns.find((t) => t.id === one[1]);
    if (/^\/api\/rooms\/\d+\//.test(path) && method === 'POST') return {};
    if (/^\/api\/auth\/sessions\/\d+$/.test(path) && method === 'DELETE') {
      this.who.sessions = this.who.sessions.filter((x) => String(x.id) !== path.split('/').at(-1));
      return {};
    }
    if (path === '/api/audit') {
      const kind = query.get('kind');

      return { audit: (this.audit ?? []).filter((a) => !kind || a.kind === kind), next: null };
    }
    if (/^\/api\/guilds\/\d+\/channels$/.test(path)) return { channels: [] };
    return {
      '/api/auth/session': this.who, '/api/auth/methods': { discord: false }, '/api/guilds': { guilds }, '/api/rooms': { rooms: this.rooms },
      '/api/reasons': { reasons: { answered: 'it was answered', merged: 'it went into another turn' }, rules: {}, faults: {}, audit: { sign_in: 'signed in at the dashboard, or was refused', settings: 'saved the settings: the document before and after' } },
      '/api/settings/schema': this.settings.schema, '/api/settings': this.settings.now, '/api/settings/history': { versions: [] },
      '/api/errors': { errors: this.errors ?? [], next: null }, '/api/voice/state': { activeCount: this.rooms.length, sessions: this.asr },
      '/api/audit/chain': this.chain, '/api/voice/tool-events': { events: this.calls ?? [], next: null },
    }[path];
  }

  // What those who look at the music are told.
  show(parts) {
    const code = (bytes) => Buffer.from(bytes).toString('base64');
    const text = JSON.stringify({ music: 1, position: 0, bands: code(parts.bands), wave: code(parts.wave), scope: code(parts.scope) });

    for (const s of this.looks) s.write(`event: analysis\ndata: ${text}\n\n`);
  }

  stream(answer, set = this.streams) {
    answer.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    answer.write('event: hello\ndata: {}\n\n');
    set.add(answer);
    answer.on('close', () => set.delete(answer));
  }

  async take(request, answer) {
    const url = new URL(request.url, 'http://x'), path = url.pathname, name = path === '/' ? 'page.html' : path.slice(1);

    if (path === '/readyz') {
      answer.end(JSON.stringify({ ready: true, parts: { store: 'up', music: 'unused' } }));
      return;
    }
    if (!path.startsWith('/api/')) {
      const bytes = await readFile(new URL(name, folder)).catch(() => null);

      answer.writeHead(bytes ? 200 : 404, { 'Content-Type': `${types[name.split('.').pop()] ?? 'text/plain'}; charset=utf-8`,
        'Content-Security-Policy': this.frames ? policy.replace("frame-src 'none'", `frame-src ${this.frames}`) : policy });
      answer.end(bytes ?? '');
      return;
    }
    let text = '';

    for await (const piece of request) text += piece;
    this.asked.push({ method: request.method, url, body: text ? JSON.parse(text) : null });
    if (path === '/api/auth/session' && request.method === 'DELETE') this.out = true;
    if (path === '/api/auth/session' && request.method === 'POST') this.out = false;
    if (this.out && path !== '/api/auth/methods') {
      answer.writeHead(request.method === 'DELETE' ? 204 : 401);
      answer.end();
      return;
    }
    if (path === '/api/events') {
      this.stream(answer);
      return;
    }
    if (/^\/api\/rooms\/\d+\/visualizer$/.test(path) && !this.refused.has(`GET ${path}`)) {
      this.stream(answer, this.looks);
      return;
    }
    if (this.wait) await this.wait(request.method, url);
    const refusal = this.refused.get(`${request.method} ${path}`), body = refusal ?? this.answerOf(path, url.searchParams, request.method);

    answer.writeHead(refusal?.status ?? (body ? request.method === 'POST' ? 202 : 200 : 404), { 'Content-Type': 'application/json' });
    answer.end(JSON.stringify(body ?? { title: 'There is no such thing.' }));
  }
}
