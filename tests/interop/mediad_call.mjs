// Shared by the scripts that drive mediad over its socket as control does: a call with an unmodified peer in it, and speech.
import { ALICE, BOT, GUILD, VOICE, api, check, peer, stats, switches, until } from './lib.mjs';
import { Media, PHASE } from './media.mjs';

export const RATE = 24000;

export function sine(hz, seconds) {
  const pcm = Buffer.alloc(RATE * seconds * 2);
  for (let i = 0; i < RATE * seconds; i++) pcm.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * hz * i) / RATE)), i * 2);
  return pcm;
}
// Sends a playback under mediad's credit; ends when mediad reports it as drained.
export async function say(m, playback, pcm) {
  let credit = 0;
  let sent = 0;
  let seq = 0;
  const samples = pcm.length / 2;
  const pump = () => {
    while (sent < samples) {
      const n = Math.min(480, samples - sent);
      if (sent + n > credit) return;
      m.send('SAY', { call: 1, gen: m.gen, playback, seq: seq++, pcm: pcm.subarray(sent * 2, (sent + n) * 2) });
      sent += n;
      if (sent === samples) m.send('SAY_END', { call: 1, gen: m.gen, playback });
    }
  };
  m.on('SAY_CREDIT', (c) => { if (c.playback === playback && c.samples > credit) { credit = c.samples; pump(); } });
  m.send('SAY_OPEN', { call: 1, gen: m.gen, playback, rate: RATE, gain: 1000 });
  const started = await m.want('SAY_STARTED', (x) => x.playback === playback);
  const drained = await m.want('SAY_DRAINED', (x) => x.playback === playback, 15000);
  return { started, drained, samples };
}
// Sends a lease whenever mediad requests one, as control does.
function leases(m) {
  m.gen = 0;
  m.leases = 0;
  const give = async (s) => {
    if (!s.wants_credentials) return;
    const l = await api('POST', `/users/${BOT}/join`, { channel_id: VOICE });
    m.gen = s.gen + 1;
    m.leases += 1;
    m.send('CALL_CREDENTIALS', { call: 1, gen: m.gen, session: l.session_id, token: l.token, endpoint: l.endpoint, channel: BigInt(VOICE) });
  };
  m.on('CALL_STATE', (s) => give(s).catch((e) => check('a lease', false, e.message)));
}

// A call of mediad's with the peer alice, whose audio the options of guildd (`set`) may harm.
export async function call(sock, name, set, epoch) {
  await api('POST', '/reset');
  await switches(set);
  const m = new Media(sock, BOT, epoch);
  await m.want('SYNCED');
  leases(m);
  const b = peer(ALICE);
  m.send('CALL_OPEN', { call: 1, gen: 0, guild: BigInt(GUILD), channel: BigInt(VOICE), user: BigInt(BOT), bitrate: 64000, mute: false,
    deaf: false, stage: false, consent: true });
  await b.ready();
  const up = await m.want('CALL_STATE', (s) => s.phase === PHASE.UP);
  check(`${name}: up`, set.modes === undefined || up.mode === set.modes, up.mode);
  await m.want('MEMBER', (x) => String(x.user) === ALICE && x.present);
  check(`${name}: encrypted`, !!(await until(() => b.code())));
  const over = async () => {
    m.send('CALL_CLOSE', { call: 1, gen: m.gen });
    await m.want('CALL_STATE', (s) => s.phase === PHASE.CLOSED);
    check('mediad left', !!(await until(async () => !(await stats()).voice.some((s) => s.user_id === BOT && s.connected))));
    m.close();
    await b.leave();
  };
  return { m, b, over };
}
