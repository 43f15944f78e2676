// Text chat with people and a moderator who use unmodified clients: alice writes with discord.js, bob moderates with oceanic.js. What the
// bot does is judged by what arrives at them alone; the text model is a script in this process.
//
//   run by ../run.sh, whose guildd is not used: the stage has its own
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Client, Events, GatewayIntentBits as I, Partials } from 'discord.js';
import { ALICE, BOB, BOT, check, main, sleep, until } from '../lib.mjs';
import { Stage } from '../bench/text_stage.mjs';

const require = createRequire(import.meta.url);
const { Client: Oceanic } = require('oceanic.js');
const STOP = '\u{1f6d1}';

const asked = [];
async function answer(last) {
  asked.push(last);
  if (/slowly/.test(last)) await sleep(3000);
  if (/code/.test(last)) return ['Here it is:\n```c\n', ...Array(500).fill('int x;\n'), '```\nThat was all.'];
  if (/everyone/.test(last)) return ['@everyone and <@501>, listen'];
  return [`You said: ${last.split('\n').at(-1).slice(-60)}`];
}

const stage = new Stage({ PARLEY_TEXT_COALESCE_S: '1', PARLEY_TEXT_REPLY_SHARE: '100', PARLEY_TEXT_REPLY_SHORT: '100' });

async function alice() {
  await stage.api('POST', '/bots', { id: ALICE, name: 'alice', token: 'alice.s.token', person: true });
  const c = new Client({ intents: [I.Guilds, I.GuildMessages, I.GuildMessageReactions, I.GuildMessageTyping, I.MessageContent, I.DirectMessages],
    partials: [Partials.Channel, Partials.Message, Partials.Reaction], rest: { api: stage.ready.rest.replace('/v10', '') } });
  c.on('error', (e) => check('discord.js: no error', false, e.message));
  const up = once(c, Events.ClientReady);
  await c.login('alice.s.token');
  await up;
  const a = { c, user: c.user, got: [], typing: 0, reactions: [], edits: 0, channel: await c.channels.fetch(stage.channels[0]) };
  c.on(Events.MessageCreate, (m) => { if (m.author.id === BOT) a.got.push(m); });
  c.on(Events.MessageUpdate, (_, m) => { if (m.author?.id === BOT) a.edits += 1; });
  c.on(Events.TypingStart, (t) => { if (t.user.id === BOT && t.channel.id === a.channel.id) a.typing += 1; });
  c.on(Events.MessageReactionAdd, (r, u) => { if (u.id === BOT) a.reactions.push([r.message.id, r.emoji.name]); });
  // The bot's answer to this message.
  a.answer = (m, ms = 10000) => until(() => a.got.find((x) => x.reference?.messageId === m.id), ms);
  return a;
}

async function bob() {
  await stage.api('POST', '/bots', { id: BOB, name: 'bob', token: 'bob.s.token', person: true });
  const c = new Oceanic({ auth: 'Bot bob.s.token', rest: { baseURL: stage.ready.rest }, gateway: { intents: ['GUILDS', 'GUILD_MESSAGES', 'MESSAGE_CONTENT'] } });
  c.on('error', () => {});
  c.connect();
  await once(c, 'ready');
  const b = { c, got: [] };
  c.on('messageCreate', (m) => { if (m.author.id === BOT) b.got.push(m); });
  return b;
}

async function conversation(a, b) {
  check('alice is a person for her client', a.user.bot === false);
  let m = await a.channel.send(`<@${BOT}> hello there`);
  let r = await a.answer(m);
  check('a mention written with discord.js is answered by a reply', r?.content.includes('hello there'), r?.content);
  check('she sees the bot typing', a.typing > 0, a.typing);
  check('the moderator sees the answer too', await until(() => b.got.some((x) => x.id === r?.id), 3000));
  m = await r.reply('and what else');
  check('so is a reply to its message', (await a.answer(m))?.content.includes('what else'));
  m = await a.channel.send('parley, do you know my name');
  check('and its name alone', !!(await a.answer(m)));
  m = await a.channel.send(`<@${BOT}> shout to everyone`);
  r = await a.answer(m);
  check('nobody is notified by what a model writes', r && !r.mentions.everyone && r.mentions.users.size === 0, JSON.stringify(r?.mentions));
  m = await a.channel.send(`<@${BOT}> show me code`);
  await a.answer(m);
  await until(() => a.got.at(-1).content.endsWith('That was all.'), 10000);
  const parts = a.got.slice(a.got.findIndex((x) => x.reference?.messageId === m.id));
  check('a long answer arrives in order, each part a whole code block', parts.length > 1 && parts.every((x) => (x.content.match(/```/g) ?? []).length === 2), parts.length);
}

async function changes(a) {
  let m = await a.channel.send(`<@${BOT}> answer slowly about apples`);
  await until(() => asked.some((x) => x.includes('about apples')), 6000);
  await m.edit(`<@${BOT}> answer about pears`);
  const r = await a.answer(m);
  check('an edit is answered as it is now', r?.content.includes('pears'), r?.content);
  m = await a.channel.send(`<@${BOT}> answer slowly about plums`);
  await until(() => asked.some((x) => x.includes('plums')), 6000);
  await m.react(STOP);
  check('her stop sign cancels', await until(() => stage.reasons.get(m.id)?.includes('cancelled'), 5000), stage.reasons.get(m.id));
  check('and a message says so', (await a.answer(m))?.content === 'I stopped.');
  m = await a.channel.send(`<@${BOT}> answer slowly about figs`);
  await until(() => asked.some((x) => x.includes('figs')), 6000);
  await a.channel.send('never mind');
  check('words cancel', await until(() => stage.reasons.get(m.id)?.includes('cancelled'), 5000), stage.reasons.get(m.id));
}

async function threads(a, b) {
  const guild = a.channel.guild;
  const t = await a.channel.threads.create({ name: 'films' });
  check('alice starts a thread', t.isThread() && t.parentId === a.channel.id, t.type);
  let m = await t.send(`<@${BOT}> which film`);
  let r = await a.answer(m);
  check('a mention in a thread is answered there', r?.channelId === t.id && r.content.includes('which film'), r?.channelId);
  check('the moderator sees that too', await until(() => b.got.some((x) => x.id === r?.id), 3000));
  await t.setArchived(true);
  m = await t.send('parley, and now');
  check('so is its name in one that was archived, and is open again', (await a.answer(m))?.channelId === t.id && !(await t.fetch()).archived);
  const start = await a.channel.send('a story about a ship');
  const story = await start.startThread({ name: 'the ship' });
  m = await story.send(`<@${BOT}> which ship`);
  check('and a mention in a thread of a message', story.id === start.id && (await a.answer(m))?.channelId === story.id);
  check('who has joined is told', (await story.members.fetch()).has(ALICE));
  const forum = await guild.channels.fetch((await stage.api('POST', `/guilds/${guild.id}/channels`, { type: 'forum', name: 'questions' })).id);
  const post = await forum.threads.create({ name: 'Trains of the north', message: { content: `<@${BOT}> which one` } });
  r = await until(() => a.got.find((x) => x.channelId === post.id), 10000);
  check('a post of a forum is answered in its thread', !!r, r?.channelId);
  check('with its title known', asked.some((x) => x.includes('Trains of the north')), asked.at(-1));
  const role = (await stage.api('POST', `/guilds/${guild.id}/roles`, { name: 'helpers', permissions: '0' })).id;
  await until(() => guild.roles.cache.has(role), 5000);
  m = await a.channel.send(`@everyone <@&${role}> a party`);
  check('a mention of everyone and of a role is told as such', m.mentions.everyone && m.mentions.roles.has(role));
  const managed = (await stage.api('POST', `/guilds/${guild.id}/roles`, { name: 'parley', permissions: '0', bot_id: BOT })).id;
  await until(() => guild.roles.cache.has(managed), 5000);
  await stage.api('PATCH', `/guilds/${guild.id}/members/${BOT}`, { role_ids: [role, managed] });
  const own = await a.channel.send(`<@&${managed}> who can help`);
  check('a mention of the role that Discord made for the bot is answered', !!(await a.answer(own)));
  check('one of everyone is not', !a.got.some((x) => x.reference?.messageId === m.id));
  await t.delete();
  check('a thread is gone', await t.fetch().then(() => false, (e) => e.code === 10003));
}

async function moderation(a, b) {
  const channel = stage.channels[0];
  let m = await a.channel.send(`<@${BOT}> answer slowly about rules`);
  await until(() => asked.some((x) => x.includes('about rules')), 6000);
  const refused = await b.c.rest.channels.deleteMessage(channel, m.id).then(() => 0, (e) => e.code);
  check('a member may not delete what others wrote', refused === 50013, refused);
  const world = await stage.api('GET', '/world');
  const guild = world.guilds.find((g) => g.channels.some((c) => c.id === channel)).id;
  const role = (await stage.api('POST', `/guilds/${guild}/roles`, { name: 'moderators', permissions: String(1 << 13) })).id;
  await stage.api('PATCH', `/guilds/${guild}/members/${BOB}`, { role_ids: [role] });
  await b.c.rest.channels.deleteMessage(channel, m.id);
  check('a message that a moderator deletes is not answered', await until(() => stage.reasons.get(m.id)?.includes('deleted'), 5000), stage.reasons.get(m.id));
  await sleep(3500);
  check('also not late', !(await a.answer(m, 500)));
  const two = [];
  for (const what of ['one', 'two']) two.push(await a.channel.send(`<@${BOT}> answer slowly about ${what}`));
  await until(() => asked.some((x) => x.includes('about two')), 6000);
  await b.c.rest.channels.deleteMessages(channel, two.map((x) => x.id));
  check('nor are messages that are deleted together', await until(() => two.every((x) => stage.reasons.get(x.id)?.includes('deleted')), 5000), two.map((x) => stage.reasons.get(x.id)).join());
  m = await a.channel.send(`<@${BOT}> are you still there`);
  check('and the next one is', !!(await a.answer(m)));
  // The bot may no longer write here.
  await stage.api('PUT', `/channels/${channel}/overwrites/${BOT}`, { type: 'member', allow: '0', deny: String(1 << 11) });
  m = await a.channel.send(`<@${BOT}> may you write`);
  check('where the bot may not write, the message ends with that reason', await until(() => stage.reasons.get(m.id)?.includes('no_permission'), 8000), stage.reasons.get(m.id));
}

async function connections(a) {
  const channel = await a.c.channels.fetch(stage.channels[1]);
  const m = await channel.send(`<@${BOT}> answer slowly about trains`);
  await until(() => asked.some((x) => x.includes('trains')), 6000);
  await stage.api('POST', `/users/${BOT}/drop`, { which: 'main' });
  check('an answer outlives the connection of the bot', !!(await a.answer(m)));
  const before = a.got.length;
  await stage.api('POST', `/users/${ALICE}/drop`, { which: 'main' });
  await once(a.c, Events.ShardResume);
  const n = await channel.send(`<@${BOT}> and the buses`);
  check('and that of alice', !!(await a.answer(n)));
  await sleep(1500);
  check('nothing is answered twice', a.got.length === before + 1, a.got.length - before);
}

await main(async () => {
  try {
    await stage.open(2, answer);
    const a = await alice();
    const b = await bob();
    await conversation(a, b);
    await changes(a);
    await threads(a, b);
    await moderation(a, b);
    await connections(a);
    b.c.disconnect(false);
    await a.c.destroy();
  } finally {
    stage.close();
  }
}, 150000);
