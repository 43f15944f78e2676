// The clients that `make conformance` knows: each logs in to guildd as the bot, joins the channel, and plays a tone without end.
//
//   node peer.mjs dysnomia|oceanic.js|discord.js       the environment has GUILDD_READY, the file with guildd's line
//   PLANT=crash|crash_4022|numb|still|stubborn      discord.js alone, made wrong on purpose (planted_test.mjs)
import { createRequire } from 'node:module';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { GUILD, TOKEN, VOICE, ready, sleep, tone } from '../lib.mjs';

const require = createRequire(new URL('../strangers/x.js', import.meta.url));
const frames = tone(440, 50);
// SOUND_MS: the sound has an end.
const most = process.env.SOUND_MS ? Number(process.env.SOUND_MS) / 20 : Infinity;
function* endless() { for (let i = 0; i < most; i++) yield frames[i % frames.length]; }
const restAt = new URL(ready.rest);

function play(V, v) {
  const player = V.createAudioPlayer();
  v.subscribe(player);
  player.on('error', () => {});
  v.on('error', () => {});
  player.play(V.createAudioResource(Readable.from(endless(), { objectMode: true }), { inputType: V.StreamType.Opus }));
}

// Crashes where it should stay away: at a close code, and when the encryption ends.
const crashAt = (...codes) => ({ VoiceWebSocket: { prototype: p } }) => {
  const { emit } = p;
  p.emit = function crash(name, x, ...more) {
    if ((name === 'close' && codes.includes(x.code)) || (name === 'packet' && x.op === 21 && !x.d.protocol_version)) process.exit(1);
    return emit.call(this, name, x, ...more);
  };
};
// What makes a client wrong.
const plants = {
  crash: crashAt(4014, 4017, 4021),
  crash_4022: crashAt(4022),
  numb({ VoiceWebSocket: { prototype: p } }) { p.setHeartbeatInterval = () => {}; }, // sends no heartbeat
  still({ AudioPlayer: { prototype: p } }) { p.play = () => {}; }, // sends no sound
  stubborn({ DAVESession: { prototype: p } }) { p.recoverFromInvalidTransition = () => {}; }, // stays out of the group
};

const peers = {
  async 'discord.js'() {
    const { Client, GatewayIntentBits: I, Events } = await import('discord.js');
    const V = await import('@discordjs/voice');
    plants[process.env.PLANT]?.(V);
    const c = new Client({ intents: [I.Guilds, I.GuildVoiceStates], rest: { api: ready.rest.replace('/v10', '') } });
    c.on('error', () => {});
    const up = once(c, Events.ClientReady);
    await c.login(TOKEN);
    await up;
    play(V, V.joinVoiceChannel({ guildId: GUILD, channelId: VOICE, selfDeaf: false, adapterCreator: c.guilds.cache.get(GUILD).voiceAdapterCreator }));
  },
  async 'oceanic.js'() {
    const { Client } = require('oceanic.js');
    const V = createRequire(require.resolve('oceanic.js'))('@discordjs/voice');
    const c = new Client({ auth: `Bot ${TOKEN}`, rest: { baseURL: ready.rest }, gateway: { intents: ['GUILDS', 'GUILD_VOICE_STATES'] } });
    c.on('error', () => {});
    c.connect();
    await once(c, 'ready');
    play(V, c.joinVoiceChannel({ channelID: VOICE, guildID: GUILD, selfDeaf: false, selfMute: false, voiceAdapterCreator: c.guilds.get(GUILD).voiceAdapterCreator }));
  },
  async dysnomia() {
    const D = require('@projectdysnomia/dysnomia');
    const c = new D.Client(`Bot ${TOKEN}`, { gateway: { intents: ['guilds', 'guildVoiceStates'] },
      rest: { https: false, domain: restAt.hostname, port: Number(restAt.port), baseURL: '/api/v10' } });
    c.on('error', () => {});
    c.connect();
    await once(c, 'ready');
    const v = await c.joinVoiceChannel(VOICE);
    for (const e of ['error', 'warn']) v.on(e, () => {});
    // It reads as fast as it can, so the stream keeps time itself; it is ahead by 200 ms, so that a late timer is no gap.
    const stream = new Readable({ objectMode: true, read() {} });
    const from = Date.now();
    let i = 0;
    const clock = setInterval(() => {
      for (; i < Math.min(most, (Date.now() - from) / 20 + 10); i++) stream.push(frames[i % frames.length]);
      if (i < most) return;
      stream.push(null);
      clearInterval(clock);
    }, 20);
    v.play(stream, { format: 'opusPackets', voiceDataTimeout: -1 });
  },
};
process.on('unhandledRejection', (e) => console.error(e?.message ?? e));
process.on('uncaughtException', (e) => console.error(e?.message ?? e));
await peers[process.argv[2]]();
for (;;) await sleep(1000);
