// An unmodified discord.js client uses guildd: logs in, registers a command, defers, joins, edits, writes, respects a
// rate limit, resumes after op 7 and after a lost connection. With zlib-stream, or without it (--plain hides the
// zlib-sync package, by which discord.js decides).
import Module from 'node:module';
import * as V from '@discordjs/voice';
import { ALICE, BOT, GUILD, TEXT, TOKEN, VOICE, api, check, main, ready, sleep, stats, switches, until } from './lib.mjs';

const plain = process.argv.includes('--plain');
if (plain) {
  const resolve = Module._resolveFilename;
  Module._resolveFilename = function (name, ...rest) {
    if (name === 'zlib-sync') throw Object.assign(new Error('hidden for this test'), { code: 'MODULE_NOT_FOUND' });
    return resolve.call(this, name, ...rest);
  };
}
const { Client, Events, GatewayIntentBits: I, MessageFlags } = await import('discord.js');

const intents = [I.Guilds, I.GuildVoiceStates, I.GuildMessages, I.MessageContent];
const newClient = (list = intents) => new Client({ intents: list, rest: { api: ready.rest.replace('/v10', '') } });
const counts = async () => (await stats()).counts[BOT] ?? {};
const seen = { replies: 0, rateLimited: 0, resumed: 0, messages: [], voice: [] };

async function login() {
  const client = newClient();
  client.on('error', (e) => check('no client error', false, e.message));
  client.on(Events.ShardResume, () => { seen.resumed += 1; });
  client.on(Events.VoiceStateUpdate, (a, b) => seen.voice.push([b.id, b.channelId]));
  client.rest.on('rateLimited', () => { seen.rateLimited += 1; });
  const up = new Promise((r) => client.once(Events.ClientReady, r));
  await client.login(TOKEN);
  await up;
  check('client is ready', client.user.id === BOT && client.guilds.cache.has(GUILD));
  check('guild came with channels and members', client.channels.cache.has(VOICE) && client.guilds.cache.get(GUILD).memberCount === 3);
  const main = (await stats()).main.sessions[0];
  check(plain ? 'without zlib-stream' : 'with zlib-stream', main.zlib === !plain);
  return client;
}

const row = (component) => ({ type: 1, components: [component] });
const button = (id) => ({ type: 2, style: 2, label: id, custom_id: id });

async function commands(client) {
  await client.application.commands.set([
    { name: 'join', description: 'join voice', options: [{ type: 7, name: 'channel', description: 'where', channel_types: [2] }] },
    { name: 'say', description: 'say a thing', options: [{ type: 3, name: 'what', description: 'the thing', required: true }] },
    { name: 'slow', description: 'nobody answers' },
    { name: 'choose', description: 'a select', options: [{ type: 3, name: 'colour', description: 'one', autocomplete: true }] },
  ], GUILD);
  check('commands are registered', (await api('GET', `/bots/${BOT}/commands`)).guilds[GUILD].length === 4);
  const wrong = await client.application.commands.set([{ name: 'Upper Case', description: 'x' }], GUILD).then(() => 0, (e) => e.code);
  check('a bad name is refused', wrong === 50035, wrong);
  client.on(Events.InteractionCreate, async (i) => {
    if (i.commandName === 'say') {
      await i.reply({ content: i.options.getString('what'), flags: MessageFlags.Ephemeral });
      await i.followUp({ content: 'and more', components: [row(button('x'))] });
      return;
    }
    if (i.isAutocomplete()) {
      await i.respond(['red', 'green'].filter((c) => c.startsWith(i.options.getFocused())).map((c) => ({ name: c, value: c })));
      return;
    }
    if (i.commandName === 'choose') {
      await i.reply({ content: 'which', flags: MessageFlags.Ephemeral, components: [row({ type: 3, custom_id: 'pick',
        options: [{ label: 'one', value: '1' }, { label: 'two', value: '2' }] })] });
      return;
    }
    if (i.isStringSelectMenu()) {
      await i.deferReply({ flags: MessageFlags.Ephemeral });
      await i.editReply({ content: `picked ${i.values[0]}`, files: [{ attachment: Buffer.from('{"a":1}'), name: 'a.json' }] });
      return;
    }
    if (i.isButton()) {
      await i.update('pressed');
      return;
    }
    if (i.commandName !== 'join') return;
    await i.deferReply();
    const conn = V.joinVoiceChannel({ guildId: i.guildId, channelId: i.options.getChannel('channel').id,
      adapterCreator: i.guild.voiceAdapterCreator, selfDeaf: false });
    await V.entersState(conn, V.VoiceConnectionStatus.Ready, 5000);
    await i.editReply('joined');
  });
  const join = await api('POST', '/interactions', { user_id: ALICE, channel_id: TEXT, name: 'join',
    options: [{ name: 'channel', type: 7, value: VOICE }] });
  const done = await until(async () => {
    const r = await api('GET', `/interactions/${join.id}`);
    return r.original?.content === 'joined' && r;
  });
  check('deferred, joined and edited', done?.answer === 5);
  check('in the voice channel', (await stats()).voice.some((s) => s.user_id === BOT && s.channel_id === VOICE && s.described));
  check('its voice state was told', seen.voice.some(([u, c]) => u === BOT && c === VOICE));
  const say = await api('POST', '/interactions', { user_id: ALICE, channel_id: TEXT, name: 'say',
    options: [{ name: 'what', type: 3, value: 'hello' }] });
  const said = await until(async () => {
    const r = await api('GET', `/interactions/${say.id}`);
    return r.followups.length === 1 && r;
  });
  check('ephemeral reply and follow-up', said?.original.content === 'hello' && said.original.flags === 64 && said.followups[0].content === 'and more');
  const press = await api('POST', '/interactions', { user_id: ALICE, channel_id: TEXT, type: 3,
    message_id: said.followups[0].id, data: { custom_id: 'x', component_type: 2 } });
  check('a button edits its message', !!(await until(async () =>
    (await api('GET', `/interactions/${press.id}`)).original?.content === 'pressed')));
  const forged = await api('POST', '/interactions', { user_id: ALICE, channel_id: TEXT, type: 3,
    message_id: said.followups[0].id, data: { custom_id: 'y', component_type: 2 } }).catch(() => ({}));
  check('a component that the message does not have cannot be pressed', !forged.id);
  const choose = await api('POST', '/interactions', { user_id: ALICE, channel_id: TEXT, name: 'choose' });
  const menu = await until(async () => (await api('GET', `/interactions/${choose.id}`)).original);
  check('an ephemeral message has a select', menu?.flags === 64 && menu.components[0].components[0].custom_id === 'pick');
  const pick = await api('POST', '/interactions', { user_id: ALICE, channel_id: TEXT, type: 3,
    message_id: menu.id, data: { custom_id: 'pick', component_type: 3, values: ['2'] } });
  const picked = await until(async () => {
    const r = await api('GET', `/interactions/${pick.id}`);
    return r.original?.content === 'picked 2' && r;
  });
  check('a select is answered with a file', picked?.answer === 5 && picked.original.attachments[0]?.text === '{"a":1}');
  const typed = await api('POST', '/interactions', { user_id: ALICE, channel_id: TEXT, type: 4,
    data: { name: 'choose', type: 1, options: [{ name: 'colour', type: 3, value: 'r', focused: true }] } });
  const suggested = await until(async () => {
    const r = await api('GET', `/interactions/${typed.id}`);
    return r.answer === 8 && r;
  });
  check('typing is answered with suggestions', suggested?.callback.data.choices.length === 1);
  const twice = await fetch(`${ready.rest}/interactions/${say.id}/${say.token}/callback`,
    { method: 'POST', body: '{"type":5}' }).then((r) => r.json());
  check('a second answer is 40060', twice.code === 40060);
  await switches({ callback_ms: 50 });
  const late = await api('POST', '/interactions', { user_id: ALICE, channel_id: TEXT, name: 'slow' });
  await sleep(80);
  const answer = await fetch(`${ready.rest}/interactions/${late.id}/${late.token}/callback`,
    { method: 'POST', body: '{"type":5}' }).then((r) => r.json());
  check('a late answer is 10062', answer.code === 10062);
  await switches({ callback_ms: 3000 });
}

async function messages(client) {
  client.on(Events.MessageCreate, async (m) => {
    seen.messages.push([m.author.id, m.content]);
    if (m.author.bot) return;
    await m.channel.sendTyping();
    await m.channel.send(`pong ${m.content}`);
    seen.replies += 1;
  });
  await api('POST', '/faults', { method: 'POST', contains: '/messages', status: 429, retry_after: 0.3, scope: 'user' });
  await api('POST', `/channels/${TEXT}/messages`, { user_id: ALICE, content: 'hello' });
  check('message answered after a 429', !!(await until(() => seen.replies === 1)));
  check('the rate limit was noticed', (await api('GET', '/requests')).filter((r) => r.path.endsWith('/messages')).map((r) => r.status).join() === '429,200');
  check('content and own message arrived', seen.messages.some(([u, c]) => u === ALICE && c === 'hello') &&
    !!(await until(() => seen.messages.some(([u, c]) => u === BOT && c === 'pong hello'))));
  // More requests than a bucket holds: the client waits by itself, and guildd refuses none.
  const channel = client.channels.cache.get(TEXT);
  const before = (await counts()).rest_429 ?? 0;
  await Promise.all([1, 2, 3, 4, 5, 6].map((n) => channel.send(`n${n}`)));
  check('a full bucket is waited for', ((await counts()).rest_429 ?? 0) === before);
}

async function resumes() {
  const voice = (await counts()).voice_op_0;
  await api('POST', `/users/${BOT}/send`, { which: 'main', op: 7 });
  check('op 7 is followed by a resume', !!(await until(async () => (await counts()).main_resumed === 1, 8000)));
  await api('POST', `/users/${BOT}/drop`, { which: 'main' });
  await api('POST', `/channels/${TEXT}/messages`, { user_id: ALICE, content: 'missed' });
  check('a lost connection is followed by a resume', !!(await until(async () => (await counts()).main_resumed === 2, 15000)));
  check('what was missed is replayed', !!(await until(() => seen.messages.some(([, c]) => c === 'missed'))));
  await until(() => seen.resumed === 2);
  check('the client saw both', seen.resumed === 2);
  check('voice was not touched by it', (await counts()).voice_op_0 === voice &&
    (await stats()).voice.some((s) => s.user_id === BOT && s.connected));
  await api('POST', `/users/${BOT}/invalidate`);
  await api('POST', `/users/${BOT}/send`, { which: 'main', op: 7 });
  check('an invalid session is identified anew', !!(await until(async () => (await counts()).main_identified === 2, 15000)));
  check('and lost its voice', (await counts()).voice_close_4014 === 1);
}

async function refused() {
  const code = (p) => p.then(() => 0, (e) => e.code ?? e.message);
  const bad = newClient();
  check('a wrong token is refused', (await code(bad.login('wrong.token.here'))) === 'TokenInvalid');
  await bad.destroy();
  await api('PATCH', `/bots/${BOT}`, { privileged: 0 });
  const none = newClient();
  check('an intent that is not enabled closes 4014', /disallowed intents/i.test(String(await code(none.login(TOKEN)))));
  await none.destroy();
}

await main(async () => {
  const client = await login();
  await commands(client);
  await messages(client);
  await resumes();
  await client.destroy();
  check('after goodbye the session is gone', !!(await until(async () => (await stats()).main.sessions.length === 0)));
  await refused();
}, 120000);
