// The socket between control and mediad, from Node: reads fields and numbers from proto/media.def and has a msgpack codec
// of its own. One Media is one control.
import { readFileSync } from 'node:fs';
import { EventEmitter } from 'node:events';
import net from 'node:net';

const def = readFileSync(new URL('../../proto/media.def', import.meta.url), 'utf8')
  .replace(/\/\*[\s\S]*?\*\//g, '').replace(/\\\n/g, ' ');
const constant = (name) => Number(def.match(new RegExp(`#define ${name} (\\d+)`))[1]);
const heads = Object.fromEntries([...def.matchAll(/#define (MEDIA_\w+_(?:HEAD(?:ERS)?|SOURCE))\(F\)(.*)/g)].map((m) => [m[1], m[2]]));
const expand = (s) => s.replace(/(MEDIA_\w+_(?:HEAD(?:ERS)?|SOURCE))\(F\)/g, (_, name) => expand(heads[name]));
const fields = Object.fromEntries([...def.matchAll(/#define MEDIA_FIELDS_(\w+)\(F\)(.*)/g)]
  .map((m) => [m[1], [...expand(m[2]).matchAll(/F\((\w+)(?:\(\w+\))?, (\w+),/g)].map((f) => ({ type: f[1], name: f[2] }))]));
const byName = {};
const byNumber = new Map();
for (const m of def.matchAll(/MSG\((\w+), \w+, (\d+), (\w), (\w+),/g)) {
  const t = { name: m[1], number: Number(m[2]), fields: fields[m[1]] };
  byName[t.name] = t;
  byNumber.set(t.number, t);
}
const table = (name, letter) => {
  const body = def.match(new RegExp(`#define ${name}\\(${letter}\\)(.*)`))[1];
  return Object.fromEntries([...body.matchAll(new RegExp(`\\b${letter}\\((\\w+), \\w+, (\\d+),`, 'g'))].map((m) => [m[1], Number(m[2])]));
};
export const PHASE = table('MEDIA_PHASES', 'P');
export const MUSIC = { kinds: { NONE: 0, FILE: 1, HTTP: 2 }, phases: table('MEDIA_MUSIC_PHASES', 'P') };
export const REASON = table('MEDIA_REASONS', 'R');
export const E2EE = table('MEDIA_E2EES', 'S');

function packInt(v) {
  const n = BigInt(v);
  if (n < 128n) return Buffer.from([Number(n)]);
  const size = n < 0x100n ? 1 : n < 0x10000n ? 2 : n < 0x100000000n ? 4 : 8;
  const b = Buffer.alloc(9);
  b.writeBigUInt64BE(n, 1);
  const out = Buffer.from(b.subarray(8 - size));
  out[0] = { 1: 0xcc, 2: 0xcd, 4: 0xce, 8: 0xcf }[size];
  return out;
}
function packBytes(p, one, two) {
  return p.length < 256 ? Buffer.concat([Buffer.from([one, p.length]), p])
    : Buffer.concat([Buffer.from([two, p.length >> 8, p.length & 255]), p]);
}
function packField(type, v) {
  switch (type) {
    case 'b': return Buffer.from([v ? 0xc3 : 0xc2]);
    case 'str': return packBytes(Buffer.from(v ?? ''), 0xd9, 0xda);
    case 'bin': return packBytes(v, 0xc4, 0xc5);
    default: return packInt(v ?? 0);
  }
}
export function pack(name, msg) {
  const t = byName[name];
  return Buffer.concat([Buffer.from([0xdc, 0, t.fields.length + 1]), packInt(t.number),
    ...t.fields.map((f) => packField(f.type, msg[f.name]))]);
}
// One msgpack value at b.at; integers above 2^53 become BigInt.
function value(b) {
  const take = (n) => {
    if (b.at + n > b.p.length) throw new Error('short frame');
    const s = b.p.subarray(b.at, b.at + n);
    b.at += n;
    return s;
  };
  const uint = (n) => take(n).reduce((v, x) => v * 256n + BigInt(x), 0n);
  const num = (n) => { const v = uint(n); return v > BigInt(Number.MAX_SAFE_INTEGER) ? v : Number(v); };
  const c = take(1)[0];
  if (c < 0x80) return c;
  if (c >= 0xa0 && c < 0xc0) return take(c & 31).toString();
  if (c >= 0x90 && c < 0xa0) return { array: c & 15 };
  switch (c) {
    case 0xc2: return false;
    case 0xc3: return true;
    case 0xc4: return take(num(1));
    case 0xc5: return take(num(2));
    case 0xc6: return take(num(4));
    case 0xcc: return num(1);
    case 0xcd: return num(2);
    case 0xce: return num(4);
    case 0xcf: return num(8);
    case 0xd9: return take(num(1)).toString();
    case 0xda: return take(num(2)).toString();
    case 0xdc: return { array: num(2) };
    case 0xdd: return { array: num(4) };
    default: throw new Error(`msgpack tag ${c.toString(16)}`);
  }
}
export function unpack(p) {
  const b = { p, at: 0 };
  const n = value(b).array;
  const t = byNumber.get(value(b));
  const msg = { type: t?.name ?? 'UNKNOWN' };
  for (let i = 0; i < n - 1; i++) {
    const v = value(b);
    if (t?.fields[i]) msg[t.fields[i].name] = v;
  }
  return msg;
}

export class Media extends EventEmitter {
  // user: the bot's id as a string. epoch: a higher one takes over.
  constructor(path, user, epoch = 1) {
    super();
    this.seen = [];
    this.buf = Buffer.alloc(0);
    this.dial(path, 200, () => this.send('HELLO', { major: constant('MEDIA_MAJOR'), minor: constant('MEDIA_MINOR'), build: 'interop',
      instance: process.pid, epoch, user: BigInt(user), caps: 1 /* MEDIA_CAP_MEMBERS */ }));
  }
  // The file of a socket is there a moment before anybody listens: it dials again, as control does.
  dial(path, tries, up) {
    this.sock = net.connect(path, up);
    this.sock.on('data', (d) => this.take(d));
    this.sock.on('error', (e) => {
      if (e.code === 'ECONNREFUSED' && tries) setTimeout(() => this.dial(path, tries - 1, up), 50);
      else this.fault = e.message;
    });
  }
  take(d) {
    this.buf = Buffer.concat([this.buf, d]);
    while (this.buf.length >= 4 && this.buf.length >= 4 + this.buf.readUInt32BE(0)) {
      const n = this.buf.readUInt32BE(0);
      const msg = unpack(this.buf.subarray(4, 4 + n));
      this.buf = this.buf.subarray(4 + n);
      if (msg.type === 'PING') this.send('PONG', { id: msg.id });
      if (msg.type !== 'HEARD') this.seen.push(msg);
      this.emit(msg.type, msg);
    }
  }
  send(name, msg) {
    const body = pack(name, msg);
    const head = Buffer.alloc(4);
    head.writeUInt32BE(body.length);
    this.sock.write(Buffer.concat([head, body]));
  }
  // Waits for the first matching message of this type, received already or later.
  want(name, fits = () => true, ms = 10000) {
    const old = this.seen.find((m) => m.type === name && fits(m));
    if (old) return Promise.resolve(old);
    return new Promise((resolve, reject) => {
      const on = (m) => { if (fits(m)) { clearTimeout(t); this.off(name, on); resolve(m); } };
      const t = setTimeout(() => { this.off(name, on); reject(new Error(`no ${name} in ${ms} ms${this.fault ? ` (${this.fault})` : ''}; last: ${JSON.stringify(this.seen.slice(-5), (_, v) => (typeof v === 'bigint' ? String(v) : v))}`)); }, ms);
      this.on(name, on);
    });
  }
  close() { this.sock.destroy(); }
}
