// Two unmodified @discordjs/voice peers in one channel of guildd exchange audio, in both transport modes, on clean
// and on bad networks; and guildd is as strict as the real servers.
import WebSocket from 'ws';
import { ALICE, BOB, GUILD, MODES, api, check, checkTone, decode, main, peer, ready, secure, sleep, stats, switches, tone, until } from './lib.mjs';

const BAD = ['bad_size', 'bad_version', 'bad_type', 'bad_ssrc', 'bad_source', 'no_key', 'bad_nonce', 'bad_auth', 'bad_ext',
  'bad_padding', 'empty', 'not_speaking'];
const bad = (s) => [s.relay.network, ...s.relay.streams].reduce((n, c) => n + BAD.reduce((m, k) => m + c.rx[k], 0), 0);

async function pair(name, set, inspect = async () => {}) {
  await api('POST', '/reset');
  await switches(set);
  const a = peer(ALICE);
  const b = peer(BOB);
  await Promise.all([a.ready(), b.ready()]);
  check(`${name}: encrypted`, await secure(a, b));
  const heardByA = a.hear(BOB);
  const heardByB = b.hear(ALICE);
  await Promise.all([a.play(tone(440, 75)), b.play(tone(1000, 75))]);
  await sleep(300);
  checkTone(`${name}: alice hears bob`, decode(heardByA), 1000, 440);
  checkTone(`${name}: bob hears alice`, decode(heardByB), 440, 1000);
  const s = await stats();
  check(`${name}: no bad packet`, bad(s) === 0, `bad ${bad(s)}`);
  check(`${name}: nothing in the clear`, s.relay.streams.every((x) => x.rx.plain === 0));
  check(`${name}: no error`, a.errors.length + b.errors.length === 0, [...a.errors, ...b.errors].join('; '));
  await inspect(s, a, b, heardByA);
  await a.leave();
  await b.leave();
}
// Hand-made voice gateway messages, and the close codes that guildd answers with.
function dial(path = '/?v=8') {
  const ws = new WebSocket(`wss://${ready.voice}${path}`);
  const c = { ws, got: [] };
  ws.on('message', (m, bin) => { if (!bin) c.got.push(JSON.parse(m)); });
  ws.on('error', () => {});
  c.closed = new Promise((r) => ws.on('close', (code) => r(code)));
  c.open = new Promise((r) => ws.on('open', r));
  c.send = (op, d) => ws.send(JSON.stringify({ op, d }));
  c.want = (op) => until(() => c.got.find((m) => m.op === op), 2000);
  return c;
}
const identify = (l) => ({ server_id: GUILD, user_id: l.user_id, session_id: l.session_id, token: l.token, max_dave_protocol_version: 1 });
const lease = () => api('POST', `/users/${ALICE}/join`, {});

async function closes(name, code, act, path) {
  const c = dial(path);
  await Promise.race([c.open, c.closed]);
  await act(c);
  const got = await Promise.race([c.closed, sleep(3000).then(() => 'no close')]);
  check(`${name} closes ${code}`, got === code, String(got));
  c.ws.terminate();
}

async function strict() {
  await api('POST', '/reset');
  let l = await lease();
  const c = dial();
  check('hello comes first', (await c.want(8))?.d.v === 8);
  c.send(0, identify(l));
  const op2 = await c.want(2);
  check('ready follows identify', op2?.d.modes.length === 2 && op2.d.port === ready.udp);
  check('ready is numbered', op2?.seq === 1);
  c.send(3, { t: 5, seq_ack: 1 });
  check('heartbeat is acknowledged', (await c.want(6))?.d.t === 5);
  await closes('a second Identify with a used lease', 4006, (x) => x.send(0, identify(l)));
  await closes('a resume of an unknown session', 4006,
    (x) => x.send(7, { server_id: GUILD, session_id: 'x', token: 'y', seq_ack: -1 }));
  c.ws.terminate();
  await closes('an operation before identify', 4003, (x) => x.send(5, { speaking: 1, delay: 0, ssrc: 1 }));
  await closes('an unknown operation', 4001, (x) => x.send(99, {}));
  await closes('what is no JSON', 4002, (x) => x.ws.send('{'));
  await closes('an identify without token', 4002, (x) => x.send(0, { server_id: GUILD, user_id: ALICE, session_id: 's' }));
  await closes('version 3', 4012, () => {}, '/?v=3');
  await closes('no version', 4012, () => {}, '/');
  l = await lease();
  await closes('a wrong token', 4004, (x) => x.send(0, { ...identify(l), token: 'wrong' }));
  await closes('an unknown session', 4006, (x) => x.send(0, { ...identify(l), session_id: 'wrong' }));
  await closes('an unknown server', 4011, (x) => x.send(0, { ...identify(l), server_id: '1' }));
  await closes('identifying twice', 4005, async (x) => { x.send(0, identify(l)); await x.want(2); x.send(0, identify(l)); });
  const upTo = async (x) => { x.send(0, identify(await lease())); return x.want(2); };
  const select = (mode) => ({ protocol: 'udp', data: { address: '127.0.0.1', port: 9, mode } });
  await closes('an unknown mode', 4016, async (x) => { await upTo(x); x.send(1, select('xsalsa20_poly1305')); });
  await closes('another SSRC in op 5', 4006, async (x) => { await upTo(x); x.send(5, { speaking: 1, delay: 0, ssrc: 7 }); });
  await closes('op 5 too often', 4021, async (x) => {
    const { ssrc } = (await upTo(x)).d;
    for (let i = 0; i < 21; i++) x.send(5, { speaking: i & 1, delay: 0, ssrc });
  });
  await switches({ voice_heartbeat_ms: 100, voice_grace_ms: 50 });
  await closes('no heartbeat', 4009, upTo);
  await switches({ voice_heartbeat_ms: 13750, voice_grace_ms: 5000, voice_identify_ms: 100 });
  await closes('no identify', 4009, () => {});
  await switches({ voice_identify_ms: 10000 });
  await closes('no DAVE where it is required', 4017,
    async (x) => x.send(0, { ...identify(await lease()), max_dave_protocol_version: 0 }));
  const described = async (x) => { await upTo(x); x.send(1, select(MODES[0])); return x.want(4); };
  const binary = (op, text = '') => async (x) => { await described(x); x.ws.send(Buffer.concat([Buffer.from([op]), Buffer.from(text)])); };
  await closes('a binary message before identify', 4003, async (x) => { await x.want(8); x.ws.send(Buffer.from([26])); });
  await closes('an unknown binary operation', 4001, binary(99));
  await closes('a key package that is none', 4020, binary(26, 'key package'));
  await closes('a commit that is none', 4020, binary(28, 'commit'));
  await closes('op 23 without a transition', 4002, async (x) => { await described(x); x.send(23, {}); });
}

// A hand-made buffered resume: guildd repeats the missed messages in order, with the same numbers.
async function resume() {
  await api('POST', '/reset');
  const l = await lease();
  const a = dial();
  await a.want(8);
  a.send(0, identify(l));
  await a.want(2);
  a.ws.terminate();
  await a.closed;
  const l2 = await api('POST', `/users/${BOB}/join`, {});
  const b = dial();
  await b.want(8);
  b.send(0, identify(l2));
  await b.want(2);
  const again = dial();
  await again.want(8);
  again.send(7, { server_id: GUILD, session_id: l.session_id, token: l.token, seq_ack: 1 });
  check('resume is answered with op 9', !!(await again.want(9)));
  const op11 = await again.want(11);
  check('the missed message is sent again', op11?.seq === 2 && op11.d.user_ids[0] === BOB, JSON.stringify(op11));
  check('op 9 comes before it', again.got.findIndex((m) => m.op === 9) < again.got.findIndex((m) => m.op === 11));
  again.ws.terminate();
  b.ws.terminate();
}

// Faults that an unmodified peer survives.
async function faults() {
  await api('POST', '/reset');
  const a = peer(ALICE);
  const b = peer(BOB);
  await Promise.all([a.ready(), b.ready()]);
  await secure(a, b);
  const heard = b.hear(ALICE);
  const joins = a.joins;
  await api('POST', '/crash');
  check('after a crash (4015) both resume', !!(await until(async () =>
    Object.values((await stats()).counts).filter((c) => c.voice_resumed === 1).length === 2)));
  await Promise.all([a.ready(), b.ready()]);
  check('without a new lease', a.joins === joins);
  await a.play(tone(440, 60));
  await sleep(200);
  checkTone('and sound goes on', decode(heard), 440, 1000);
  await api('POST', `/users/${ALICE}/drop`, { which: 'voice' });
  check('after a lost connection it resumes', !!(await until(async () => (await stats()).counts[ALICE].voice_resumed === 2)));
  await a.ready();
  await api('POST', `/users/${ALICE}/close`, { which: 'voice', code: 4006 });
  check('after 4006 it asks for a new lease', !!(await until(() => a.joins === joins + 1)));
  await a.ready();
  await api('POST', `/users/${ALICE}/kick`);
  check('after a kick (4014) it is disconnected', !!(await until(() => a.conn.state.status === 'disconnected')));
  await a.leave();
  await b.leave();
}

await main(async () => {
  for (const mode of MODES) {
    await pair(mode, { modes: mode }, async (s) => {
      const streams = s.relay.streams;
      check(`${mode}: silence frames at the end`, streams.every((x) => x.rx.silence >= 4),
        streams.map((x) => x.rx.silence).join(' '));
      check(`${mode}: discovery once each`, streams.every((x) => x.discovery === 1));
    });
    await pair(`${mode} with padding, padding-only packets and reports`,
      { modes: mode, pad_every: 5, rtcp_every: 10 },
      async (s) => check(`${mode}: reports and padding were sent`, s.relay.streams.every((x) => x.rtcp_out > 5 && x.padded > 5)));
  }
  await pair('no header extension', { header_ext: 0 });
  await pair('late and out of order', { delay_ms: 30, jitter_ms: 10 });
  await strict();
  await resume();
  await faults();
});
