// Public clients, unmodified, against guildd and the programs: dysnomia, oceanic.js, eris, discord.js, @discordjs/voice with and without
// end-to-end encryption, agents-realtime; discord.py from Debian in discord_py.py. One table of peers and checks.
//
//   run by ../run.sh; NAMES…: only these peers
//
// A check that a peer cannot pass leaves the denominator only with the line of the peer's own source that says so (CANNOT).
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { ALICE, BOT, GUILD, TEXT, TOKEN, VOICE, api, check, checkTone, decode, main, peer, ready, sleep, stats, switches, tone, until } from '../lib.mjs';
import { Host, mediadMember } from '../members.mjs';

const require = createRequire(import.meta.url);
const root = new URL('.', import.meta.url).pathname;
const CHECKS = ['login', 'guild', 'command', 'interaction', 'message', 'resume', 'voice', 'code', 'heard', 'hears', 'leave'];
// peer: { check: [file, what the line holds] }
const NO_DAVE_ERIS = ['node_modules/eris/lib/voice/VoiceConnection.js', 'const ENCRYPTION_MODE = "xsalsa20_poly1305";'];
const NO_VOICE_PY = ['/usr/lib/python3/dist-packages/discord/voice_client.py', "'xsalsa20_poly1305_lite',"];
const CANNOT = {
  eris: Object.fromEntries(['voice', 'code', 'heard', 'hears', 'leave'].map((c) => [c, NO_DAVE_ERIS])),
  'discord.py': Object.fromEntries(['voice', 'code', 'heard', 'hears', 'leave'].map((c) => [c, NO_VOICE_PY])),
  '@discordjs/voice, unencrypted': {
    code: ['../node_modules/@discordjs/voice/dist/index.js', 'if (this.protocolVersion === 0 || !this.session?.voicePrivacyCode) {'],
  },
};
const table = {};
function result(name, what, ok, detail = '') {
  (table[name] ??= {})[what] = ok;
  check(`${name}: ${what}`, ok, detail);
}
const cannot = (name, what) => {
  const proof = CANNOT[name]?.[what];
  if (!proof) return false;
  const path = proof[0].startsWith('/') ? proof[0] : join(root, proof[0]);
  return existsSync(path) && readFileSync(path, 'utf8').includes(proof[1]);
};
const counts = async () => (await stats()).counts[BOT] ?? {};
const within = (promise, ms, what) => Promise.race([promise, sleep(ms).then(() => { throw new Error(`${what}: not within ${ms} ms`); })]);
const attempt = async (name, what, f) => {
  if (cannot(name, what)) return;
  try { result(name, what, !!(await within(f(), 15000, what))); } catch (e) { result(name, what, false, e?.message ?? e); }
};
const restAt = new URL(ready.rest);

// ---- adapters: the same few verbs for each library ----

async function dysnomia() {
  const D = require('@projectdysnomia/dysnomia');
  const c = new D.Client(`Bot ${TOKEN}`, {
    gateway: { intents: ['guilds', 'guildMessages', 'guildVoiceStates', 'messageContent'] },
    rest: { https: false, domain: restAt.hostname, port: Number(restAt.port), baseURL: '/api/v10' },
  });
  c.on('error', () => {});
  return {
    login: async () => { c.connect(); await once(c, 'ready'); return c.user.id === BOT; },
    guild: () => c.guilds.get(GUILD)?.channels.get(VOICE)?.name && c.guilds.get(GUILD).memberCount === 3,
    command: () => c.createCommand({ name: 'hello', type: 1, description: 'says hello' }),
    answer: () => c.once('interactionCreate', (i) => i.createMessage('hello from dysnomia')),
    message: () => new Promise((r) => { c.once('messageCreate', (m) => c.createMessage(TEXT, `read: ${m.content}`).then(r)); }),
    join: async () => {
      const v = await c.joinVoiceChannel(VOICE);
      return {
        code: () => v.voicePrivacyCode ?? '',
        play: (frames) => new Promise((r) => { v.once('end', r); v.play(Readable.from(frames), { format: 'opusPackets', voiceDataTimeout: -1 }); }),
        hear: (user) => { const got = []; v.receive('opus').on('data', (d, id) => { if (id === user) got.push(Buffer.from(d)); }); return got; },
        leave: () => c.leaveVoiceChannel(VOICE),
      };
    },
    end: () => c.disconnect({ reconnect: false }),
  };
}

async function oceanic() {
  const { Client } = require('oceanic.js');
  const V = createRequire(require.resolve('oceanic.js'))('@discordjs/voice');
  const c = new Client({ auth: `Bot ${TOKEN}`, rest: { baseURL: ready.rest },
    gateway: { intents: ['GUILDS', 'GUILD_MESSAGES', 'GUILD_VOICE_STATES', 'MESSAGE_CONTENT'] } });
  c.on('error', () => {});
  return {
    login: async () => { c.connect(); await once(c, 'ready'); return c.user.id === BOT; },
    guild: () => c.guilds.get(GUILD)?.channels.get(VOICE)?.name && c.guilds.get(GUILD).memberCount === 3,
    command: () => c.application.createGlobalCommand({ name: 'hello', type: 1, description: 'says hello' }),
    answer: () => c.once('interactionCreate', async (i) => { await i.defer(); await i.editOriginal({ content: 'hello from oceanic' }); }),
    message: () => new Promise((r) => { c.once('messageCreate', (m) => c.rest.channels.createMessage(TEXT, { content: `read: ${m.content}` }).then(r)); }),
    join: async () => {
      const v = c.joinVoiceChannel({ channelID: VOICE, guildID: GUILD, selfDeaf: false, selfMute: false, voiceAdapterCreator: c.guilds.get(GUILD).voiceAdapterCreator });
      await V.entersState(v, V.VoiceConnectionStatus.Ready, 10000);
      return discordjsVoice(V, v);
    },
    end: () => c.disconnect(false),
  };
}

function discordjsVoice(V, v) {
  return {
    code: () => v.voicePrivacyCode ?? '',
    play: async (frames) => {
      const player = V.createAudioPlayer();
      v.subscribe(player);
      player.play(V.createAudioResource(Readable.from(frames, { objectMode: true }), { inputType: V.StreamType.Opus }));
      await V.entersState(player, V.AudioPlayerStatus.Playing, 5000);
      await V.entersState(player, V.AudioPlayerStatus.Idle, 20000);
    },
    hear: (user) => {
      const got = [];
      v.receiver.subscribe(user, { end: { behavior: V.EndBehaviorType.Manual } }).on('data', (f) => got.push(Buffer.from(f.payload ?? f))).on('error', () => {});
      return got;
    },
    leave: () => v.destroy(),
  };
}

async function discordjs() {
  const { Client, Events, GatewayIntentBits: I } = await import('discord.js');
  const V = await import('@discordjs/voice');
  const c = new Client({ intents: [I.Guilds, I.GuildVoiceStates, I.GuildMessages, I.MessageContent], rest: { api: ready.rest.replace('/v10', '') } });
  c.on('error', () => {});
  return {
    login: async () => { const up = once(c, Events.ClientReady); await c.login(TOKEN); await up; return c.user.id === BOT; },
    guild: () => c.channels.cache.get(VOICE)?.name && c.guilds.cache.get(GUILD).memberCount === 3,
    command: () => c.application.commands.create({ name: 'hello', description: 'says hello' }),
    answer: () => c.once(Events.InteractionCreate, async (i) => { await i.deferReply(); await i.editReply('hello from discord.js'); }),
    message: () => new Promise((r) => { c.once(Events.MessageCreate, (m) => m.channel.send(`read: ${m.content}`).then(r)); }),
    join: async () => {
      const v = V.joinVoiceChannel({ guildId: GUILD, channelId: VOICE, selfDeaf: false, adapterCreator: c.guilds.cache.get(GUILD).voiceAdapterCreator });
      await V.entersState(v, V.VoiceConnectionStatus.Ready, 10000);
      return discordjsVoice(V, v);
    },
    end: () => c.destroy(),
  };
}

// eris always speaks HTTPS; an agent that opens plain connections takes TLS away.
async function eris() {
  const Eris = require('eris');
  const https = await import('node:https');
  const net = await import('node:net');
  const agent = new https.Agent();
  agent.createConnection = () => net.connect(Number(restAt.port), restAt.hostname);
  const c = new Eris.Client(`Bot ${TOKEN}`, { intents: ['guilds', 'guildMessages', 'guildVoiceStates', 'messageContent'],
    rest: { agent, domain: restAt.host, baseURL: '/api/v10' } });
  c.on('error', () => {});
  return {
    login: async () => { c.connect(); await once(c, 'ready'); return c.user.id === BOT; },
    guild: () => c.guilds.get(GUILD)?.channels.get(VOICE)?.name && c.guilds.get(GUILD).memberCount === 3,
    command: () => c.createCommand({ name: 'hello', type: 1, description: 'says hello' }),
    answer: () => c.once('interactionCreate', (i) => i.createMessage('hello from eris')),
    message: () => new Promise((r) => { c.once('messageCreate', (m) => c.createMessage(TEXT, `read: ${m.content}`).then(r)); }),
    end: () => c.disconnect({ reconnect: false }),
  };
}

// ---- one bot ----

async function voiceChecks(name, join, host, codes = true) {
  const alice = mediadMember(host, ALICE, VOICE);
  let v;
  await attempt(name, 'voice', async () => { await alice.ready(10000); v = await join(); return v; });
  if (v) {
    await attempt(name, 'code', () => until(() => v.code() && v.code() === alice.code(), 8000));
    if (codes) await until(() => alice.secure?.ready, 5000);
    await sleep(300);
    await attempt(name, 'heard', async () => {
      const ear = alice.ear(v.user ?? BOT);
      await v.play(tone(440, 60));
      await sleep(400);
      ear.stop();
      checkTone(`${name}: the tone that mediad hears`, ear.samples(), 440, 880, ear.rate);
      return ear.samples().length > ear.rate / 2;
    });
    await attempt(name, 'hears', async () => {
      const got = v.hear(ALICE);
      await alice.sing(880, 1200);
      await sleep(300);
      checkTone(`${name}: the tone that it hears`, decode(got), 880, 440);
      return got.length > 40;
    });
    await attempt(name, 'leave', async () => {
      await v.leave();
      return until(async () => !(await stats()).voice.some((s) => s.user_id === (v.user ?? BOT)), 5000);
    });
  }
  await alice.leave();
}

async function bot(name, make, host) {
  await api('POST', '/reset');
  const c = await make();
  let up = false;
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (e) => console.log(`${name}: ${e?.message ?? e}`));
  await attempt(name, 'login', async () => { up = await c.login(); return up; });
  if (up) {
    await attempt(name, 'guild', () => until(() => c.guild(), 3000));
    await attempt(name, 'command', async () => {
      await c.command();
      return until(async () => (await api('GET', `/bots/${BOT}/commands`)).global.some((x) => x.name === 'hello'), 3000);
    });
    await attempt(name, 'interaction', async () => {
      c.answer();
      const { id } = await api('POST', '/interactions', { user_id: ALICE, channel_id: TEXT, name: 'hello' });
      return until(async () => (await api('GET', `/interactions/${id}`)).original?.content?.startsWith('hello from'), 4000);
    });
    await attempt(name, 'message', async () => {
      const sent = c.message();
      await api('POST', `/channels/${TEXT}/messages`, { user_id: ALICE, content: 'good morning' });
      await sent;
      return (await api('GET', `/channels/${TEXT}/messages`)).some((m) => m.content === 'read: good morning');
    });
    await attempt(name, 'resume', async () => {
      await api('POST', `/users/${BOT}/drop`, { which: 'main' });
      await until(async () => (await counts()).main_resumed, 12000);
      const n = await counts();
      return n.main_resumed >= 1 && n.main_identified === 1;
    });
    if (c.join) await voiceChecks(name, c.join, host);
  }
  try { await c.end(); } catch (e) { console.log(`${name}: ${e.message}`); }
  await until(async () => !(await stats()).main.sessions.length, 3000);
}

// ---- @discordjs/voice alone, and in a stage-like channel without encryption ----
async function voiceAlone(name, encrypted, host) {
  await api('POST', '/reset');
  if (!encrypted) await switches({ dave_version: 0, dave_required: 0 });
  const V = await import('@discordjs/voice');
  await voiceChecks(name, async () => {
    const p = peer('502', VOICE, { daveEncryption: encrypted });
    await p.ready(10000);
    return { user: '502', ...discordjsVoice(V, p.conn), leave: () => p.leave() };
  }, host, encrypted);
}

// ---- agents-realtime against offlined ----
async function agents(name) {
  const { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession } = await import('@openai/agents-realtime');
  const offlined = spawn(join(process.env.BIN, 'offlined'), ['--listen', '127.0.0.1:0', '--log', 'warn'], { stdio: ['ignore', 'pipe', 'inherit'] });
  process.on('exit', () => offlined.kill('SIGKILL'));
  const { url } = JSON.parse((await once(offlined.stdout, 'data'))[0]);
  const transport = new OpenAIRealtimeWebSocket({ url: `${url}?model=gpt-realtime`, useInsecureApiKey: true });
  let bytes = 0;
  transport.on('audio', (e) => { bytes += e.data.byteLength; });
  const s = new RealtimeSession(new RealtimeAgent({ name: 'x', instructions: 'be kind' }), { transport, model: 'gpt-realtime' });
  const errors = [];
  s.on('error', (e) => errors.push(JSON.stringify(e.error ?? e).slice(0, 200)));
  const said = [];
  s.on('agent_end', (_, __, text) => said.push(text));
  await attempt(name, 'login', async () => { await s.connect({ apiKey: 'none' }); return true; });
  await attempt(name, 'message', async () => { s.sendMessage('what is two plus two'); return until(() => said.includes('Two plus two is four.'), 10000); });
  await attempt(name, 'hears', () => until(() => bytes > 48000, 5000));
  await attempt(name, 'interaction', async () => {
    s.sendMessage('what can you do');
    await until(() => bytes > 96000, 5000);
    s.interrupt();
    s.sendMessage('what is two plus three');
    return until(() => said.includes('Two plus three is five.'), 10000);
  });
  result(name, 'leave', !errors.length, errors.join('; '));
  s.close();
  offlined.kill('SIGTERM');
}

// ---- discord.py, the Debian package ----
async function discordPy(name) {
  if (!existsSync('/usr/lib/python3/dist-packages/discord/__init__.py')) {
    for (const c of CHECKS) if (!cannot(name, c)) result(name, c, false, 'the Debian package python3-discord is not installed');
    return;
  }
  await api('POST', '/reset');
  const py = execFile('/usr/bin/python3', [join(root, 'discord_py.py')], { env: { ...process.env, READY: JSON.stringify(ready) } });
  let out = '';
  py.stdout.on('data', (d) => { out += d; });
  py.stderr.on('data', (d) => { out += d; });
  const told = (word) => until(() => out.includes(`${word}\n`), 12000);
  await attempt(name, 'login', () => told('login'));
  await attempt(name, 'guild', () => told('guild'));
  await attempt(name, 'command', () => told('command'));
  await attempt(name, 'interaction', async () => {
    const { id } = await api('POST', '/interactions', { user_id: ALICE, channel_id: TEXT, name: 'hello' });
    return until(async () => (await api('GET', `/interactions/${id}`)).original?.content?.startsWith('hello from'), 4000);
  });
  await attempt(name, 'message', async () => {
    await api('POST', `/channels/${TEXT}/messages`, { user_id: ALICE, content: 'good morning' });
    return until(async () => (await api('GET', `/channels/${TEXT}/messages`)).some((m) => m.content === 'read: good morning'), 5000);
  });
  await attempt(name, 'resume', async () => {
    await api('POST', `/users/${BOT}/drop`, { which: 'main' });
    return until(async () => (await counts()).main_resumed && (await counts()).main_identified === 1, 14000);
  });
  py.kill('SIGINT');
  if (Object.values(table[name] ?? {}).includes(false)) console.log(out.slice(-2000));
}

const PEERS = {
  dysnomia: (n, h) => bot(n, dysnomia, h),
  'oceanic.js': (n, h) => bot(n, oceanic, h),
  eris: (n, h) => bot(n, eris, h),
  'discord.js': (n, h) => bot(n, discordjs, h),
  '@discordjs/voice': (n, h) => voiceAlone(n, true, h),
  '@discordjs/voice, unencrypted': (n, h) => voiceAlone(n, false, h),
  'discord.py': (n) => discordPy(n),
  'agents-realtime': (n) => agents(n),
};

await main(async () => {
  const only = process.argv.slice(2);
  const host = await Host.start(ALICE);
  for (const [name, f] of Object.entries(PEERS)) if (!only.length || only.includes(name)) await f(name, host);
  await host.stop();
  let all = 0;
  let passed = 0;
  console.log(`\n${'peer'.padEnd(31)}${CHECKS.map((c) => c.padEnd(12)).join('')}`);
  for (const name of Object.keys(table)) {
    const cells = CHECKS.map((c) => (table[name][c] === undefined ? (cannot(name, c) ? 'cannot' : '-') : table[name][c] ? 'passed' : 'FAILED'));
    console.log(name.padEnd(31) + cells.map((c) => c.padEnd(12)).join(''));
    all += Object.keys(table[name]).length;
    passed += Object.values(table[name]).filter(Boolean).length;
  }
  for (const [name, list] of Object.entries(CANNOT).filter(([n]) => table[n])) {
    const lines = new Set(Object.keys(list).filter((c) => cannot(name, c)).map((c) => `${list[c][0].split('node_modules/').pop()}: ${list[c][1]}`));
    for (const l of lines) console.log(`${name} cannot: ${l}`);
  }
  console.log(`strangers_passed ${all ? (passed / all).toFixed(3) : 0} (${passed} of ${all})`);
}, 300000);
