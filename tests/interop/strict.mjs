// Tests that guildd is as strict as the real servers in cases that no ordinary client reaches: hand-made UDP, main gateway and REST
// messages. The rules are Discord's.
import { createCipheriv } from 'node:crypto';
import { createSocket } from 'node:dgram';
import WebSocket from 'ws';
import { ALICE, BOB, BOT, GUILD, TEXT, TOKEN, VOICE, api, check, main, ready, sleep, stats, switches, until } from './lib.mjs';

const STAGE = '127121515262115999';

// ---- a socket that speaks JSON operations ----
function dial(url) {
  const ws = new WebSocket(url);
  const c = { ws, got: [] };
  ws.on('message', (m, bin) => { if (!bin) c.got.push(JSON.parse(m)); });
  ws.on('error', () => {});
  c.closed = new Promise((r) => ws.on('close', (code) => r(code)));
  c.send = (op, d) => ws.send(JSON.stringify({ op, d }));
  c.want = (fits, ms = 2000) => until(() => c.got.find(typeof fits === 'function' ? fits : (m) => m.op === fits), ms);
  c.event = (t, ms) => c.want((m) => m.t === t, ms);
  c.closes = async (name, code) => {
    const got = await Promise.race([c.closed, sleep(3000).then(() => 'no close')]);
    check(`${name} closes ${code}`, got === code, got);
    ws.terminate();
  };
  return c;
}

// ---- UDP by hand ----
const KEEPALIVE = Buffer.from('1337cafe00000007', 'hex');
function seal(key, nonce, head, body) {
  const n = Buffer.alloc(12);
  n.writeUInt32BE(nonce);
  const c = createCipheriv('aes-256-gcm', key, n);
  c.setAAD(head);
  return Buffer.concat([head, c.update(body), c.final(), c.getAuthTag(), n.subarray(0, 4)]);
}
function rtp(u, nonce, { ssrc = u.ssrc, pt = 0x78, seq = nonce, body = Buffer.from([0x78, 1, 2, 3]) } = {}) {
  const head = Buffer.from([0x80, pt, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt16BE(seq & 0xffff, 2);
  head.writeUInt32BE(nonce * 960, 4);
  head.writeUInt32BE(ssrc, 8);
  return seal(u.key, nonce, head, body);
}
async function discover(u, change = (b) => b) {
  const b = Buffer.alloc(74);
  b.writeUInt16BE(1);
  b.writeUInt16BE(70, 2);
  b.writeUInt32BE(u.ssrc, 4);
  u.udp.send(change(b), ready.udp, '127.0.0.1');
  return until(() => u.in.find((m) => m.length === 74 && m.readUInt16BE() === 2), 300);
}
async function user(id) {
  const l = await api('POST', `/users/${id}/join`, {});
  const u = dial(`wss://${ready.voice}/?v=8`);
  await u.want(8);
  u.send(0, { server_id: GUILD, user_id: id, session_id: l.session_id, token: l.token, max_dave_protocol_version: 1 });
  u.ssrc = (await u.want(2)).d.ssrc;
  u.udp = createSocket('udp4');
  u.in = [];
  u.udp.on('message', (m) => u.in.push(m));
  await new Promise((r) => u.udp.bind(0, '127.0.0.1', r));
  return u;
}
async function up(u) {
  const a = await discover(u);
  const address = a.subarray(8, a.indexOf(0, 8)).toString();
  const port = a.readUInt16BE(72);
  u.send(1, { protocol: 'udp', data: { address, port, mode: 'aead_aes256_gcm_rtpsize' } });
  u.key = Buffer.from((await u.want(4)).d.secret_key);
  return { address, port };
}
const toGuildd = (u, p) => u.udp.send(p, ready.udp, '127.0.0.1');
const rx = async (id) => (await stats()).relay.streams.find((s) => s.user_id === id)?.rx;
const gone = (u) => { u.ws.terminate(); u.udp.close(); };

async function udp() {
  await api('POST', '/reset');
  await switches({ dave_version: 0 });
  const a = await user(ALICE);
  const b = await user(BOB);
  check('discovery with leftovers in it is not answered', !(await discover(a, (m) => { m[40] = 1; return m; })));
  check('nor of another type', !(await discover(a, (m) => { m[1] = 3; return m; })));
  check('nor of an unknown SSRC', !(await discover(a, (m) => { m[7] ^= 0xff; return m; })));
  await switches({ discovery: 0 });
  check('nor while UDP is blocked', !(await discover(a)));
  await switches({ discovery: 1 });
  const at = await up(a);
  check('discovery tells the address', at.address === '127.0.0.1' && at.port === a.udp.address().port);
  await up(b);
  toGuildd(a, KEEPALIVE);
  check('keepalive comes back', !!(await until(() => a.in.find((m) => m.equals(Buffer.from('1337f00d00000007', 'hex'))))));

  a.send(5, { speaking: 1, delay: 0, ssrc: a.ssrc });
  await b.want(5);
  toGuildd(a, rtp(a, 1));
  toGuildd(a, rtp(a, 2));
  check('sound is forwarded', !!(await until(() => b.in.filter((m) => m[1] === 0x78).length === 2)));
  check('with its own SSRC, sequence and time', b.in.at(-1).readUInt32BE(8) === a.ssrc && b.in.at(-1).readUInt16BE(2) === 2 &&
    b.in.at(-1).readUInt32BE(4) === 1920);
  toGuildd(a, rtp(a, 2));
  toGuildd(a, rtp(a, 1));
  check('a nonce that does not rise is refused', !!(await until(async () => (await rx(ALICE)).bad_nonce === 2)));
  toGuildd(a, rtp(a, 3, { pt: 0x6f }));
  check('another payload type too', !!(await until(async () => (await rx(ALICE)).bad_type === 1)));
  const forged = rtp(a, 4);
  forged[20] ^= 1;
  toGuildd(a, forged);
  check('and what does not open', !!(await until(async () => (await rx(ALICE)).bad_auth === 1)));
  toGuildd(b, rtp(a, 5));
  check('and what comes from another address', !!(await until(async () => (await rx(ALICE)).bad_source === 1)));
  toGuildd(a, rtp(a, 6, { ssrc: 1 }));
  check('and an SSRC that nobody has', !!(await until(async () => (await stats()).relay.network.rx.bad_ssrc === 1)));
  const before = b.in.length;
  await api('POST', `/users/${ALICE}/voice`, { mute: true });
  toGuildd(a, rtp(a, 7));
  check('of the muted nothing is forwarded', !!(await until(async () => (await rx(ALICE)).muted === 1)) && b.in.length === before);
  toGuildd(b, rtp(b, 1));
  await b.closes('sound without op 5', 4006);
  check('and others are told that it left', !!(await a.want(13)));
  gone(a);
  b.udp.close();
}

// In an encrypted channel guildd relays no unencrypted audio of any sender, but it relays the three bytes of silence.
async function sealed() {
  await api('POST', '/reset');
  const a = await user(ALICE);
  const b = await user(BOB);
  await up(a);
  await up(b);
  check('op 4 tells version 1', a.got.find((m) => m.op === 4).d.dave_protocol_version === 1);
  a.send(5, { speaking: 1, delay: 0, ssrc: a.ssrc });
  await b.want(5);
  toGuildd(a, rtp(a, 1));
  check('plain sound is dropped', !!(await until(async () => (await rx(ALICE)).plain === 1)));
  toGuildd(a, rtp(a, 2, { body: Buffer.from('f8fffe', 'hex') }));
  const tail = Buffer.from('00112233445566770c0afafa', 'hex');
  toGuildd(a, rtp(a, 3, { body: Buffer.concat([Buffer.from([0x78]), tail]) }));
  check('what ends like a sealed frame is not', !!(await until(async () => (await rx(ALICE)).plain === 2)));
  tail[9] = 12;
  toGuildd(a, rtp(a, 4, { body: Buffer.concat([Buffer.from([0x78]), tail]) }));
  check('silence and sealed frames are forwarded', !!(await until(() => b.in.filter((m) => m[1] === 0x78).length === 2)) &&
    b.in.at(-1).readUInt16BE(2) === 4);
  await switches({ require_sealed: 0 });
  toGuildd(a, rtp(a, 5));
  check('and plain sound too, by switch', !!(await until(() => b.in.filter((m) => m[1] === 0x78).length === 3)));
  check('it is counted in any case', (await stats()).counts[ALICE].dave_plaintext_early === 3);
  gone(a);
  gone(b);
}

// ---- the main gateway by hand ----
const props = { os: 'linux', browser: 'test', device: 'test' };
async function bot(intents = 641) {
  const c = dial(`${ready.gateway}/?v=10&encoding=json`);
  await c.want(10);
  c.send(2, { token: TOKEN, properties: props, intents });
  await c.event('READY');
  return c;
}
const join = (c, channel) => c.send(4, { guild_id: GUILD, channel_id: channel, self_mute: false, self_deaf: false });

async function gateway() {
  await api('POST', '/reset');
  const url = `${ready.gateway}/?v=10&encoding=json`;
  const closes = async (name, code, act, at = url) => {
    const c = dial(at);
    await Promise.race([c.want(10, 500), c.closed]);
    await act(c);
    await c.closes(name, code);
  };
  const identify = (more) => ({ token: TOKEN, properties: props, intents: 641, ...more });
  await closes('an operation before identify', 4003, (c) => join(c, VOICE));
  await closes('an unknown operation', 4001, (c) => c.send(99, {}));
  await closes('what is no JSON', 4002, (c) => c.ws.send('{'));
  await closes('more than 4096 bytes', 4002, (c) => c.send(2, identify({ filler: 'x'.repeat(4096) })));
  await closes('a wrong token', 4004, (c) => c.send(2, identify({ token: 'wrong' })));
  await closes('identifying twice', 4005, async (c) => { c.send(2, identify()); await c.event('READY'); c.send(2, identify()); });
  await closes('a shard that is not there', 4010, (c) => c.send(2, identify({ shard: [1, 2] })));
  await closes('version 9', 4012, () => {}, `${ready.gateway}/?v=9&encoding=json`);
  await closes('an intent that does not exist', 4013, (c) => c.send(2, identify({ intents: 1 << 19 })));
  await api('PATCH', `/bots/${BOT}`, { privileged: 0 });
  await closes('an intent that is not enabled', 4014, (c) => c.send(2, identify({ intents: 33409 })));
  await api('POST', '/reset');
  await closes('121 events in a minute', 4008, async (c) => { for (let i = 0; i < 121; i++) c.send(1, null); });
  await closes('a sequence from the future', 4007, async (c) => {
    const x = await bot();
    const { session_id } = x.got.find((m) => m.t === 'READY').d;
    x.ws.terminate();
    c.send(6, { token: TOKEN, session_id, seq: 99 });
  });
  await switches({ main_heartbeat_ms: 100 });
  await closes('no heartbeat', 4009, () => {});
  await switches({ main_heartbeat_ms: 41250 });
  const c = await bot();
  c.send(6, { token: TOKEN, session_id: 'x', seq: 1 });
  await c.closes('a resume on a running connection', 4005);
  const d = dial(url);
  await d.want(10);
  d.send(6, { token: TOKEN, session_id: 'x', seq: 1 });
  check('a resume of an unknown session gets op 9', (await d.want(9))?.d === false);
  d.ws.terminate();
}

async function op4() {
  await api('POST', '/reset');
  const quiet = async (c, name) => {
    const n = c.got.length;
    await sleep(150);
    check(`${name}: no answer at all`, c.got.length === n, JSON.stringify(c.got.slice(n)));
  };
  const c = await bot();
  await api('PUT', `/channels/${VOICE}/overwrites/${BOT}`, { type: 'member', deny: String(1 << 20) });
  await c.event('CHANNEL_UPDATE');
  join(c, VOICE);
  await quiet(c, 'no permission to connect');
  await api('PUT', `/channels/${VOICE}/overwrites/${BOT}`, { type: 'member' });
  await api('PATCH', `/channels/${VOICE}`, { user_limit: 1 });
  await api('POST', `/users/${ALICE}/join`, {});
  await c.event('VOICE_STATE_UPDATE');
  join(c, VOICE);
  await quiet(c, 'channel full');
  await api('PATCH', `/channels/${VOICE}`, { user_limit: 0 });
  await c.want(() => c.got.filter((m) => m.t === 'CHANNEL_UPDATE').length === 4);
  await switches({ op4_silent: 1 });
  join(c, VOICE);
  await quiet(c, 'silence by switch');
  await switches({ op4_silent: 0 });
  c.got.length = 0;
  join(c, VOICE);
  const server = await c.event('VOICE_SERVER_UPDATE');
  check('joined: state, then server', c.got[0].t === 'VOICE_STATE_UPDATE' && c.got[0].d.user_id === BOT && server.d.endpoint === ready.voice);
  c.got.length = 0;
  join(c, VOICE);
  await c.event('VOICE_STATE_UPDATE');
  check('the own channel again: no new server', !(await c.event('VOICE_SERVER_UPDATE', 150)));
  await switches({ op4_same_server: 1 });
  join(c, VOICE);
  const again = await c.event('VOICE_SERVER_UPDATE');
  check('or a new one, by switch', !!again && again.d.token !== server.d.token);
  c.got.length = 0;
  await api('POST', `/users/${BOT}/new-server`);
  check('a region change is a server event alone', !!(await c.event('VOICE_SERVER_UPDATE')) && c.got.length === 1);
  await api('POST', `/users/${BOT}/no-server`);
  check('a lost server has endpoint null', !!(await c.want((m) => m.t === 'VOICE_SERVER_UPDATE' && m.d.endpoint === null)));
  await api('POST', `/guilds/${GUILD}/channels`, { id: STAGE, type: 'stage', name: 'Stage' });
  c.got.length = 0;
  join(c, STAGE);
  check('on a stage one is suppressed', (await c.event('VOICE_STATE_UPDATE')).d.suppress === true);
  c.got.length = 0;
  await api('POST', `/users/${BOT}/move`, { channel_id: VOICE });
  check('dragged: state and server', (await c.event('VOICE_STATE_UPDATE')).d.channel_id === VOICE && !!(await c.event('VOICE_SERVER_UPDATE')));
  await api('POST', `/users/${BOT}/voice`, { mute: true });
  check('server-muted', !!(await c.want((m) => m.t === 'VOICE_STATE_UPDATE' && m.d.mute === true)));
  const other = await bot();
  await c.closes('the connection that a new identify replaced', 4009);
  check('and the bot left its channel', !(await api('GET', '/world')).guilds[0].voice_states.some((v) => v.user_id === BOT));
  await api('DELETE', `/channels/${STAGE}`);
  check('a removed channel is told', !!(await other.event('CHANNEL_DELETE')));
  other.ws.terminate();
  const blind = await bot(1);
  join(blind, VOICE);
  check('without the intent one is not told the own voice state', !!(await blind.event('VOICE_SERVER_UPDATE')) &&
    !blind.got.some((m) => m.t === 'VOICE_STATE_UPDATE'));
  blind.ws.terminate();
}

async function content() {
  await api('POST', '/reset');
  const c = await bot(641);
  await api('POST', `/channels/${TEXT}/messages`, { user_id: ALICE, content: 'secret' });
  await api('POST', `/channels/${TEXT}/messages`, { user_id: ALICE, content: `<@${BOT}> open` });
  await c.want(() => c.got.filter((m) => m.t === 'MESSAGE_CREATE').length === 2);
  const got = c.got.filter((m) => m.t === 'MESSAGE_CREATE').map((m) => m.d.content);
  check('content needs the intent or a mention', got[0] === '' && got[1] === `<@${BOT}> open`, got.join('|'));
  c.ws.terminate();
}

// ---- REST by hand ----
async function rest() {
  await api('POST', '/reset');
  const call = async (method, path, body, headers = {}) => {
    const r = await fetch(ready.rest + path, { method, body: body && JSON.stringify(body),
      headers: { authorization: `Bot ${TOKEN}`, 'user-agent': 'DiscordBot (https://example.org, 1)', ...headers } });
    const text = await r.text();
    return { status: r.status, headers: r.headers, body: text ? JSON.parse(text) : undefined };
  };
  check('a wrong token is 401', (await call('GET', '/users/@me', undefined, { authorization: 'Bot x' })).status === 401);
  check('a strange user agent is 403', (await call('GET', '/users/@me', undefined, { 'user-agent': 'Python-urllib/3.11' })).body.code === 40333);
  check('an unknown path is 404', (await call('GET', '/nothing')).status === 404);
  check('an unknown channel is 10003', (await call('GET', '/channels/5')).body.code === 10003);
  check('an empty message is 50006', (await call('POST', `/channels/${TEXT}/messages`, { content: '' })).body.code === 50006);
  check('a long message is 50035', (await call('POST', `/channels/${TEXT}/messages`, { content: 'x'.repeat(2001) })).body.code === 50035);
  // In another channel, whose bucket is its own.
  const empty = async (body) => (await call('POST', `/channels/${VOICE}/messages`, body)).body.code;
  check('a message of stickers alone is taken', !(await empty({ sticker_ids: ['1'] })));
  check('no more than three stickers', (await empty({ sticker_ids: ['1', '2', '3', '4'] })) === 50035);
  check('a poll alone is taken', !(await empty({ poll: { question: { text: 'tea?' }, answers: [{ poll_media: { text: 'yes' } }] } })));
  check('a poll without a question is not', (await empty({ poll: { answers: [] } })) === 50035);
  const nonce = { content: 'once', nonce: 'n1', enforce_nonce: true };
  const one = await call('POST', `/channels/${TEXT}/messages`, nonce);
  const two = await call('POST', `/channels/${TEXT}/messages`, nonce);
  check('a nonce makes it one message', one.body.id === two.body.id);
  check('headers count down', two.headers.get('x-ratelimit-limit') === '5' && two.headers.get('x-ratelimit-remaining') === '1');
  await call('POST', `/channels/${TEXT}/messages`, { content: 'x' });
  const over = await call('POST', `/channels/${TEXT}/messages`, { content: 'x' });
  check('a full bucket is 429', over.status === 429 && over.body.retry_after > 0 && !over.body.global &&
    over.headers.get('x-ratelimit-scope') === 'user' && Number(over.headers.get('retry-after')) >= 1);
  const typing = await call('POST', `/channels/${TEXT}/typing`);
  check('204 has no content type', typing.status === 204 && !typing.headers.get('content-type'));
  check('voice state is 10065 outside', (await call('GET', `/guilds/${GUILD}/voice-states/@me`)).body.code === 10065);
  check('another application is refused', (await call('GET', '/applications/5/commands')).status === 403);
  const webhook = (path) => call('PATCH', path, { content: 'x' });
  check('an unknown webhook is 10015', (await webhook(`/webhooks/${BOT}/x/messages/%40original`)).body.code === 10015);
}

await main(async () => {
  await udp();
  await sealed();
  await gateway();
  await op4();
  await content();
  await rest();
});
