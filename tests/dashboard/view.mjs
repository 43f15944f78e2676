// Drives the dashboard in headless Chromium against a live conversation: sign-in by a link, the room, a turn while it is answered,
// a turn that is opened, all turns, every view, a change of the settings, hostile texts, orders, the keyboard, sign-out. Each is examined by
// axe-core, light and dark, and the API's document by a validator of OpenAPI. SHOTS=FOLDER also takes pictures,
// ROWS=FILE gets rows for the benches. The browser is spoken
// to over a pipe.
//
//   view.mjs LINK GO DISCORD     GO: a file that is made when the caller shall ask, GO.music when music shall be asked for, GO.alone when
//   the caller shall go;
//   DISCORD: where guildd's control API takes a person's answer at Discord's page
import { writeFileSync } from 'node:fs';

import { Validator } from '@seriousme/openapi-schema-validator';

import { Browser, row, sleep } from './browser.mjs';
import { misfits } from './shapes.mjs';

const [link, go, discord] = process.argv.slice(2);
let passed = 0, failed = 0;

function is(what, got, wanted) {
  if (JSON.stringify(got) === JSON.stringify(wanted)) {
    passed++;
    console.log(`ok      ${what}`);
  } else {
    failed++;
    console.log(`FAILED  ${what}: ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`);
  }
}

const text = (id) => `document.getElementById('${id}').textContent`;
// An answer that is begun before its speaker is done may leave a turn of its own, which is not this one.
const answered = "[...document.querySelectorAll('#turns button')].find((x) => x.querySelector('.reason.answered') && /what can/.test(x.textContent))";
const hidden = (id) => `document.getElementById('${id}').hidden`;

async function signIn(b) {
  await b.go(link.replace(/#.*/, ''));
  is('without a session there is a form', await b.until(`!${hidden('sign-in')}`), true);
  is('and nothing else', await b.eval(hidden('board')), true);
  is('Discord is the first way in, and has the focus', await b.until("document.activeElement.id === 'discord'"), true);
  await b.key('Tab');
  is('the next is the code', await b.eval('document.activeElement.id'), 'secret');
  is('axe-core finds nothing in the form', await b.violations(), []);
  await b.picture('sign-in', 1280, 600, false);
  await b.picture('sign-in-dark', 1280, 600, true);
  await b.picture('sign-in-phone', 390, 800, true);
  b.troubles.length = 0; // the 401 of a page that asks who it is
  await b.go('about:blank');
  await b.go(link);
  is('a link signs in', await b.until(`${text('who')} === 'signed in as admin'`), true);
  is('the code is gone from the address', await b.eval('location.hash + location.search'), '');
  is('no script reads the cookie', await b.eval('document.cookie'), '');
  is('the page is live', await b.until(`${text('link')} === 'live'`), true);
}

async function checkApi(b) {
  const document = await b.eval("fetch('/api/openapi.json').then((r) => r.json())");
  const { valid, errors } = await new Validator().validate(document);

  is('the description of the API is valid OpenAPI 3.1', [valid, errors ?? null, document.openapi], [true, null, '3.1.0']);
  const lists = Object.entries(document.paths).filter(([path, item]) => item.get && path.startsWith('/api/')
    && !path.endsWith('events') && !path.startsWith('/api/auth/discord') && !path.includes('{')).map(([path]) => path);
  // One after the other: a session reads a few at a time.
  const answers = await b.eval(`(async () => {
    const all = [], read = async (path, url) => { const r = await fetch(url); all.push([path, r.status, await r.json().catch(() => null)]); return all.at(-1)[2]; };
    for (const path of ${JSON.stringify(lists)}) await read(path, path);
    const { turns: [turn] } = await read('/api/turns', '/api/turns?timeline=1'), { sessions: [session] } = await read('/api/voice/history/sessions', '/api/voice/history/sessions');
    await read('/api/turns/{id}', '/api/turns/' + turn.id);
    await read('/api/voice/history/sessions/{session}/events', '/api/voice/history/sessions/' + session.id + '/events');
    await read('/api/guilds/{guild}/channels', '/api/guilds/' + turn.guild + '/channels');
    await read('/api/automations', '/api/automations?guildId=' + turn.guild);
    await read('/api/automations/runs', '/api/automations/runs?automationId=1&guildId=' + turn.guild);
    return all;
  })()`);

  is('each of its lists answers', answers.filter(([path, status]) => status !== 200 && status !== 501 && !(status === 400 && /search|fact-profile|snapshot|automations/.test(path)))
    .map(([path, status]) => [path, status]), []);
  is('and in the shape that is described', answers.filter(([, status]) => status === 200).flatMap(([path, , body]) =>
    misfits(document.paths[path].get.responses['2XX'].content['application/json'].schema, body, document.components.schemas, path)).slice(0, 12), []);
  b.troubles.length = 0; // the 400 of those that need a query
  is('the state of the calls comes at once and every 3 s', await b.eval(`new Promise((done) => {
    const s = new EventSource('/api/voice/events'), times = [];
    setTimeout(() => { s.close(); done(times.length >= 2 && times[1] - times[0] > 2500); }, 4500);
    s.addEventListener('voice_state', (m) => { if (JSON.parse(m.data).activeCount === 1) times.push(performance.now()); });
  })`), true);
  is('so do the last actions', await b.eval(`new Promise((done) => {
    const s = new EventSource('/api/activity/events');
    setTimeout(() => { s.close(); done(0); }, 5000);
    s.addEventListener('activity_snapshot', (m) => { s.close(); done(JSON.parse(m.data).actions.some((a) => a.kind === 'llm_tool_call')); });
  })`), true);
}

// What the first view takes: bytes that are sent for it, and the time until the rooms are there to choose, without a cache.
async function measurePage(b) {
  const times = [];
  let bytes = 0;

  await b.send('Network.enable');
  await b.send('Network.setCacheDisabled', { cacheDisabled: true });
  const { identifier } = await b.send('Page.addScriptToEvaluateOnNewDocument', { source: `new MutationObserver((_, o) => {
    if (document.querySelector('#rooms button')) { window.readyAt = performance.now(); o.disconnect(); }
  }).observe(document, { childList: true, subtree: true });` });
  for (let i = 0; i < 9; i++) {
    await b.go('about:blank');
    await b.until("location.href === 'about:blank'");
    await b.go(link.replace(/#.*/, ''));
    if (!await b.until('window.readyAt > 0')) break;
    times.push(await b.eval('window.readyAt'));
    bytes = await b.eval(`[...performance.getEntriesByType('resource'), ...performance.getEntriesByType('navigation')]
      .reduce((n, e) => n + e.transferSize, 0)`);
  }
  await b.send('Page.removeScriptToEvaluateOnNewDocument', { identifier });
  await b.send('Network.setCacheDisabled', { cacheDisabled: false });
  times.sort((x, y) => x - y);
  is('the first view is small', bytes > 0 && bytes <= 200000, true);
  is('and is there each time', times.length, 9);
  is('no page that was left holds a connection', times.every((ms) => ms < 20000), true);
  row('page_bytes', bytes, 'B');
  row('page_ready_ms', Math.round(times[4]), 'ms', `, "longest": ${Math.round(times.at(-1))}`);
}

async function seeTurn(b) {
  is('the room is shown', await b.until("document.querySelectorAll('#rooms button').length === 1"), true);
  writeFileSync(go, '');
  is('Alice is heard', await b.until(`${text('people')}.includes('Alice heard')`, 20000), true);
  is('and her level shown while she speaks', await b.until("document.querySelector('#people li.speaks .name')?.textContent === 'Alice'", 30000), true);
  is('her turn is shown while it is answered', await b.until(`${text('now')}.includes('The bot answers.')`, 40000), true);
  is('and she has the floor', await b.until(`/floorAlice/.test(${text('doing')}) && /speaks to Alice/.test(${text('doing')})`), true);
  is('with its decisions so far', await b.eval("document.querySelectorAll('#now tbody tr').length > 3"), true);
  is('axe-core finds nothing in the room', await b.violations(), []);
  await b.picture('now', 1280, 900, true);
  await seeEncryption(b);
  is('and then among the last turns', await b.until(`${answered} !== undefined`, 60000), true);
  is('of which none is under way', await b.until(`${text('now')}.includes('Nobody waits for an answer.')`), true);
  await b.eval(`${answered}.click()`);
  is('a turn opens', await b.until(`${text('turn')}.includes('Times from the end of speech')`), true);
  is('with what was said, why, and what it cost', await b.eval(`['I am Parley', 'direct_address', 'Costs'].map((x) => ${text('turn')}.includes(x))`),
    [true, true, true]);
  is('axe-core finds nothing in the turn', await b.violations(), []);
  is('its inspector is as wide as what it shows', await b.eval(fits("document.getElementById('inspector')")), true);
  await b.picture('light', 1280, 800, false);
  await b.picture('dark', 1280, 800, true);
  is('and no time is cut in the list', await b.eval("[...document.querySelectorAll('#turns .first')].every((e) => e.scrollWidth <= e.clientWidth)"), true);
  await b.picture('phone', 390, 800, true);
}

// Nothing is cut at the side, nor has to be scrolled there.
const fits = (of) => `(() => { const e = ${of}; return e.scrollWidth <= e.clientWidth; })()`;
const rowOf = "[...document.querySelectorAll('.vrow button')].find((x) => x.querySelector('.reason.answered') && /what can/.test(x.textContent))";
const aside = "document.querySelector('.turns-view aside')";

// All turns: the list, the timeline, a turn that is opened, its recording, and the same turn asked again with other settings.
async function seeTurns(b) {
  await b.eval("location.hash = '#turns'; true");
  is('the view of turns lists them', await b.until(`${rowOf} !== undefined`), true);
  await b.eval(`${rowOf}.click()`);
  is('a turn of it opens', await b.until(`${aside}.textContent.includes('Times from the end of speech')`), true);
  is('with the stages of its answer', await b.eval(`['waiting for silence', 'model', 'direct_address'].map((x) => ${aside}.textContent.includes(x))`),
    [true, true, true]);
  is('with what the model was told', await b.eval(`${aside}.textContent.includes('Instructions, prompts')`), true);
  is('and with what Alice said, as sound', await b.eval(`(async () => {
    const sound = await (await fetch(${aside}.querySelector('audio').src)).arrayBuffer();
    return (await new OfflineAudioContext(1, 24000, 24000).decodeAudioData(sound)).duration > 0.3;
  })()`), true);
  is('axe-core finds nothing in it', await b.violations(), []);
  is('and nothing is cut', await b.eval(`${fits(aside)} && document.querySelector('.ticks').getBoundingClientRect().left
    <= document.querySelector('.ticks .zero').getBoundingClientRect().left`), true);
  await b.picture('turns-light', 1280, 900, false);
  await b.picture('turns-dark', 1280, 900, true);
  await askAgain(b);
  await b.eval("document.querySelector('canvas.timeline').focus(); true");
  const window = await b.eval("document.querySelector('.window').textContent");

  await b.key('-');
  is('the timeline zooms by keys', await b.until(`document.querySelector('.window').textContent !== ${JSON.stringify(window)}`), true);
  await b.eval("document.querySelector('.vrow button').focus(); true");
  await b.key('ArrowDown');
  is('arrow keys move through the list', await b.eval("document.activeElement.closest('.vrow')?.ariaPosInSet"), '2');
  await b.key('Escape');
  is('Escape closes the turn', await b.until(`!${aside}.classList.contains('open') `), true);
}

async function askAgain(b) {
  await b.eval(`(() => { const [name, value] = ${aside}.querySelectorAll('form.again input'); name.value = 'command_only'; value.value = '1';
    ${aside}.querySelector('form.again').requestSubmit(); })()`);
  is('the room is asked again', await b.until(`/would|decide the same/.test(${aside}.querySelector('form.again [role=status]').textContent)`, 30000), true);
  is('and with commands alone by another rule', await b.eval(`${aside}.querySelector('form.again [role=status]').textContent.includes('command')`), true);
  await b.eval(`${aside}.querySelector('form.again').scrollIntoView()`);
  is('axe-core finds nothing in the answer', await b.violations(), []);
  is('nor is it cut', await b.eval(fits(aside)), true);
  await b.picture('turns-again', 1280, 900, false);
  await b.eval(`${aside}.querySelectorAll('form.again input')[0].value = 'no_such_setting'; ${aside}.querySelector('form.again').requestSubmit()`);
  is('what is no setting is named', await b.until(`${aside}.querySelector('form.again [role=status]').textContent.includes('no_such_setting')`, 30000), true);
  b.troubles.length = 0; // the 422
}

const pressed = "document.getElementById('mute').getAttribute('aria-pressed')";
const press = (id) => `document.getElementById('${id}').click()`;

async function giveOrders(b) {
  await b.eval(press('mute'));
  is('a mute order reaches the bot', await b.until(`${pressed} === 'true'`), true);
  is('and its outcome stands beside the button', await b.eval(`/^mute: the bot has the order/.test(${text('order-outcome')})`), true);
  await b.eval(`document.getElementById('say').value = 'good evening'; document.getElementById('say-form').requestSubmit()`);
  is('a muted bot says nothing', await b.until(`${text('order-outcome')}.includes('The bot is muted.')`), true);
  b.troubles.length = 0; // the 409
  await b.picture('orders', 1280, 700, false);
  await b.eval(press('mute'));
  is('it is unmuted', await b.until(`${pressed} === 'false'`), true);
  await b.eval(`document.getElementById('say').value = 'good evening'; document.getElementById('say-form').requestSubmit()`);
  is('an unmuted bot takes the order', await b.until(`[...document.querySelectorAll('#turns button')].length > 0 && (${text('now')} + ${text('turns')}).includes('good evening') || ${text('order-outcome')}.startsWith('say: the bot has')`, 20000), true);
  await b.eval(press('stop'));
  is('and stopped', await b.until(`${text('order-outcome')}.startsWith('stop: the bot has')`), true);
}

async function leave(b) {
  await b.eval(press('leave'));
  is('it leaves', await b.until(`${text('rooms')}.includes('in no voice channel')`, 15000), true);
}

const views = ['turns', 'latency', 'transcription', 'tools', 'memory', 'music', 'providers', 'costs', 'faults', 'encryption', 'sessions', 'audit', 'settings'];
const shown = (id) => `location.hash === '#${id}' && !document.getElementById('view').hidden && document.getElementById('view-body').textContent.length > 1`;

// Of the views that a conversation fills.
const filled = {
  latency: "['end of speech to first sound', 'model', 'answered'].every((x) => document.getElementById('view-body').textContent.includes(x))",
  transcription: "['Alice', 'transcripts'].every((x) => document.getElementById('view-body').textContent.includes(x))",
  tools: "['memory_write', 'echo', 'Tools offered to models'].every((x) => document.getElementById('view-body').textContent.includes(x))",
  memory: "['bike is red', 'left out as duplicates', 'Who said it'].every((x) => document.getElementById('view-body').textContent.includes(x))",
  music: "['Sea Song', 'Night Train', 'Old Bell'].every((x) => document.getElementById('view-body').textContent.includes(x))",
  sessions: "['goes on', 'Voice'].every((x) => document.getElementById('view-body').textContent.includes(x))",
};

// The decoder's jail, mediad, control and the page have all done their part.
const drawn = `(() => { const c = document.querySelector('.visualizer canvas');
  return c.getContext('2d').getImageData(0, 0, c.width, c.height).data.filter((x, i) => i % 4 === 3 && x).length > 1000; })()`;

async function seeViews(b) {
  writeFileSync(`${go}.music`, '');
  is('music plays', await b.until("fetch('/api/rooms').then((r) => r.json()).then((r) => r.rooms[0]?.music?.trackCount === 3)", 20000), true);
  for (const id of views) {
    await b.eval(`location.hash = '#${id}'; true`);
    is(`the view ${id} is shown`, await b.until(shown(id)), true);
    if (filled[id]) is('with what it is about', await b.until(filled[id]), true);
    if (id === 'music') is('and a picture of what is heard', await b.until(drawn), true);
    is('axe-core finds nothing in it', await b.violations(), []);
    is('without trouble', await b.eval("[...document.querySelectorAll('#view-body > .bad')].map((x) => x.textContent)"), []);
    await b.picture(`view-${id}`, 1280, 800, false);
    await b.picture(`view-${id}-dark`, 1280, 800, true);
    await b.picture(`view-${id}-phone`, 390, 800, true);
    is('it fits a phone', await b.eval('[window.innerWidth, document.documentElement.scrollWidth <= window.innerWidth]'), [390, true]);
    is('and no short table has to be scrolled', await b.eval("[...document.querySelectorAll('.wide:has(table.few)')].every((e) => e.scrollWidth <= e.clientWidth)"), true);
  }
  await b.picture('wide', 1280, 800, false);
}

// Figures lead to turns, a session to what the bot did in it, a person to what they said.
async function followFigures(b) {
  await b.eval("location.hash = '#latency'; true");
  await b.until(`${shown('latency')} && ${filled.latency}`);
  await b.eval("document.querySelector('#view-body td.number a').click()");
  is('the longest delay leads to its turn', await b.until(`${aside}?.textContent.includes('Times from the end of speech')`), true);
  is('whose address is its own', await b.eval('/^#turns\\/\\d+$/.test(location.hash)'), true);
  await b.key('Escape');
  await b.eval("location.hash = '#turns/merged'; true");
  is('a reason leads to its turns', await b.until("document.getElementById('turns-reason')?.value === 'merged'"), true);
  await b.eval("location.hash = '#turns/999999999'; true");
  is('a turn that is not there is named', await b.until(`${aside}?.textContent.includes('That turn is not kept.')`), true);
  b.troubles.length = 0; // the 404
  await b.key('Escape');
  await b.eval("location.hash = '#sessions'; true");
  await b.until(shown('sessions'));
  await b.eval(click('What happened'));
  is('a session opens to what the bot did', await b.until(`['answered a turn', 'memory_write', 'joined the call'].every((x) => ${body}.includes(x))`), true);
  is('axe-core finds nothing in it', await b.violations(), []);
  await b.picture('view-sessions-open', 1280, 900, true);
  await b.eval("location.hash = '#memory'; true");
  await b.until(`${shown('memory')} && ${filled.memory}`);
  await b.eval(click('Show'));
  is('a person leads to the facts that they said', await b.until(`${body}.includes('Only what Alice said: show all') && ${body}.includes('bike is red')`), true);
  await b.eval(click('Only what Alice said: show all'));
  is('and back to all', await b.until(`!${body}.includes('Only what Alice said')`), true);
}

// While she is in the call: what it says is compared with her client.
async function seeEncryption(b) {
  await b.eval("location.hash = '#encryption'; true");
  is('the call has a privacy code', await b.until("/^\\d{5}( \\d{5}){5}$/.test(document.querySelector('#view-body code.code')?.textContent)"), true);
  is('and is encrypted end to end', await b.eval(`${body}.includes('✓ end to end')`), true);
  await b.picture('encryption-code', 1280, 500, false);
  await b.picture('encryption-code-dark', 1280, 500, true);
  await b.eval("location.hash = '#room'; true");
}

// Once she is gone nobody holds a key: the fault is told in words.
async function seeFaults(b) {
  writeFileSync(`${go}.alone`, '');
  await b.eval("location.hash = '#faults'; true");
  is('a fault is told in words', await b.until(`['no key to speak with', 'KEYLESS', 'You cannot hear me'].every((x) => ${body}.includes(x))`, 30000), true);
  await b.picture('faults-words', 1280, 500, false);
  await b.picture('faults-words-dark', 1280, 500, true);
}

const body = text('view-body');
const click = (words) => `[...document.querySelectorAll('#view-body button')].find((x) => x.textContent === '${words}').click()`;
const change = (id, value) => `(() => { const e = document.getElementById('${id}'); e.value = '${value}'; e.dispatchEvent(new Event('input')); e.dispatchEvent(new Event('change')); })()`;

// A change is shown before it is saved, takes effect, is in the history, and is undone.
async function changeSettings(b) {
  await b.eval("location.hash = '#settings'; true");
  await b.until(shown('settings'));
  await b.eval(change('setting-search', 'cost_warn_percent'));
  is('a setting is found', await b.until("document.querySelectorAll('#view-body .setting').length === 1"), true);
  await b.eval(change('setting-cost_warn_percent', '70'));
  is('its change is shown before it is saved', await b.until(`${body}.includes('Not saved yet') && ${body}.includes('70')`), true);
  is('axe-core finds nothing in the change', await b.violations(), []);
  await b.picture('view-settings-change', 1280, 500, false);
  await b.eval(click('Save'));
  is('it is saved', await b.until(`${body}.includes('cost_warn_percent: takes effect')`), true);
  await b.eval(change('setting-search', ''));
  is('and in the history, with its author', await b.until(`${body}.includes('History') && ${body}.includes('session 1 (admin)')`), true);
  await b.eval(change('setting-search', 'cost_warn_percent'));
  await b.eval(change('setting-cost_warn_percent', '60'));
  await b.eval(click('Save'));
  is('a second change, too', await b.until(`${body}.includes('cost_warn_percent: takes effect') && !${body}.includes('Not saved yet')`), true);
  await b.eval(change('setting-search', ''));
  await b.until(`${body}.includes('Undo the last change')`);
  await b.eval(click('What changed'));
  is('the history tells what it was', await b.until(`${body}.includes('What version 2 changed')`), true);
  await b.eval(click('Undo the last change'));
  is('and it is undone', await b.until("document.getElementById('setting-cost_warn_percent').value === '70'"), true);
  await b.eval(change('setting-search', 'cost_warn_percent'));
  await b.eval(change('setting-cost_warn_percent', '4000'));
  await b.until(`${body}.includes('Not saved yet')`);
  await b.eval(click('Save'));
  is('what cannot be used is refused beside it', await b.until("document.querySelector('#view-body .setting .bad') !== null"), true);
  b.troubles.length = 0; // the 422
  await b.eval(click('Discard'));
  is('and discarded', await b.until(`!${body}.includes('Not saved yet')`), true);
}

// A preset is shown with what it changes before it is saved.
async function choosePreset(b) {
  await b.eval(change('setting-search', ''));
  await b.eval(change('setting-preset', 'quiet'));
  is('a preset shows what it would change', await b.until(`['Not saved yet', 'preset', 'command_only'].every((x) => ${body}.includes(x)) && /command_onlyfalsetrue/.test(${body})`), true);
  is('axe-core finds nothing in it', await b.violations(), []);
  await b.picture('view-settings-preset', 1280, 700, true);
  await b.eval(click('Save'));
  is('it is saved', await b.until(`!${body}.includes('Not saved yet') && document.getElementById('setting-preset').value === 'quiet'`), true);
  is('and in effect', await b.eval("fetch('/api/settings').then((r) => r.json()).then((s) => s.effective.command_only)"), true);
  await b.eval(change('setting-preset', ''));
  await b.eval(click('Save'));
  is('and taken back', await b.until(`!${body}.includes('Not saved yet') && document.getElementById('setting-preset').value === ''`), true);
  await b.eval(change('setting-part', 'Costs'));
  is('a part of the settings is shown alone', await b.until("document.querySelector('#view-body h3').textContent === 'Costs' && document.querySelectorAll('#view-body h3').length < 4"), true);
  await b.eval(change('setting-part', ''));
}

async function backToRoom(b) {
  await b.eval("location.hash = '#room'; true");
  is('the room is there again', await b.until(`!${hidden('board')} && ${hidden('view')}`), true);
}

const payloads = [
  '<img src=x onerror=alert(1)>', '"><script>alert(1)</script>', '<svg onload=alert(1)>', "javascript:alert(1)//'", '</script><iframe src=//x>',
  '__proto__', '\u202e\u2066rtl', 'a\u0301'.repeat(2000), '{{constructor.constructor("alert(1)")()}}', '\ud800', '<style>*{display:none}</style>',
];

// What control answers is replaced by hostile texts in each place that holds one.
async function seeHostileTexts(b) {
  await b.eval(`window.violations = 0; document.addEventListener('securitypolicyviolation', () => window.violations++);
    window.plainFetch = window.fetch; window.hostile = ${JSON.stringify(payloads)};
    const spoil = (v, i = { n: 0 }) => typeof v === 'string' && !/^\\d+$|^\\d{4}-/.test(v) ? window.hostile[i.n++ % window.hostile.length]
      : Array.isArray(v) ? v.map((x) => spoil(x, i)) : v && typeof v === 'object' ? Object.fromEntries(Object.entries(v).map(([k, x]) => [k, spoil(x, i)])) : v;
    window.fetch = async (...a) => { const r = await window.plainFetch(...a); return new Response(JSON.stringify(spoil(await r.json())), { status: r.status }); };
    window.before = document.querySelectorAll('script, iframe, img, svg, style').length; true`);
  is('hostile texts are shown', await b.until(`document.body.textContent.includes('<img src=x onerror=alert(1)>')`, 15000), true);
  await b.eval("document.querySelector('#turns button').click()");
  await b.until(`${text('turn')}.includes('alert(1)')`);
  is('as texts: no node, no violation of the policy, no dialog', await b.eval(
    "[document.querySelectorAll('script, iframe, img, svg, style').length - window.before, window.violations]"), [0, 0]);
  is('nor anything else', b.troubles, []);
  await b.eval('window.fetch = window.plainFetch; true');
  is('and gone afterwards', await b.until("document.querySelector('#people').textContent.includes('Alice') || !document.body.textContent.includes('onerror')", 15000), true);
}

async function useKeys(b) {
  await b.eval("document.querySelector('#turns button').focus(); true");
  await b.key('ArrowDown');
  is('the arrow keys move through the turns', await b.eval(
    "[...document.querySelectorAll('#turns button')].indexOf(document.activeElement) > 0 || document.querySelectorAll('#turns button').length === 1"), true);
  await b.key('Escape');
  is('Escape closes a turn', await b.until("!document.getElementById('inspector').classList.contains('open')"), true);
}

async function signOut(b) {
  await b.eval("document.getElementById('sign-out-all').click()");
  is('a sign-out brings the form back', await b.until(`!${hidden('sign-in')} && ${hidden('board')}`), true);
  is('and shows nothing any more', await b.eval("['rooms', 'people', 'now', 'turns', 'turn'].map((id) => document.getElementById(id).textContent).join('')"), '');
  is('and ends the session', await b.eval("fetch('/api/rooms').then((r) => r.status)"), 401);
}

// Through Discord's page, at which the person first refuses and then agrees.
async function signInWithDiscord(b) {
  for (const deny of [true, false]) {
    is('the button of Discord is there', await b.until(`!${hidden('sign-in-discord')}`), true);
    await b.eval("document.getElementById('discord').focus(); true");
    await b.key('Enter');
    is('it leads to Discord', await b.until("location.pathname === '/api/oauth2/authorize' || location.pathname.endsWith('/oauth2/authorize')"), true);
    const url = await b.eval('location.href');
    const { location } = await (await fetch(discord, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ url, deny }) })).json();

    b.troubles.length = 0; // guildd has no such page
    await b.go(location);
    if (deny) {
      is('who refuses gets the form again, with the reason', await b.until(`${text('outcome')}.includes('Discord did not sign you in') && !${hidden('sign-in')}`), true);
      is('and no trace in the address', await b.eval('location.hash + location.search'), '');
      is('axe-core finds nothing in it', await b.violations(), []);
      await b.picture('sign-in-refused', 1280, 600, false);
      b.troubles.length = 0; // the 401 of a page that asks who it is
    } else {
      is('who agrees is signed in', await b.until(`${text('who')} === 'signed in as admin'`), true);
    }
  }
}

const b = new Browser();
try {
  await b.open();
  await signIn(b);
  await measurePage(b);
  await checkApi(b);
  await seeTurn(b);
  await useKeys(b);
  await seeTurns(b);
  await seeViews(b);
  await followFigures(b);
  await seeFaults(b);
  await changeSettings(b);
  await choosePreset(b);
  await backToRoom(b);
  await seeHostileTexts(b);
  await giveOrders(b);
  await leave(b);
  await signOut(b);
  await signInWithDiscord(b);
} catch (e) {
  is('the browser', e.stack, 'no error');
}
await b.close();
is('axe-core has seen every view', [b.examined > views.length + 3, b.violated], [true, 0]);
row('axe_violations', b.violated, '', `, "pages": ${b.examined}`);
console.log(`examined ${b.examined} pages, ${b.violated} violations`);
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed ? 1 : 0);
