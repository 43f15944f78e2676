// The clients that `make conformance` knows: each logs in to guildd as the bot, joins the channel, and plays a tone without end.
//
//   node peer.mjs dysnomia|oceanic.js|discord.js       the environment has READY, guildd's line
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

const peers = {
  async 'discord.js'() {
    const { Client, GatewayIntentBits: I, Events } = await import('discord.js');
    const V = await import('@discordjs/voice');
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
    // It reads as fast as it can, so the stream keeps time itself.
    const stream = new Readable({ objectMode: true, read() {} });
    let i = 0;
    const clock = setInterval(() => {
      i += 1;
      stream.push(i < most ? frames[i % frames.length] : null);
      if (i >= most) clearInterval(clock);
    }, 20);
    v.play(stream, { format: 'opusPackets', voiceDataTimeout: -1 });
  },
};
process.on('unhandledRejection', (e) => console.error(e?.message ?? e));
process.on('uncaughtException', (e) => console.error(e?.message ?? e));
await peers[process.argv[2]]();
for (;;) await sleep(1000);
