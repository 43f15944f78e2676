// Streams ("Go Live") of guildd: discovery by the main gateway, a voice session of their own, video with its codecs, and davey
// encrypting whole frames. Two people show and watch; packets are made here, by the formats' specifications.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import dgram from 'node:dgram';
import { once } from 'node:events';
import davey from '@snazzah/davey';
import WebSocket from 'ws';
import { ALICE, BOB, BOT, GUILD, TOKEN, VOICE, api, check, main, ready, sleep, stats, switches, until } from './lib.mjs';

const { DAVESession } = davey;
const VIDEO = 1;
const CODECS = { VP8: 2, H264: 4 };
const TYPES = { H264: [103, 104], VP8: [105, 106] };
const GUILDS_AND_VOICE = 1 + 128;

// A client of the main gateway.
async function signIn(token) {
  const c = { got: [], closed: undefined };
  c.ws = new WebSocket(`${ready.gateway}/?v=10&encoding=json`);
  c.ws.on('message', (m) => c.got.push(JSON.parse(m)));
  c.ws.on('close', (code) => { c.closed = code; });
  c.send = (op, d) => c.ws.send(JSON.stringify({ op, d }));
  c.event = (t, ok = () => true) => until(() => c.got.find((m) => m.t === t && ok(m.d))?.d, 3000);
  c.forget = () => { c.got.length = 0; };
  await once(c.ws, 'open');
  c.send(2, { token, intents: GUILDS_AND_VOICE, properties: { os: 'linux', browser: 'x', device: 'x' } });
  c.session = (await c.event('READY')).session_id;
  return c;
}
const person = async (id, name) => {
  await api('POST', '/bots', { id, name, token: `${name}.token`, person: true });
  return signIn(`${name}.token`);
};

// A client of a stream's voice server. `codecs`: of op 1. Frames that come are decrypted and kept in `frames`.
async function connect(user, created, server, session, { encode, codecs = ['H264', 'VP8'], offset = 0 } = {}) {
  const v = { user, got: [], frames: [], rtcp: [], errors: [], counter: 0, seq: 0, ts: 1000 };
  const channel = (BigInt(created.rtc_server_id) - 1n).toString();
  const users = new Set([user]);
  let binary = -1;
  v.ws = new WebSocket(`wss://${server.endpoint}/?v=8`);
  v.ws.on('close', (code) => { v.closed = code; });
  v.send = (op, d) => v.ws.send(JSON.stringify({ op, d }));
  v.want = (op, ok = () => true) => until(() => v.got.find((m) => m.op === op && ok(m.d))?.d, 5000);
  v.dave = new DAVESession(1, user, channel);
  const sendBinary = (op, ...parts) => v.ws.send(Buffer.concat([Buffer.from([op]), ...parts]));
  const json = {
    11: (d) => d.user_ids.forEach((u) => users.add(u)),
    13: (d) => users.delete(d.user_id),
    4: () => sendBinary(26, v.dave.getSerializedKeyPackage()),
    24: () => { v.dave.reinit(1, user, channel); sendBinary(26, v.dave.getSerializedKeyPackage()); },
    21: (d) => v.send(23, { transition_id: d.transition_id }),
  };
  const taken = (p) => { const id = p.readUInt16BE(0); if (id) v.send(23, { transition_id: id }); };
  const bytes = {
    25: (p) => v.dave.setExternalSender(p),
    27: (p) => {
      const { commit, welcome } = v.dave.processProposals(p[0], p.subarray(1), [...users]);
      if (commit) sendBinary(28, commit, welcome ?? Buffer.alloc(0));
    },
    29: (p) => { v.dave.processCommit(p.subarray(2)); taken(p); },
    30: (p) => { v.dave.processWelcome(p.subarray(2)); taken(p); },
  };
  v.ws.on('message', (m, isBinary) => {
    try {
      if (isBinary) { binary = m.readUInt16BE(0); bytes[m[2]]?.(m.subarray(3)); return; }
      const o = JSON.parse(m);
      v.got.push(o);
      json[o.op]?.(o.d);
    } catch (e) { v.errors.push(e.message); }
  });
  await once(v.ws, 'open');
  v.send(0, { server_id: created.rtc_server_id, user_id: user, session_id: session, token: server.token,
    max_dave_protocol_version: 1, video: true, streams: [{ type: 'screen', rid: '100', quality: 100 }] });
  v.ready = await v.want(2);
  if (!v.ready) return v;
  v.udp = dgram.createSocket('udp4');
  v.udp.on('message', (p) => receive(v, p));
  v.udp.connect(v.ready.port, v.ready.ip);
  await once(v.udp, 'connect');
  const ask = Buffer.alloc(74);
  ask.writeUInt16BE(1, 0);
  ask.writeUInt16BE(70, 2);
  ask.writeUInt32BE(v.ready.ssrc, 4);
  v.udp.send(ask);
  await until(() => v.address);
  v.types = Object.fromEntries(codecs.map((name) => [name, TYPES[name].map((t) => t + offset)]));
  v.send(1, { protocol: 'udp', data: { address: v.address.ip, port: v.address.port, mode: 'aead_aes256_gcm_rtpsize' },
    codecs: [{ name: 'opus', type: 'audio', priority: 1000, payload_type: 120 },
      ...codecs.map((name, i) => ({ name, type: 'video', priority: 1000 * (i + 1), payload_type: v.types[name][0],
        rtx_payload_type: v.types[name][1], encode: !!encode, decode: !encode }))] });
  v.described = await v.want(4);
  v.key = Buffer.from(v.described.secret_key);
  v.beat = setInterval(() => v.send(3, { t: Date.now(), seq_ack: binary }), 5000);
  v.leave = () => { clearInterval(v.beat); v.udp.close(); v.ws.close(); };
  return v;
}

// ---- packets: RTP under aead_aes256_gcm_rtpsize ----
function seal(v, head, body) {
  const tail = Buffer.alloc(4);
  tail.writeUInt32BE(v.counter++);
  const c = createCipheriv('aes-256-gcm', v.key, Buffer.concat([tail, Buffer.alloc(8)]));
  c.setAAD(head);
  v.udp.send(Buffer.concat([head, c.update(body), c.final(), c.getAuthTag(), tail]));
}
function open(v, p, clear) {
  const d = createDecipheriv('aes-256-gcm', v.key, Buffer.concat([p.subarray(-4), Buffer.alloc(8)]));
  d.setAAD(p.subarray(0, clear));
  d.setAuthTag(p.subarray(-20, -4));
  return Buffer.concat([d.update(p.subarray(clear, -20)), d.final()]);
}
function sendPacket(v, { pt, ssrc, seq, marker, payload }) {
  const head = Buffer.alloc(12);
  head[0] = 0x80;
  head[1] = pt | (marker ? 0x80 : 0);
  head.writeUInt16BE(seq & 0xffff, 2);
  head.writeUInt32BE(v.ts, 4);
  head.writeUInt32BE(ssrc, 8);
  seal(v, head, payload);
}
function receive(v, p) {
  try {
    if (p.length === 74 && p[0] === 0) {
      v.address = { ip: p.subarray(8, p.indexOf(0, 8)).toString(), port: p.readUInt16BE(72) };
    } else if (p[1] >= 200 && p[1] <= 207) {
      v.rtcp.push(Buffer.concat([p.subarray(0, 8), open(v, p, 8)]));
    } else if ((p[1] & 0x7f) !== 120) {
      take(v, { pt: p[1] & 0x7f, marker: p[1] >> 7, seq: p.readUInt16BE(2), ssrc: p.readUInt32BE(8), payload: open(v, p, 12) });
    }
  } catch (e) { v.errors.push(e.message); }
}

// ---- payloads: H.264 by RFC 6184, VP8 by RFC 7741 ----
const MTU = 700;
const START = Buffer.from([0, 0, 0, 1]);
function units(frame) {
  const at = [];
  for (let i = frame.indexOf(START); i >= 0; i = frame.indexOf(START, i + 4)) at.push(i);
  return at.map((a, i) => frame.subarray(a + 4, at[i + 1] ?? frame.length));
}
const payloads = {
  H264: (frame) => units(frame).flatMap((u) => {
    if (u.length <= MTU) return [u];
    const out = [];
    for (let at = 1; at < u.length; at += MTU - 2) {
      const end = at + MTU - 2 >= u.length;
      out.push(Buffer.concat([Buffer.from([(u[0] & 0xe0) | 28, (u[0] & 31) | (at === 1 ? 0x80 : 0) | (end ? 0x40 : 0)]),
        u.subarray(at, at + MTU - 2)]));
    }
    return out;
  }),
  VP8: (frame) => Array.from({ length: Math.ceil(frame.length / MTU) },
    (_, i) => Buffer.concat([Buffer.from([i ? 0 : 0x10]), frame.subarray(i * MTU, (i + 1) * MTU)])),
};
const join = {
  H264: (parts) => Buffer.concat(parts.flatMap((p) => {
    if ((p[0] & 31) !== 28) return [START, p];
    return p[1] & 0x80 ? [START, Buffer.from([(p[0] & 0xe0) | (p[1] & 31)]), p.subarray(2)] : [p.subarray(2)];
  })),
  VP8: (parts) => Buffer.concat(parts.map((p) => p.subarray(1))),
};
// Packets come in order on loopback.
function take(v, p) {
  const codec = Object.keys(v.types).find((name) => v.types[name][0] === p.pt);
  if (!codec) { v.again = [...(v.again ?? []), p]; return; }
  v.parts = [...(v.parts ?? []), p.payload];
  if (!p.marker) return;
  const frame = join[codec](v.parts);
  v.parts = [];
  v.frames.push({ codec, frame: v.dave.decrypt(v.shownBy, VIDEO, frame) });
}
function show(v, codec, frame) {
  const [pt] = v.types[codec];
  const { ssrc } = v.ready.streams[0];
  const list = payloads[codec](v.dave.encrypt(VIDEO, CODECS[codec], frame));
  v.ts += 3000;
  list.forEach((payload, i) => sendPacket(v, { pt, ssrc, seq: v.seq++, marker: i === list.length - 1, payload }));
}

const h264Frame = () => {
  const unit = (head, n) => Buffer.concat([START, Buffer.from(head), randomBytes(n).map((b) => b | 4)]);
  return Buffer.concat([unit([0x67, 0x42], 12), unit([0x68, 0xce], 3), unit([0x65, 0xb8], 5000)]);
};
const vp8Frame = () => Buffer.concat([Buffer.from([0x10]), randomBytes(4000)]);
const key = `guild:${GUILD}:${VOICE}:${ALICE}`;
const sees = (v) => v.send(15, { any: 100 });
const tells = (v, active = true) => {
  const s = v.ready.streams[0];
  v.send(12, { audio_ssrc: v.ready.ssrc, video_ssrc: s.ssrc, rtx_ssrc: s.rtx_ssrc,
    streams: [{ ...s, active, max_bitrate: 2500000, max_framerate: 30, max_resolution: { type: 'fixed', width: 1280, height: 720 } }] });
};

async function discovery(alice, bob) {
  alice.send(18, { type: 'guild', guild_id: GUILD, channel_id: VOICE });
  check('nobody streams outside a channel', (await alice.event('STREAM_DELETE'))?.reason === 'invalid_channel');
  for (const c of [alice, bob]) {
    c.send(4, { guild_id: GUILD, channel_id: VOICE, self_mute: false, self_deaf: false });
    await c.event('VOICE_SERVER_UPDATE');
  }
  bob.send(20, { stream_key: key });
  check('a stream that is not there', (await bob.event('STREAM_DELETE'))?.reason === 'stream_ended');
  bob.forget();
  alice.send(18, { type: 'guild', guild_id: GUILD, channel_id: VOICE });
  const created = await alice.event('STREAM_CREATE');
  check('its owner is told about the stream', created?.stream_key === key && created.viewer_ids.length === 0, created?.stream_key);
  check('the channel sees it', !!(await bob.event('VOICE_STATE_UPDATE', (d) => d.user_id === ALICE && d.self_stream)));
  const server = await alice.event('STREAM_SERVER_UPDATE', (d) => d.stream_key === key);
  check('and where it is', server?.guild_id === null && server.endpoint === ready.voice);
  await switches({ stream_viewers: 0 });
  bob.send(20, { stream_key: key });
  check('a full stream', (await bob.event('STREAM_DELETE'))?.reason === 'stream_full');
  await switches({ stream_viewers: 50 });
  bob.send(20, { stream_key: key });
  const seen = await bob.event('STREAM_CREATE');
  check('a viewer gets the same server', seen?.rtc_server_id === created.rtc_server_id);
  check('the owner learns of the viewer', !!(await alice.event('STREAM_UPDATE', (d) => d.viewer_ids.includes(BOB))));
  return { created, mine: server, theirs: await bob.event('STREAM_SERVER_UPDATE') };
}

async function video(codec, alice, bob, { created, mine, theirs }) {
  const a = await connect(ALICE, created, mine, alice.session, { encode: true, codecs: [codec] });
  check(`${codec}: the owner gets SSRCs`, a.ready.streams.length === 1 && a.ready.streams[0].ssrc !== a.ready.streams[0].rtx_ssrc);
  check(`${codec}: its codec is taken`, a.described.video_codec === codec, a.described.video_codec);
  tells(a);
  const b = await connect(BOB, created, theirs, bob.session, { offset: 7 });
  b.shownBy = ALICE;
  check(`${codec}: the viewer is told the codec`, b.described.video_codec === codec);
  check(`${codec}: and what is shown`, (await b.want(12))?.streams[0].active && (await b.want(12)).user_id === ALICE);
  check(`${codec}: one group`, !!(await until(() => a.dave.ready && b.dave.ready && a.dave.voicePrivacyCode === b.dave.voicePrivacyCode, 8000)),
    [...a.errors, ...b.errors].join('; '));
  const frame = codec === 'H264' ? h264Frame() : vp8Frame();
  show(a, codec, frame);
  await sleep(200);
  check(`${codec}: who wants nothing gets nothing`, b.frames.length === 0);
  sees(b);
  check(`${codec}: the owner is told what is wanted`, !!(await a.want(15, (d) => d[a.ready.streams[0].ssrc] === 100)));
  for (let i = 0; i < 5; i++) { show(a, codec, frame); await sleep(30); }
  await until(() => b.frames.length === 5);
  check(`${codec}: frames arrive whole and decrypted`, b.frames.length === 5 && b.frames.every((f) => f.codec === codec && f.frame.equals(frame)),
    `${b.frames.length} ${b.errors.join('; ')}`);
  sendPacket(a, { pt: a.types[codec][1], ssrc: a.ready.streams[0].rtx_ssrc, seq: 1, marker: false, payload: Buffer.from([0, 9, 1, 2]) });
  check(`${codec}: retransmissions keep their type`, !!(await until(() => b.again?.[0].pt === b.types[codec][1])));
  const report = Buffer.from([0x80, 201, 0, 1, 0, 0, 0, 0, 0x81, 202, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0x81, 206, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0]);
  for (const at of [4, 12, 24]) report.writeUInt32BE(b.ready.ssrc, at);
  report.writeUInt32BE(a.ready.streams[0].ssrc, 28);
  seal(b, report.subarray(0, 8), report.subarray(8));
  check(`${codec}: a request for a key frame reaches the owner`, !!(await until(() => a.rtcp.find((p) => p[9] === 206 && (p[8] & 31) === 1))));
  const plain = Buffer.concat([Buffer.from([codec === 'H264' ? 0x65 : 0x10]), Buffer.alloc(50, 7)]);
  sendPacket(a, { pt: a.types[codec][0], ssrc: a.ready.streams[0].ssrc, seq: a.seq++, marker: true, payload: plain });
  const streams = async (user) => (await stats()).relay.streams.find((s) => s.user_id === user && s.video)?.video;
  check(`${codec}: a frame in the clear is dropped`, !!(await until(async () => (await streams(ALICE)).plain === 1)) && b.frames.length === 5);
  check(`${codec}: nothing else was refused`, (await streams(ALICE)).refused === 0 && (await streams(ALICE)).key_requests === 1);
  tells(a, false);
  check(`${codec}: the viewer learns that it stops`, !!(await b.want(12, (d) => !d.streams[0].active)));
  return { a, b };
}

async function ends(alice, bob, { a, b }) {
  alice.send(22, { stream_key: key, paused: true });
  check('a pause is told', !!(await bob.event('STREAM_UPDATE', (d) => d.paused)));
  bob.forget();
  bob.send(19, { stream_key: key });
  check('a viewer leaves', (await bob.event('STREAM_DELETE'))?.reason === 'user_requested');
  check('its voice session ends', !!(await until(() => b.closed === 4014)));
  bob.forget();
  bob.send(20, { stream_key: key });
  check('and comes back', !!(await bob.event('STREAM_CREATE')));
  alice.send(4, { guild_id: GUILD, channel_id: null, self_mute: false, self_deaf: false });
  check('the stream ends with the stay of its owner', (await bob.event('STREAM_DELETE'))?.reason === 'stream_ended');
  check('its voice session too', !!(await until(() => a.closed === 4014)));
  check('nothing is left', (await stats()).golive.length === 0);
}

// A bot has no streams, whatever it asks for.
async function botsHaveNone() {
  const c = await signIn(TOKEN);
  c.send(20, { stream_key: key });
  check('op 20 of a bot is an unknown opcode', !!(await until(() => c.closed === 4001)), c.closed);
  check('and is counted', (await stats()).counts[BOT].main_stream_of_a_bot === 1);
}

await main(async () => {
  for (const codec of ['H264', 'VP8']) {
    await api('POST', '/reset');
    const alice = await person(ALICE, 'alice');
    const bob = await person(BOB, 'bob');
    const s = await discovery(alice, bob);
    const { a, b } = await video(codec, alice, bob, s);
    await ends(alice, bob, { a, b });
    for (const v of [a, b]) { check(`${codec}: no error of ${v.user}`, v.errors.length === 0, v.errors.join('; ')); v.leave(); }
    alice.ws.close();
    bob.ws.close();
  }
  await botsHaveNone();
});
