// Control's own commands: members use them, and control answers each in time and to the right eyes. Then control ends, and an
// unmodified discord.js client of the same bot logs in: what control registered is what discord.js reads and can register again,
// and the same uses are interactions with the classes and options that discord.js knows. A bot has one session at a time.
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALICE, BOB, BOT, TEXT, TOKEN, api, check, main, ready, until } from './lib.mjs';

const { ApplicationCommandOptionType: O, ApplicationCommandType: T, Client, Events, GatewayIntentBits: I, MessageFlags } = await import('discord.js');
const bin = (name) => join(process.env.BIN ?? '../../build', name);
const dir = mkdtempSync(join(tmpdir(), 'parley-commands-'));
const children = [];

// A text model that answers everything.
const model = createServer((req, res) => {
  req.resume();
  req.on('end', () => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    res.end(`data: ${JSON.stringify({ choices: [{ delta: { content: 'Paris.' }, finish_reason: null }] })}\n\ndata: [DONE]\n\n`);
  });
});

function run(name, args, env = {}) {
  const p = spawn(bin(name), args, { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'ignore'] });
  children.push(p);
  return p;
}
function stop() {
  for (const p of children) p.kill();
  model.close();
  rmSync(dir, { recursive: true, force: true });
}

const registered = async () => (await api('GET', `/bots/${BOT}/commands`)).global;
async function start() {
  await new Promise((r) => model.listen(0, '127.0.0.1', r));
  writeFileSync(join(dir, 'parley.json'), JSON.stringify({ workers: [{ name: 'outside', kind: 'model' }] }));
  run('mediad', ['--listen', join(dir, 'm.sock'), '--ca', ready.ca, '--threads', '1']);
  run('control', ['--media-sock', join(dir, 'm.sock'), '--state-dir', dir, '--ca', ready.ca, '--config', join(dir, 'parley.json')], {
    PARLEY_DISCORD_API: ready.rest, DISCORD_TOKEN: TOKEN, PARLEY_CONSENT: 'remembered', PARLEY_COMMANDS_A_MINUTE: '60',
    PARLEY_TEXT_URL: `http://127.0.0.1:${model.address().port}/v1` });
  check('control registers its commands', !!(await until(async () => (await registered()).length, 20000)));
}

const text = (name, value) => ({ name, type: O.String, value });
const flag = (name) => ({ name, type: O.Boolean, value: true });
const sub = (name, ...options) => ({ name, type: O.Subcommand, options });

// Each command: who, its name, its options, whether its answer is its user's alone, what it says, and how discord.js reads it.
const uses = [
  [BOB, 'join', [], false, /Which channel/, (i) => i.options.getChannel('channel') === null],
  [BOB, 'leave', [], false, /no channel/],
  [BOB, 'stop', [], false, /no channel/],
  [BOB, 'status', [], true, /./],
  [BOB, 'code', [], true, /no channel/],
  [ALICE, 'say', [text('text', 'hello')], true, /no channel/, (i) => i.options.getString('text') === 'hello'],
  [BOB, 'ask', [text('question', 'the capital of France?')], false, /Paris/, (i) => i.options.getString('question') === 'the capital of France?'],
  [BOB, 'ask', [text('question', 'again'), flag('private')], true, /Paris/, (i) => i.options.getBoolean('private') === true],
  [BOB, 'ask', [text('question', 'said'), flag('voice')], false, /no channel/, (i) => i.options.getBoolean('voice') === true],
  [BOB, 'why', [], true, /nothing that you have said/],
  [BOB, 'remember', [text('fact', 'Bob sails at dawn')], true, /Bob sails at dawn/, (i) => i.options.getString('fact') === 'Bob sails at dawn'],
  [BOB, 'forget', [text('fact', 'dawn')], true, /forgotten/],
  [BOB, 'privacy', [], true, /./],
  [BOB, 'consent', [text('answer', 'remembered')], true, /./],
  [BOB, 'music', [sub('now')], true, /no channel/, (i) => i.options.getSubcommand() === 'now'],
  [ALICE, 'settings', [sub('show')], true, /set nothing/, (i) => i.options.getSubcommand() === 'show'],
  [ALICE, 'settings', [sub('search', text('words', 'silence'))], true, /silence_ms/],
  [ALICE, 'settings', [sub('set', text('name', 'greet'), text('value', 'off'))], true, /greet.*off/, (i) => i.options.getString('value') === 'off'],
  [ALICE, 'settings', [sub('reset', text('name', 'greet'))], true, /greet/],
  [BOB, 'browse', [text('url', 'http://127.0.0.1:1/')], false, /cannot read that page/, (i) => i.options.getString('url', true) === 'http://127.0.0.1:1/'],
  [BOB, 'work', [sub('start', text('task', 'look'))], true, /may act outside/, (i) => i.options.getSubcommand() === 'start'],
  [BOB, 'work', [sub('list')], true, /look/],
  [BOB, 'work', [sub('show', { name: 'number', type: O.Integer, value: 1 })], true, /look/, (i) => i.options.getInteger('number') === 1],
  [BOB, 'work', [sub('cancel', { name: 'number', type: O.Integer, value: 1 })], true, /cancelled/],
];

const arrived = new Map();
const post = async (body) => (await api('POST', '/interactions', { channel_id: TEXT, ...body })).id;
const settled = (id) => until(async () => {
  const r = await api('GET', `/interactions/${id}`);
  return r.answer === 5 ? r.original?.edited_timestamp && r : r.answer && r;
}, 15000);
const label = (name, options) => `/${name}${options[0]?.type === O.Subcommand ? ` ${options[0].name}` : ''}`;

async function use([user, name, options, isPrivate, says]) {
  const r = await settled(await post({ user_id: user, name, options }));
  check(`${label(name, options)} is answered within 3 s`, r?.answered_ms >= 0 && r.answered_ms < 3000, r?.answered_ms);
  check(`${label(name, options)}: its answer is ${isPrivate ? 'its user\'s alone' : 'for everybody'}`, ((r?.original?.flags & MessageFlags.Ephemeral) !== 0) === isPrivate);
  check(`${label(name, options)} says so`, says.test(r?.original?.content), r?.original?.content);
  return r?.original;
}

// The interaction as discord.js sees it.
async function see(body) {
  const id = await post(body);
  return until(() => arrived.get(id));
}
async function read([user, name, options, , , reads]) {
  const seen = await see({ user_id: user, name, options });
  check(`discord.js reads ${label(name, options)}`, !!seen?.isChatInputCommand?.() && seen.commandName === name && (!reads || reads(seen)));
}

async function list(client) {
  const all = await client.application.commands.fetch();
  check('discord.js reads every command', all.size === (await registered()).length && all.size === 20, all.size);
  const named = (n) => all.find((c) => c.name === n);
  check('/settings is for those who manage the server', named('settings').defaultMemberPermissions.bitfield === 32n);
  check('/ask has a required question', named('ask').options[0].required && named('ask').options[0].maxLength === 600);
  check('/work has subcommands', named('work').options.length === 4 && named('work').options.every((o) => o.type === O.Subcommand));
  check('menus are menus', named('Why did you not answer this?').type === T.Message && named('Why no answer?').type === T.User);
  const local = await client.application.commands.fetch({ withLocalizations: true });
  check('every one is in other languages', local.every((c) => (c.descriptionLocalizations ?? c.nameLocalizations)?.de));
  // What discord.js makes of it can be registered again as it is.
  const again = await client.application.commands.set(local.map((c) => c.toJSON()).map(({ id, ...c }) => c));
  check('and can be registered again', again.size === all.size, again.size);
}

async function menus() {
  const { id: written } = await api('POST', `/channels/${TEXT}/messages`, { user_id: BOB, content: 'hello' });
  for (const [name, target] of [['Why did you not answer this?', written], ['Why no answer?', BOB]]) {
    const r = await settled(await post({ user_id: ALICE, name, target_id: target }));
    check(`the menu "${name}" is answered to its user alone`, ((r?.original?.flags & MessageFlags.Ephemeral) !== 0) && r.original.content !== '', r?.original.content);
  }
  return written;
}
async function readMenus(written) {
  const why = await see({ user_id: ALICE, name: 'Why did you not answer this?', target_id: written });
  check('discord.js reads the menu of a message', !!why?.isMessageContextMenuCommand?.() && why.targetMessage.id === written);
  const who = await see({ user_id: ALICE, name: 'Why no answer?', target_id: BOB });
  check('discord.js reads the menu of a user', !!who?.isUserContextMenuCommand?.() && who.targetUser.id === BOB);
}

const focused = (o) => ({ ...o, focused: true });
const typings = [
  ['consent', [focused(text('answer', 'ne'))], ['neither']],
  ['forget', [focused(text('fact', ''))], []],
  ['settings', [sub('set', focused(text('name', 'gree')))], ['greet']],
  ['settings', [sub('set', text('name', 'greet'), focused(text('value', 'o')))], ['on', 'off']],
  ['work', [sub('start', text('task', 'x'), focused(text('worker', '')))], ['outside']],
  ['music', [sub('play', focused(text('query', '')))], []],
];
const typed = (name, options) => ({ user_id: ALICE, type: 4, data: { name, type: 1, options } });
async function typing() {
  for (const [name, options, want] of typings) {
    const r = await settled(await post(typed(name, options)));
    check(`/${name} suggests`, JSON.stringify(r?.callback.data.choices.map((c) => c.value)) === JSON.stringify(want), JSON.stringify(r?.callback.data));
  }
}
async function readTyping() {
  for (const [name, options] of typings) {
    const seen = await see(typed(name, options));
    check(`discord.js reads the typing in /${name}`, !!seen?.isAutocomplete?.() && seen.options.getFocused() !== undefined);
  }
}

async function buttons() {
  const message = await use([ALICE, 'settings', [sub('set', text('name', 'greet'), text('value', 'off'))], true, /greet/]);
  const undo = message?.components?.[0]?.components?.[0];
  check('a change has a button', undo?.custom_id?.startsWith('parley:set_undo.'), undo?.custom_id);
  const press = async (user) => settled(await post({ user_id: user, type: 3, message_id: message.id, data: { custom_id: undo.custom_id, component_type: 2 } }));
  check('of somebody else it is refused', /somebody else/.test((await press(BOB))?.callback.data.content));
  const r = await press(ALICE);
  check('of its user it undoes', /undone/.test(r?.original.content), r?.original.content);
}

main(async () => {
  process.on('exit', stop);
  await start();
  for (const row of uses) await use(row);
  const written = await menus();
  await typing();
  await buttons();
  const gone = Promise.all(children.map((p) => new Promise((r) => p.once('exit', r))));
  for (const p of children.splice(0)) p.kill();
  await gone;
  const client = new Client({ intents: [I.Guilds, I.GuildMessages], rest: { api: ready.rest.replace('/v10', '') } });
  client.on(Events.InteractionCreate, (i) => arrived.set(i.id, i));
  const up = new Promise((r) => client.once(Events.ClientReady, r));
  await client.login(TOKEN);
  await up;
  await list(client);
  for (const row of uses) await read(row);
  await readMenus(written);
  await readTyping();
  await client.destroy();
  stop();
});
