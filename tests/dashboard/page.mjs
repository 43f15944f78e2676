// Drives the dashboard in headless Chromium against a control that this program plays, so that what a live conversation does not bring is
// there at will: several servers, a bot that leaves, refused orders, gaps of the stream, hidden tabs, days of turns. Part of make ui-test.
// SHOTS=FOLDER also takes pictures; ONLY=NAME runs one of the groups below.
import { Browser, sleep } from './browser.mjs';
import { person, room, StandIn, turn } from './stand_in.mjs';

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

const A = '9001', B = '9002';
const text = (id) => `document.getElementById('${id}').textContent`;
const body = text('view-body');
const click = (selector) => `document.querySelector('${selector}').click()`;
const set = (id, value) => `(() => { const e = document.getElementById('${id}'); e.value = ${JSON.stringify(value)};
  e.dispatchEvent(new Event('input', { bubbles: true })); e.dispatchEvent(new Event('change', { bubbles: true })); })()`;
const rows = "document.querySelectorAll('#turns button').length";
const minutesAgo = (n) => Date.now() - n * 60e3;

// Two servers with a room each; the turns of A are odd.
function twoServers() {
  const s = new StandIn();

  s.rooms = [room(A, 'Ash', [person('501', 'Alice')]), room(B, 'Birch', [person('502', 'Bob')])];
  s.guilds = [{ id: A, name: 'Ash' }, { id: B, name: 'Birch' }];
  for (let i = 120; i > 0; i--)
    s.turns.push(turn(i, i % 2 ? A : B, { at: minutesAgo(121 - i), user: i % 2 ? '501' : '502', name: i % 2 ? 'Alice' : 'Bob', heard: `${i % 2 ? 'ash' : 'birch'} ${i}.` }));
  return s;
}

async function until(is) {
  for (let i = 0; i < 50 && !is(); i++) await sleep(100);
  return is();
}

async function openPage(b, s, hash = '') {
  await b.go('about:blank');
  await b.until("location.href === 'about:blank'");
  await b.go(s.origin + '/' + hash);
  is('the page is live', await b.until(`${text('link')} === 'live'`), true);
}

// With a real mouse: what is under the pointer when it is pressed need not be there when it is released.
async function press(b, expression) {
  const { x, y } = await b.eval(`(() => { const e = ${expression}; e.scrollIntoView({ block: 'center' }); const r = e.getBoundingClientRect();
    return { x: r.x + r.width / 2, y: r.y + r.height / 2 }; })()`);

  for (const type of ['mousePressed', 'mouseReleased']) {
    await b.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
    await sleep(80);
  }
}

async function type(b, id, words) {
  await b.eval(`(() => { const e = document.getElementById('${id}'); e.focus(); e.select(); })()`);
  if (words) await b.send('Input.insertText', { text: words });
  else for (const t of ['keyDown', 'keyUp']) await b.send('Input.dispatchKeyEvent', { type: t, key: 'Delete', code: 'Delete', windowsVirtualKeyCode: 46 });
}

const buttonOf = (words) => `[...document.querySelectorAll('#view-body button')].find((x) => x.textContent === '${words}')`;

// A tab that nobody looks at. Chromium without a window shows every tab, so the page is told.
const hide = (hidden) => `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${hidden} });
  Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${hidden ? 'hidden' : 'visible'}' });
  document.dispatchEvent(new Event('visibilitychange')); true`;

const groups = {
  // Words for one server never go to another one.
  async botLeaves(b, s) {
    await openPage(b, s);
    await b.until(`${text('room-title')}.includes('Ash') && ${rows} > 10`);
    await b.eval(click('#turns button'));
    await b.until(`${text('turn')}.includes('ash')`);
    await b.eval(set('say', 'only for Ash'));
    s.rooms = s.rooms.slice(1);
    s.send('session_over', { guild: A });
    is('when the bot leaves, the room stays the one that is shown', await b.until("!document.getElementById('absent').hidden"), true);
    is('by its name', await b.eval(`${text('room-title')}.includes('Ash')`), true);
    await b.eval("document.getElementById('say-form').requestSubmit()");
    await sleep(200);
    is('and nothing is said elsewhere', s.asked.filter((a) => a.method === 'POST').map((a) => a.url.pathname), []);
    is('the words stay', await b.eval("document.getElementById('say').value"), 'only for Ash');
    is('no order can be given', await b.eval("[...document.querySelectorAll('#orders button')].every((e) => e.disabled)"), true);
    is('the list has turns of this server alone', await b.eval(`${rows} > 10 && ![...document.querySelectorAll('#turns button')].some((e) => /birch/.test(e.textContent))`), true);
    is('axe-core finds nothing', await b.violations(), []);
    await b.picture('page-absent', 1280, 800, false);
    await b.picture('page-absent-dark', 1280, 800, true);
    await b.picture('page-absent-phone', 390, 800, false);
    await b.eval(click('#rooms button'));
    is('another server is shown when somebody chooses it', await b.until(`${text('room-title')}.includes('Birch') && /birch/.test(${text('turns')})`), true);
    is('with turns of its own alone', await b.eval(`/ash/.test(${text('turns')})`), false);
    is('without the words for the other one', await b.eval("document.getElementById('say').value"), '');
    is('and with no turn open', await b.eval(`/ash/.test(${text('turn')})`), false);
    s.rooms = twoServers().rooms;
    s.send('session_started', { guild: A });
    await b.until("document.querySelectorAll('#rooms button').length === 2");
    await b.eval(click('#rooms button'));
    is('the words are there again with their server', await b.until("document.getElementById('say').value === 'only for Ash'"), true);
    await b.eval("document.getElementById('say-form').requestSubmit()");
    is('and go to it', await b.until(`${text('order-outcome')}.startsWith('say: the bot has')`), true);
    is('alone', s.asked.filter((a) => a.method === 'POST').map((a) => [a.url.pathname, a.body]), [[`/api/rooms/${A}/say`, { text: 'only for Ash' }]]);
  },

  // What members show: how old it is, what models get of it, and what looking cost.
  async screens(b, s) {
    s.rooms[0].screens = [
      { user: '501', name: 'Alice', state: 'showing', watched: true, frames: 3, ageMs: 4000, notes: [
        { agoMs: 5000, changed: 120, text: 'A letter <b>is</b> open.' }, { agoMs: 15000, changed: 25, text: null }, { agoMs: 60000, changed: 0, text: null }] },
      { user: '502', name: 'Bob', state: 'streaming', watched: false, frames: 0, ageMs: null }];
    s.rooms[0].now.looks = { asked: 2, spentUsd: 0.01, remarks: 1, remarkedMs: 30000 };
    await openPage(b, s);
    is('a screen has the age of its picture', await b.until(`/Alice showing · picture 4.00 s old/.test(${text('doing')})`), true);
    is('notes say what a model saw, as text', await b.eval(`${text('doing')}.includes('5.00 s ago: A letter <b>is</b> open.')`), true);
    is('or how much changed', await b.eval(`/15.0 s ago: 2.5 % of the picture changed/.test(${text('doing')})`), true);
    is('or that nothing did', await b.eval(`/60.0 s ago: nothing large had changed/.test(${text('doing')})`), true);
    is('a stream that is not watched has none', await b.eval(`/Bob streaming, not watched(?! ·)/.test(${text('doing')})`), true);
    is('with what looking cost', await b.eval(`/looks at screens2 by the role see/.test(${text('doing')})`), true);
    is('and the remarks', await b.eval(`/1 remark, the last 30.0 s ago/.test(${text('doing')})`), true);
    is('axe-core finds nothing', await b.violations(), []);
  },

  // The stream of the bot's own.
  async shown(b, s) {
    const film = { kind: 'video', state: 'waiting', title: 'holiday <b>1</b>.mp4', askedBy: '501', askedByName: 'Alice', since: new Date(Date.now() - 9e4).toISOString(),
      viewers: 0, atSeconds: 0, seconds: 150, why: null, endedAt: null };
    const line = (change) => {
      s.rooms[0].shown = change && { ...film, ...change };
      s.send('session_started', { guild: A });
    };

    s.rooms[0].shown = film;
    await openPage(b, s);
    is('it is named with its asker', await b.until(`${text('doing')}.includes('showsholiday <b>1</b>.mp4 (video) for Alice · since ')`), true);
    is('and waits', await b.eval(`/waits for somebody who watches · 0:00 of 2:30 · 0 viewers/.test(${text('doing')})`), true);
    line({ state: 'playing', viewers: 1, atSeconds: 72 });
    is('it plays for a viewer', await b.until(`/plays · 1:12 of 2:30 · 1 viewer(?!s)/.test(${text('doing')})`), true);
    is('axe-core finds nothing', await b.violations(), []);
    await b.eval("document.getElementById('doing').scrollIntoView()");
    await b.picture('page-shown', 1280, 900, false);
    line({ state: 'over', viewers: 0, why: 'nobody watched it for five minutes', endedAt: new Date().toISOString() });
    is('when it is over it says why', await b.until(`/showedholiday.* for Alice · since .* · ended [0-9:]{8}: nobody watched it for five minutes/.test(${text('doing')})`), true);
    await b.picture('page-shown-over', 1280, 900, false);
    line({ kind: 'visualizer', state: 'opening', title: '', askedByName: '', viewers: null, seconds: 0 });
    is('the music has no title, and an erased person no name', await b.until(`/showsthe music .visualizer. · since .* · its file is openedcost/.test(${text('doing')})`), true);
    line(null);
    is('and nothing is shown', await b.until(`!/shows/.test(${text('doing')})`), true);
  },

  // A refusal leaves the words where they are, and what went wrong stays to be read.
  async refusals(b, s) {
    await openPage(b, s);
    await b.until(`${text('room-title')}.includes('Ash') && ${rows} > 10`);
    await b.eval(set('say', 'a long sentence'));
    s.refused.set(`POST /api/rooms/${A}/say`, { status: 409, title: 'The bot is muted.' });
    await b.eval("document.getElementById('say-form').requestSubmit()");
    is('a refused sentence is told', await b.until(`${text('order-outcome')}.includes('The bot is muted.')`), true);
    is('and is not lost', await b.eval("document.getElementById('say').value"), 'a long sentence');
    s.refused.clear();
    s.asked.length = 0;
    await b.eval("document.getElementById('say-form').requestSubmit(); document.getElementById('say-form').requestSubmit(); true");
    is('an accepted one makes room', await b.until("document.getElementById('say').value === ''"), true);
    is('and is sent once', s.count(`/api/rooms/${A}/say`, 'POST'), 1);
    s.refused.set('GET /api/turns/119', { status: 404, title: 'There is no such turn.' });
    await b.eval(click('#turns button'));
    await b.until(`${text('outcome')}.includes('There is no such turn.')`);
    for (let i = 0; i < 3; i++, await sleep(150)) s.send('member', { guild: A });
    is('an error stays while the page goes on asking', await b.eval(`${text('outcome')}.includes('There is no such turn.')`), true);
    s.refused.set('GET /api/rooms', { status: 503, title: 'Not now.' });
    s.send('member', { guild: A });
    is('beside another one', await b.until(`${text('outcome')}.includes('Not now.') && ${text('outcome')}.includes('There is no such turn.')`), true);
    s.refused.clear();
    s.send('member', { guild: A });
    is('which goes when it is over', await b.until(`!${text('outcome')}.includes('Not now.') && ${text('outcome')}.includes('There is no such turn.')`), true);
    await b.eval(click('#turns button'));
    is('the first goes with the next try', await b.until(`${text('outcome')} === ''`), true);
    b.troubles.length = 0; // the refusals
  },

  // A link to a turn that is gone says so where the turn would stand, also after another one stood there.
  async turnNotKept(b, s) {
    const aside = "document.querySelector('.turns-view aside')";

    s.refused.set('GET /api/turns/99999', { status: 404, title: 'That turn is not kept.' });
    await openPage(b, s, '#turns/99999');
    is('a turn that is not kept', await b.until(`/That turn is not kept/.test(${aside}?.textContent)`), true);
    is('is told in place of a turn', await b.eval(`/Choose a turn/.test(${aside}.textContent)`), false);
    await b.picture('turn-not-kept', 1280, 900, false);
    await b.eval("location.hash = '#turns/119'; true");
    await b.until(`/ash 119/.test(${aside}.textContent)`);
    await b.eval("location.hash = '#turns/99999'; true");
    is('and of the one before nothing stays', await b.until(`/That turn is not kept/.test(${aside}.textContent) && !/ash 119/.test(${aside}.textContent)`), true);
    b.troubles.length = 0; // the refusals
  },

  // The facts of a room change with the end of a turn, so the page asks for them at once; what else happens is gathered for a moment.
  async turnsAtOnce(b, s) {
    await openPage(b, s);
    await b.until(`${rows} === 50`);
    const least = { turn: Infinity, member: Infinity };

    for (let i = 0; i < 8; i++)
      for (const type of ['turn', 'member']) {
        await sleep(250);
        s.asked.length = 0;
        const from = performance.now();

        s.send(type, { guild: A, turn: 121, name: 'Alice', reason: 'answered', why: [] });
        while (!s.count('/api/rooms') && performance.now() - from < 2000) await sleep(1);
        least[type] = Math.min(least[type], performance.now() - from);
      }
    is('the page reads the end of a turn before other things', least.turn < least.member - 20, true);
    is('which wait until control describes the room anew', least.member > 40, true);
  },

  // A page that is open for days holds no more turns than were asked for.
  async manyTurns(b, s) {
    await openPage(b, s);
    await b.until(`${rows} === 50`);
    is('the last page is shown', await b.eval(rows), 50);
    for (let i = 121; i <= 241; i += 2) {
      s.turns.unshift(turn(i, A, { heard: `ash ${i}.`, first: i === 161 ? 9000 : 900 }));
      if (i % 6 === 1) {
        await b.eval(`window.first = document.querySelector('#turns li:nth-child(3)'); window.firstText = window.first?.textContent; true`);
        s.send('turn', { guild: A, turn: i, name: 'Alice', reason: 'answered', why: [] });
        await b.until(`/ash ${i}\\./.test(${text('turns')})`);
        if (i === 163) is('a longer delay than the others builds no row anew', await b.eval('window.first.isConnected && window.first.textContent === window.firstText'), true);
      }
    }
    is('no more than a page is kept', await b.eval(`${rows} <= 60`), true);
    const last = await b.eval("/ash (\\d+)/.exec(document.querySelector('#turns li:last-child').textContent)[1]");

    await b.eval(click('#older'));
    is('older ones join them without a gap', await b.until(`/ash ${Number(last) - 2}\\./.test(${text('turns')}) && ${rows} > 60`), true);
    is('in order', await b.eval(`(() => { const all = [...document.querySelectorAll('#turns button')].map((e) => Number(/ash (\\d+)/.exec(e.textContent)[1]));
      return all.every((n, i) => !i || all[i - 1] - n === 2); })()`), true);
    s.turns = Array.from({ length: 200 }, (_, i) => turn(1200 - i, A, { heard: `ash ${1200 - i}.` })).concat(s.turns);
    s.send('turn', { guild: A, turn: 1200, name: 'Alice', reason: 'answered', why: [] });
    await b.until(`/ash 1200\\./.test(${text('turns')})`);
    is('where too many were missed, the list begins anew', await b.eval(`${rows} === 50 && !/ash 241\\./.test(${text('turns')})`), true);
  },

  // Settings are typed, looked over and saved with a mouse and with keys, beside somebody else who saves.
  async settings(b, s) {
    giveSettings(s);
    await openPage(b, s, '#settings');
    await b.until("document.getElementById('setting-warn_percent') !== null");
    await type(b, 'setting-warn_percent', '70');
    is('a change is listed while it is typed', await b.until(`${body}.includes('Not saved yet')`), true);
    await type(b, 'setting-other_number', '5');
    s.asked.length = 0;
    await press(b, buttonOf('Save'));
    await b.until(`${body}.includes('Saved as version')`, 2000);
    is('one press of Save saves', s.asked.filter((a) => a.method === 'PUT').map((a) => a.body.intent), [{ warn_percent: 70, other_number: 5 }]);
    await type(b, 'setting-warn_percent', '60');
    await b.key('Tab');
    is('the next field is behind Tab', await b.until("document.activeElement.id === 'setting-other_number'", 2000), true);
    await type(b, 'setting-warn_percent', '');
    is('an empty number is no number', await b.until(`${body}.includes('Type a number from 1 to 100.')`, 2000), true);
    is('that could be saved', await b.eval(`${buttonOf('Save')}.disabled`), true);
    is('axe-core finds nothing', await b.violations(), []);
    await b.picture('page-settings', 1280, 900, false);
    await b.picture('page-settings-dark', 1280, 900, true);
    await b.picture('page-settings-phone', 390, 800, true);
    await b.picture('page-settings', 1280, 900, false);
    await press(b, buttonOf('Discard'));
    is('and goes with the others', await b.until("document.getElementById('setting-warn_percent').value === '50'", 2000), true);
    await type(b, 'setting-warn_percent', '61');
    await b.eval(set('setting-scope', B));
    await b.until(`document.getElementById('setting-scope').value === '${B}' && document.getElementById('setting-warn_percent').value === '50'`);
    is('a change for all servers stays while one is looked at', await b.eval(`${body}.includes('Not saved yet') && ${body}.includes('61')`), true);
    await type(b, 'setting-warn_percent', '62');
    s.asked.length = 0;
    await press(b, buttonOf('Save'));
    await b.until(`${body}.includes('Saved as version')`, 2000);
    is('each is saved where it belongs', s.asked.filter((a) => a.method === 'PUT').map((a) => a.body.intent), [{ warn_percent: 61, guilds: { [B]: { warn_percent: 62 } } }]);
    await b.eval(set('setting-scope', ''));
    await b.until("document.getElementById('setting-scope').value === ''");
    // What the choice of the scope brings may come between the selection and the keys.
    for (let i = 0; i < 5 && await b.eval("document.getElementById('setting-warn_percent').value") !== '63'; i++) await type(b, 'setting-warn_percent', '63');
    s.settings.now.effective.warn_percent = 20;
    s.send('setting_changed', { guild: '0' });
    is('what somebody else saves is shown', await b.until(`${body}.includes('was 50 before somebody else changed it')`), true);
    is('axe-core finds nothing in the conflict', await b.violations(), []);
    await b.picture('page-conflict', 1280, 900, false);
    is('and what is typed stays', await b.eval("[document.getElementById('setting-warn_percent').value, document.activeElement.id]"), ['63', 'setting-warn_percent']);
    await press(b, buttonOf('Take theirs'));
    is('or it is taken over', await b.until("document.getElementById('setting-warn_percent').value === '20' && !document.getElementById('view-body').textContent.includes('Not saved yet')", 2000), true);
    await b.eval(set('setting-scope', A));
    is('ids have names', await b.until(`document.querySelector('.setting .ids')?.textContent.startsWith('Lounge')`, 3000), true);
    await b.eval("(() => { const e = document.querySelector('[aria-label=\"Add a channel to allowed_channels\"]'); e.value = '90013'; e.dispatchEvent(new Event('change')); })()");
    is('and channels are chosen by theirs', await b.until("document.getElementById('setting-allowed_channels').value === '90012,90013' && document.querySelector('.setting .ids').textContent === 'Lounge, Stage'", 3000), true);
    is('axe-core finds nothing in it', await b.violations(), []);
    await b.picture('page-ids', 1280, 900, true);
    await press(b, buttonOf('Discard'));
    is('a long text has lines', await b.eval("document.getElementById('setting-long_text').value"), 'one\ntwo');
  },

  // What was missed while the stream was broken, and what nobody looked at.
  async missed(b, s) {
    s.errors = [{ id: '1', at: new Date().toISOString(), guild: A, kind: 'failover', event: { role: 'voice', from: 'one', to: 'two' } }];
    await openPage(b, s, '#faults');
    await b.until(`${body}.includes('one to two')`);
    s.errors[0].event.to = 'three';
    s.send('gap', {});
    is('a view is read anew after a gap', await b.until(`${body}.includes('one to three')`, 15000), true);
    s.errors[0].event.to = 'four';
    for (const stream of s.streams) stream.destroy();
    b.troubles.length = 0;
    is('and after a broken stream', await b.until(`${body}.includes('one to four')`, 8000), true);
    b.troubles.length = 0; // the broken stream
    await b.eval(hide(true));
    await sleep(300);
    s.asked.length = 0;
    s.errors[0].event.to = 'five';
    for (let i = 0; i < 20; i++) {
      for (const type of ['turn', 'fault', 'member']) s.send(type, { guild: A, turn: i, name: 'Alice', reason: 'answered', why: [] });
      await sleep(20);
    }
    await sleep(1500);
    is('a hidden page asks for nothing', s.asked.map((a) => a.url.pathname), []);
    await b.eval(hide(false));
    is('and is right when it is seen again', await b.until(`${body}.includes('one to five')`, 15000), true);
  },

  // Days of turns of many people: which day it was, who spoke, and the way to a time.
  async days(b, s) {
    const names = ['Ann', 'Ben', 'Cid', 'Dee', 'Eve', 'Fay', 'Gus', 'Hal', 'Ida', 'Jon', 'Kit', 'Lou'], hours = (n) => Date.now() - n * 36e5;

    s.turns = Array.from({ length: 600 }, (_, i) => turn(600 - i, A, { at: hours(i / 6), user: String(600 + i % 12), name: names[i % 12], heard: `words ${600 - i}.` }));
    await openPage(b, s);
    const dated = (t) => new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' }).format(t);

    await b.until(`${rows} > 10`);
    await b.eval(click('#turns button'));
    is('an opened turn has its day', await b.until(`/^.*(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \\d+ \\w+, \\d\\d:/.test(${text('turn')})`, 15000), true);
    await b.eval(`(() => { window.drawn = []; const plain = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (words, ...a) { window.drawn.push(words); plain.call(this, words, ...a); }; })(); location.hash = '#turns'; true`);
    await b.until("document.querySelectorAll('.vrow').length > 5");
    is('a turn of today has the time', await b.eval("/^\\d\\d:\\d\\d:\\d\\d$/.test(document.querySelector('.vrow time').textContent)"), true);
    const last = "[...document.querySelectorAll('.vrow')].filter((e) => !e.hidden).map((e) => [Number(e.ariaPosInSet), e]).sort((x, y) => x[0] - y[0]).at(-1)[1].textContent";

    for (let i = 0; i < 40 && !await b.eval(`/600 turns/.test(${body})`); i++, await sleep(250)) await b.eval("document.querySelector('.vlist').scrollTop = 1e6; true");
    await b.eval("document.querySelector('.vlist').scrollTop = 1e6; true");
    is('one of another day has the day', await b.until(`${last}.includes('${dated(hours(99.8))}')`, 15000), true);
    await b.picture('page-days', 1280, 900, false);
    await b.eval("document.querySelector('canvas.timeline').focus(); window.drawn = []; true");
    for (let i = 0; i < 20; i++) await b.key('-');
    await sleep(300);
    const at = await b.eval("document.querySelector('.window').textContent");

    await b.key('-');
    await b.key('-');
    is('the widest window stays where it is', await b.eval("document.querySelector('.window').textContent"), at);
    await b.eval("document.querySelector('.vlist').scrollTop = 0; true");
    is('its axis has days', await b.until("window.drawn.filter((x) => /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \\d+ \\w+$/.test(x)).length > 3", 15000), true);
    is('and whoever has no lane is in one with the others', await b.until("window.drawn.includes('5 others')", 15000), true);
    is('axe-core finds nothing', await b.violations(), []);
    await b.picture('page-days-wide', 1280, 900, false);
    await b.picture('page-days-wide-dark', 1280, 900, true);
    await b.picture('page-days-phone', 390, 800, false);
    is('it fits a phone', await b.eval('document.documentElement.scrollWidth <= window.innerWidth'), true);
    await b.picture('page-days', 1280, 900, false);
    const until = new Date(hours(30)), local = new Date(until - until.getTimezoneOffset() * 60e3).toISOString().slice(0, 16);

    await b.eval(set('turns-before', local));
    is('a time can be gone to', await b.until(`document.querySelector('.vrow time').textContent.startsWith('${dated(hours(30.1))}')`, 15000), true);
    await b.eval(set('turns-person', '603'));
    is('and a person chosen', await b.until("(() => { const all = [...document.querySelectorAll('.vrow')].filter((e) => !e.hidden); return all.length > 3 && all.every((e) => e.querySelector('b').textContent === 'Dee'); })()", 15000), true);
    await b.eval(set('turns-reason', 'merged'));
    is('what is not there is told', await b.until("document.querySelector('.count').textContent === 'No turn is like that.'", 15000), true);
    await b.eval(set('turns-reason', ''));
    await b.until("document.querySelectorAll('.vrow:not([hidden])').length > 3");
    await b.eval("document.querySelector('canvas.timeline').focus(); true");
    await b.key('ArrowRight');
    is('what a key chooses on the canvas is told in words', await b.until("/Dee: it was answered, first sound/.test(document.querySelector('.turns-view .quiet').textContent)", 3000), true);
  },

  // A hundred servers: the ones with trouble come first, each is found by letters, and a bot that is nowhere can be sent somewhere.
  async manyServers(b, s) {
    s.rooms = Array.from({ length: 100 }, (_, i) => room(String(7000 + i), `Server ${i}`, [person('501', 'Alice')]));
    s.guilds = s.rooms.map((r) => ({ id: r.guild, name: r.guildName }));
    s.rooms[40].faults = [{ fault: 'KEYLESS', text: 'no key to speak with' }];
    s.rooms[60].brain = { name: 'one', up: false, silent: false };
    await openPage(b, s);
    await b.until("document.querySelectorAll('#rooms button').length === 100");
    is('trouble comes first, and says what it is', await b.eval("[...document.querySelectorAll('#rooms button')].slice(0, 2).map((e) => /Server (\\d+).*▲ (.+)$/.exec(e.textContent)?.slice(1))"),
      [['40', 'no key to speak with'], ['60', 'one is down']]);
    await b.picture('page-many', 1280, 800, false);
    await b.picture('page-many-dark', 1280, 800, true);
    await b.picture('page-many-phone', 390, 800, false);
    is('on a phone the room is in reach', await b.eval("document.getElementById('main').getBoundingClientRect().top < 700"), true);
    is('axe-core finds nothing', await b.violations(), []);
    await b.picture('page-many', 1280, 800, false);
    await b.eval("(() => { const e = document.getElementById('room-search'); e.value = 'server 77'; e.dispatchEvent(new Event('input')); })()");
    is('a room is found by letters', await b.until("document.querySelectorAll('#rooms button').length === 1 && document.querySelector('#rooms button').textContent.includes('Server 77')", 3000), true);
    s.answerOf = ((plain) => (path, ...a) => (path === '/api/guilds/7001/channels' ? { channels: [{ id: '70012', name: 'Lounge' }] }
      : path === '/api/voice/join' ? {} : plain(path, ...a)))(s.answerOf.bind(s));
    await b.eval("document.getElementById('join').open = true; true");
    await b.eval(set('join-guild', '7001'));
    is('channels of another server are offered', await b.until("document.getElementById('join-channel').value === '70012'", 3000), true);
    await b.picture('page-join', 1280, 800, true);
    await b.eval("document.getElementById('join-form').requestSubmit()");
    is('and joined', await b.until(`${text('join-outcome')}.startsWith('join: the bot has the order')`, 3000), true);
    is('that one and no other', s.asked.filter((a) => a.method === 'POST').map((a) => [a.url.pathname, a.body]), [['/api/voice/join', { guildId: '7001', channelId: '70012' }]]);
    s.wait = () => sleep(300);
    await b.until("document.querySelectorAll('#rooms button').length > 0");
    s.send('member', { guild: s.rooms[0].guild });
    await sleep(1500);
    s.asked.length = 0;
    for (let i = 0; i < 30; i++, await sleep(100)) s.send('utterance', { guild: '7040' });
    is('a slow list of rooms is requested less often', s.count('/api/rooms') <= 4, true);
    s.wait = null;
  },

  // Settings of a former version are taken up again by way of the changes.
  async versions(b, s) {
    giveSettings(s);
    s.settings.now._meta.version = 4;
    s.answerOf = ((plain) => (path, query, method) => (path === '/api/settings/history' ? { versions: [4, 3, 2, 1].map((v) => ({ version: v, updatedAt: new Date().toISOString(), author: 'session 1 (admin)' })) }
      : path === '/api/settings/diff' && query.get('from') === '2' && query.get('to') === '4'
        ? { changes: [{ key: 'warn_percent', before: 30, after: 50 }, { key: `guilds/${B}/other_number`, before: null, after: 9 }] } : plain(path, query, method)))(s.answerOf);
    s.settings.now.intent = { warn_percent: 50, guilds: { [B]: { other_number: 9 } } };
    await openPage(b, s, '#settings');
    await b.until(`${body}.includes('History')`);
    await press(b, "document.querySelector('[aria-label=\"Take up again the settings of version 2\"]')");
    is('what would change is shown first', await b.until(`${body}.includes('Not saved yet') && ${body}.includes('Birch')`, 3000), true);
    is('axe-core finds nothing', await b.violations(), []);
    await b.picture('page-versions', 1280, 900, false);
    s.asked.length = 0;
    await press(b, buttonOf('Save'));
    await b.until(`${body}.includes('Saved as version')`, 2000);
    is('and then saved', s.asked.filter((a) => a.method === 'PUT').map((a) => a.body.intent), [{ warn_percent: 30 }]);
  },

  // A late answer never stands under a newer choice, nor after a sign-out.
  async late(b, s) {
    const spent = (usd) => ({ usd, costs: [], truncated: false, servers: [], speakers: [], providers: [] });

    Object.assign(s.settings.now.effective, { cost_day_cents: 0, cost_guild_cents: 0, cost_warn_percent: 80, cost_at_limit: 'stop' });
    s.answerOf = ((plain) => (path, query, ...a) => (path === '/api/costs' ? spent(Math.round((Date.now() - Number(query.get('since'))) / 864e5)) : plain(path, query, ...a)))(s.answerOf.bind(s));
    await openPage(b, s, '#costs');
    await b.until(`${body}.includes('A day')`);
    s.wait = (method, url) => (url.pathname === '/api/costs' ? sleep(Date.now() - Number(url.searchParams.get('since')) < 8 * 864e5 ? 900 : 50) : null);
    await b.eval(set('cost-days', '7'));
    await sleep(100);
    await b.eval(set('cost-days', '30'));
    await b.until(`/^\\$(29|30)/.test(document.querySelector('#view-body .sum').textContent)`, 15000);
    await sleep(1200);
    is('the newest choice has its own answer', await b.eval("[document.getElementById('cost-days').value, /^\\$(29|30)/.test(document.querySelector('#view-body .sum').textContent)]"), ['30', true]);
    s.errors = Array.from({ length: 260 }, (_, i) => ({ id: String(300 - i), at: new Date().toISOString(), guild: A, kind: 'fault', event: { fault: 'KEYLESS', there: true } }))
      .concat([{ id: '1', at: new Date().toISOString(), guild: A, kind: 'failover', event: { role: 'voice', from: 'one', to: 'two' } }]);
    s.wait = null;
    const errors = s.errors;

    s.answerOf = ((plain) => (path, query, ...a) => {
      if (path !== '/api/errors') return plain(path, query, ...a);
      const from = Number(query.get('cursor') ?? 0), to = from + Number(query.get('limit'));
      return { errors: errors.slice(from, to), next: to < errors.length ? String(to) : null };
    })(s.answerOf);
    s.settings.now.bindings = { roles: {} };
    await b.eval("location.hash = '#providers'; true");
    is('failovers are found among many faults', await b.until(`${body}.includes('one gave way to two')`, 15000), true);
    is('what is not used is not marked as good', await b.eval(`${body}.includes('○ unused') && !${body}.includes('✓ unused')`), true);
    s.wait = (method, url) => (url.pathname === '/api/costs' ? sleep(600) : null);
    await b.eval("location.hash = '#costs'; true");
    await sleep(100);
    await b.eval(click('#sign-out'));
    await b.until("!document.getElementById('sign-in').hidden");
    await sleep(900);
    is('nothing comes after a sign-out', await b.eval(`[${body}, ${text('rooms')}, ${text('room-title')}].join('')`), '');
    s.wait = null;
    await b.eval("location.hash = '#k=1.viewer.code'; true");
    await b.until("document.getElementById('sign-in').hidden");
    is('a link that is opened where the form is signs in', await b.eval("[document.getElementById('sign-in').hidden, location.hash]"), [true, '']);
    is('with its code', s.asked.some((r) => r.method === 'POST' && r.url.pathname === '/api/auth/session'), true);
    b.troubles.length = 0; // the 401
  },

  // What began, what is over and how long it took, of one server or all.
  async faults(b, s) {
    const entry = (id, guild, there, ago) => ({ id, at: new Date(minutesAgo(ago)).toISOString(), guild, kind: 'fault', event: { fault: 'KEYLESS', there, count: 1 } });
    const all = [entry('6', B, true, 1), entry('5', A, false, 2), entry('4', A, false, 3), entry('3', A, true, 10), entry('2', B, false, 20)];

    Object.assign(all[1].event, { ended: false, lasted_ms: 0 });
    Object.assign(all[2].event, { ended: true, lasted_ms: 400e3 });

    s.answerOf = ((plain) => (path, query, ...a) => (path === '/api/errors'
      ? { errors: all.filter((e) => !query.get('guild') || e.guild === query.get('guild')), next: null } : plain(path, query, ...a)))(s.answerOf.bind(s));
    await openPage(b, s, '#faults');
    await b.until("document.querySelectorAll('#view-body tbody tr').length === 5");
    const column = "[...document.querySelectorAll('#view-body tbody tr')].map((e) => e.children[4].textContent)";

    is('each fault says how it went', await b.eval(column), ['▲ began, not over yet', 'happened once', 'over, after 7 min', 'began', 'over, or happened once']);
    await b.eval(set('faults-guild', B));
    is('those of one server can be chosen', await b.until(`JSON.stringify(${column}) === '["▲ began, not over yet","over, or happened once"]'`, 3000), true);
    is('axe-core finds nothing', await b.violations(), []);
    await b.picture('page-faults', 1280, 500, false);
    await b.eval(set('incident-guild', A));
    s.send('fault', { guild: B });
    await sleep(400);
    s.asked.length = 0;
    await press(b, buttonOf('Export the incident'));
    is('what is exported is of the server that was chosen', s.asked.filter((a) => a.method === 'POST').map((a) => [a.url.pathname, a.body]), [['/api/incidents', { hours: 24, guild: A }]]);
    b.troubles.length = 0; // the 404 of a control that has no such thing
  },

  // Who did what, what it changed, whether nobody changed the rows, and which browsers are signed in.
  async audit(b, s) {
    const row = (id, kind, more) => ({ id, at: new Date(minutesAgo(id)).toISOString(), actor: 'session 1 (admin)', via: 'http', kind, target: '', result: 'done', before: null, after: null, ...more });
    const session = (id, more) => ({ id, role: 'operator', user: null, server: null, createdAt: new Date(minutesAgo(9)).toISOString(), expiresAt: new Date(Date.now() + 36e5).toISOString(), current: false, ...more });

    s.audit = [row('3', 'settings', { target: 'global', before: '{"first_audio_ms":9000,"guilds":{"9001":{"name":"a"}}}', after: '{"first_audio_ms":7000,"guilds":{"9001":{"name":"b"}}}' }),
      row('2', 'consent', { actor: '501', before: 'heard', after: 'remembered' }), row('1', 'sign_in', { result: 'granted' })];
    s.who = { ...s.who, sessions: [session(1, { role: 'admin', current: true }), session(2, { user: '501', server: A })] };
    await openPage(b, s, '#audit');
    is('a change of settings is shown member by member', await b.until(`/first_audio_ms: 9000 → 7000/.test(${body}) && /guilds.9001.name: a → b/.test(${body})`), true);
    is('another one as it is', await b.eval(`/heard → remembered/.test(${body})`), true);
    is('each kind is told in words where the table has them', await b.eval(`/saved the settings: the document before and aftersettings/.test(${body})`), true);
    is('every kind of the table can be chosen', await b.eval("[...document.querySelectorAll('#audit-kind option')].map((e) => e.value)"), ['', 'settings', 'sign_in']);
    await b.eval(set('audit-kind', 'sign_in'));
    is('one kind can be chosen', await b.until(`!/consent/.test(document.querySelector('#view-body tbody').textContent) && /granted/.test(${body})`), true);
    await b.eval(set('audit-kind', ''));
    await b.until(`/heard → remembered/.test(${body})`);
    s.chain = { whole: true, fault: null, row: '3', rows: 3, erased: 0, unsealed: 0, unchained: 0, head: '3:abc' };
    await press(b, buttonOf('Check the chain'));
    is('the chain is checked', await b.until(`/The audit is whole: 3 rows/.test(${body}) && /3:abc/.test(${body})`), true);
    is('axe-core finds nothing', await b.violations(), []);
    await b.picture('page-audit', 1280, 800, false);
    await b.picture('page-audit-dark', 1280, 800, true);
    s.chain = { whole: false, fault: 'changed', row: '2', rows: 1, erased: 0, unsealed: 0, unchained: 0, head: null };
    await press(b, buttonOf('Check the chain'));
    is('and what is wrong with it is told', await b.until(`/▲ The audit was changed at row 2: it is not the row that was written/.test(${body})`), true);
    await press(b, `document.querySelector('#view-body button[aria-label="Sign out session 2"]')`);
    is('one browser can be signed out', await b.until(`/Session 2 is signed out/.test(${body}) && !document.querySelector('#view-body button[aria-label="Sign out session 2"]')`), true);
    is('that one alone', s.asked.filter((a) => a.method === 'DELETE').map((a) => a.url.pathname), ['/api/auth/sessions/2']);
  },

  // The page to speak with the bot is a frame that stays as it is, whatever happens beside it.
  async talk(b, s) {
    const other = new StandIn();

    await other.listen();
    s.who = { ...s.who, talk: other.origin + '/' };
    s.frames = other.origin;
    await openPage(b, s, '#talk');
    is('it is a frame with a name', await b.until("document.querySelector('#view-body iframe')?.title === 'Speak with the bot'"), true);
    await b.eval("window.frame = document.querySelector('#view-body iframe'); true");
    for (const type of ['turn', 'member', 'fault']) s.send(type, { guild: A, turn: 1, name: 'Alice', reason: 'answered', why: [] });
    await sleep(500);
    is('that stays', await b.eval("window.frame.isConnected && document.querySelector('#view-body iframe') === window.frame"), true);
    is('axe-core finds nothing', await b.violations(), []);
    await b.picture('page-talk', 1280, 800, false);
    await b.eval("location.hash = '#room'; true");
    is('until another view is shown', await b.until("document.getElementById('view').hidden"), true);
    await b.eval("location.hash = '#audit'; true");
    is('when it is gone', await b.until("document.querySelector('iframe') === null"), true);
    b.troubles.length = 0; // the frame's own page, whose frame-ancestors are none
    other.close();
  },

  // Eight tabs of one browser: more than the connections that it opens to a server.
  async tabs(b, s) {
    const tabs = [];

    await openPage(b, s);
    tabs.push([b.target, b.session]);
    for (let i = 0; i < 7; i++) {
      await b.open();
      tabs.push([b.target, b.session]);
      await openPage(b, s);
    }
    const each = async (what, run) => {
      const all = [];

      for (const [, session] of tabs) {
        b.session = session;
        await b.send('Page.bringToFront');
        all.push(await run());
      }
      is(what, all.every((x) => x === true), true);
    };

    is('one of them reads the stream', [s.streams.size <= 1, await b.until(`${text('link')} === 'live'`)], [true, true]);
    await each('each shows what happens', async () => {
      s.rooms[0].people = [person('501', 'Alice'), person('503', `Carol ${Math.random()}`)];
      await b.eval('window.told = document.getElementById("people").textContent');
      s.send('member', { guild: A });
      return b.until(`${text('people')} !== window.told && ${text('people')}.includes('Carol')`, 15000);
    });
    await each('each is answered', () => b.eval("Promise.race([fetch('/api/rooms').then((r) => r.ok), new Promise((done) => setTimeout(done, 3000))])"));
    const [closed] = tabs.pop();

    b.session = null;
    await b.send('Target.closeTarget', { targetId: closed });
    b.session = tabs[0][1];
    // A browser closes the streams of hidden tabs when it has time.
    const streams = async (n) => {
      for (let i = 0; i < 200 && s.streams.size !== n; i++) await sleep(100);
      return s.streams.size;
    };
    is('when the reader is closed, another one reads', await streams(1), 1);
    await each('and each shows what happens', async () => {
      s.rooms[0].people = [person('501', 'Alice'), person('504', `Dan ${Math.random()}`)];
      await b.eval('window.told = document.getElementById("people").textContent');
      s.send('member', { guild: A });
      return b.until(`${text('people')} !== window.told && ${text('people')}.includes('Dan')`, 15000);
    });
    b.session = tabs[3][1];
    await b.eval(click('#sign-out'));
    await each('a sign-out is one of all tabs', () => b.until("!document.getElementById('sign-in').hidden && document.getElementById('people').textContent === ''", 15000));
    is('and ends the stream', await streams(0), 0);
    for (const [target] of tabs.splice(1)) await b.send('Target.closeTarget', { targetId: target }, null);
    b.session = tabs[0][1];
    await sleep(500);
    b.troubles.length = 0; // the 401s
  },

  // Draws the music that is heard, as long as somebody sees it.
  async visualizer(b, s) {
    const track = { id: '1', title: 'Sea Song', artist: 'Kelp', durationMs: 200000, source: 'local', requester: '501' };
    const music = (more) => ({ guildId: A, voiceChannelId: A + '1', tracks: [track], nowPlayingIndex: 0, isPaused: false, volume: 1, loop: 'off', positionMs: 1000,
      trackCount: 1, halted: false, streamTitle: null, visualizer: 'cqt', ...more });
    const canvas = `document.getElementById('visualizer-${A}')`;
    // How much of the canvas is painted: in its columns left of the middle, in the middle, and right of it.
    const painted = `(() => { const c = ${canvas}, d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, n = [0, 0, 0];
      for (let i = 3; i < d.length; i += 4) if (d[i]) n[Math.sign(Math.round(((i >> 2) % c.width - c.width / 2) / 8)) + 1]++;
      return n; })()`;
    const bands = Uint8Array.from({ length: 64 }, (_, i) => (i < 32 ? 255 - i * 6 : 40));
    const wave = Int8Array.from({ length: 128 }, (_, i) => Math.round(60 * Math.sin(i / 8)));
    const scope = Int8Array.from({ length: 256 }, (_, i) => (i % 2 ? Math.round(60 * Math.sin(i / 16)) : 0));
    const parts = { bands, wave: new Uint8Array(wave.buffer), scope: new Uint8Array(scope.buffer) };
    const streams = async (n) => {
      for (let i = 0; i < 100 && s.looks.size !== n; i++) await sleep(50);
      return s.looks.size;
    };
    const play = async () => {
      for (let i = 0; i < 12; i++) {
        s.show(parts);
        await sleep(40);
      }
    };

    s.rooms[0].music = music();
    await openPage(b, s);
    is('nobody asks for pictures elsewhere', s.looks.size, 0);
    await b.eval("location.hash = '#music'; true");
    is('whoever sees the music asks for its pictures', await b.until(`${canvas} !== null`) && await streams(1), 1);
    is('of that server alone', s.count(`/api/rooms/${A}/visualizer`), 1);
    s.show({ ...parts, bands: bands.slice(1) });
    await sleep(200);
    is('what has another form is not drawn', await b.eval(painted), [0, 0, 0]);
    await play();
    const [low, , high] = await b.eval(painted);

    is('levels of tones are drawn', low > 3 * high && high > 1000, true);
    await b.picture('visualizer-cqt', 1280, 800, false);
    await b.picture('visualizer-cqt-dark', 1280, 800, true);
    for (const mode of ['spectrum', 'waves', 'vectorscope']) {
      await b.eval(set(`visualizer-mode-${A}`, mode));
      await play();
      await b.picture(`visualizer-${mode}`, 1280, 800, false);
      await play();
      await b.picture(`visualizer-${mode}-dark`, 1280, 800, true);
      const [left, middle, right] = await b.eval(painted);

      if (mode === 'spectrum') is('tones over time come from the right', [left, middle > 0, right > 5000], [0, false, true]);
      else if (mode === 'waves') is('the waveform goes from side to side', left > 500 && Math.abs(left - right) < left / 4, true);
      else is('mono sound is a vertical line', [left, middle > 200, right], [0, true, 0]);
    }
    is('the picture has a name', await b.eval(`${canvas}.getAttribute('aria-label')`), 'Picture of the music: left against right');
    is('axe-core finds nothing', await b.violations(), []);
    await b.picture('visualizer-phone', 390, 800, false);
    is('on a phone it is as wide as the page', await b.eval(`${canvas}.getBoundingClientRect().right <= innerWidth`), true);
    await b.eval(`window.canvas = ${canvas}; true`);
    s.rooms[0].music = music({ isPaused: true });
    s.send('music_now_playing', { guild: A });
    await b.until(`${body}.includes('paused')`);
    is('the view is drawn again around it', await b.eval(`window.canvas === ${canvas} && ${painted}[1] > 200`), true);
    await b.eval(hide(true));
    is('a hidden tab asks for nothing', await streams(0), 0);
    await b.eval(hide(false));
    is('until it is seen again', await streams(1), 1);
    await b.eval(set(`visualizer-mode-${A}`, 'off'));
    is('nor does whoever wants none', [await streams(0), await b.eval(`${canvas}.hidden`)], [0, true]);
    await b.eval(set(`visualizer-mode-${A}`, 'waves'));
    is('until they want one', [await streams(1), await b.eval(`${canvas}.hidden`)], [1, false]);
    // Still pictures, two seconds apart.
    await b.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-reduced-motion', value: 'reduce' }] });
    await play();
    await b.eval(`window.paints = 0; (() => { const c = ${canvas}.getContext('2d'), stroke = c.stroke; c.stroke = () => { window.paints++; stroke.call(c); }; })()`);
    for (let i = 0; i < 5; i++) await play();
    is('where motion is to be reduced there are a few still ones', await b.eval('window.paints >= 1 && window.paints <= 3'), true);
    await b.send('Emulation.setEmulatedMedia', { features: [] });
    await b.eval("location.hash = '#audit'; true");
    is('another view asks for none', await streams(0), 0);
    s.rooms[0].music = music({ nowPlayingIndex: null, tracks: [], trackCount: 0 });
    await b.eval("location.hash = '#music'; true");
    await b.until(`${body}.includes('nothing plays')`);
    is('nor does silence', [await b.eval(`${canvas}`), await streams(0)], [null, 0]);
  },

  // A view that is drawn again keeps what somebody does with it.
  async redrawn(b, s) {
    s.asr = [{ guildId: A, voiceChannelId: A + '1', asrSessions: [{ userId: '501', displayName: 'Alice', connected: true, createdAt: new Date().toISOString(),
      lastTranscriptAt: null, idleTimerEndsAt: new Date(Date.now() + 6e5).toISOString(), transcripts: 1, audioMs: 1000, lastError: null }] }];
    await openPage(b, s, '#transcription');
    await b.picture('page-narrow', 390, 800, false);
    await b.until(`${body}.includes('closes in')`);
    await b.eval(`(() => { const name = [...document.querySelectorAll('#view-body td')].find((e) => e.textContent === 'Alice');
      getSelection().selectAllChildren(name); document.querySelector('#view-body .wide').scrollLeft = 120; window.cell = name; window.told = ${body}; })()`);
    is('the time that is left moves', await b.until(`${body} !== window.told`, 15000), true);
    is('a selected text stays selected', await b.eval('getSelection().toString()'), 'Alice');
    is('and a table where it was scrolled to', await b.eval("document.querySelector('#view-body .wide').scrollLeft"), 120);
    is('its nodes being the same', await b.eval('window.cell.isConnected'), true);
    await b.picture('page-wide', 1280, 900, false);
    const entry = (id, result) => ({ id, at: new Date().toISOString(), actor: 'session 1 (admin)', via: 'page', kind: 'say', target: 'guild:' + A, result });

    s.audit = Array.from({ length: 60 }, (_, i) => entry(String(100 - i), `result ${100 - i}`));
    await b.eval("location.hash = '#audit'; true");
    await b.until(`${body}.includes('result 100')`);
    s.audit.unshift(entry('101', 'result 101'));
    s.send('operator_action', { guild: A });
    await sleep(600);
    is('newer rows are offered to whoever reads older ones', await b.until(`${body}.includes('Newer rows have come since') && !${body}.includes('result 101')`), true);
    is('axe-core finds nothing', await b.violations(), []);
    await b.picture('page-behind', 1280, 400, false);
    await press(b, buttonOf('Show the newest'));
    is('and gets them', await b.until(`${body}.includes('result 101') && !${body}.includes('Newer rows')`), true);
  },

  // Staff of several servers look at one at a time, with the role that they have there.
  async servers(b, s) {
    const plain = s.answerOf.bind(s), servers = [{ id: A, name: 'Ash', role: 'operator' }, { id: B, name: 'Birch', role: 'viewer' }];

    s.who = { role: 'operator', words: true, talk: null, guild: A, servers };
    s.answerOf = (path, query, method) => {
      if (path !== '/api/auth/session' || method !== 'PUT') return plain(path, query, method);
      s.rooms = s.rooms.slice(1);
      return s.who = { ...s.who, role: 'viewer', words: false, guild: B };
    };
    await openPage(b, s);
    is('the servers stand in the head', await b.until("document.getElementById('server').value === '9001'"), true);
    is('with the role in each', await b.eval("[...document.getElementById('server').options].map((o) => o.text)"), ['Ash (operator)', 'Birch (viewer)']);
    is('axe-core finds nothing', await b.violations(), []);
    await b.picture('page-servers', 1280, 500, false);
    await b.picture('page-servers-dark', 1280, 500, true);
    await b.picture('page-servers-phone', 390, 600, false);
    await b.eval(set('server', B));
    is('another one is looked at', await b.until(`document.getElementById('server').value === '9002' && ${text('who')}.includes('viewer')`), true);
    is('by asking for it', s.asked.filter((a) => a.method === 'PUT').map((a) => a.body), [{ server: B }]);
    is('nothing of the first one stays', await b.until(`${text('room-title')}.includes('Birch')`), true);
    s.who = { ...s.who, servers: servers.slice(1) };
    await openPage(b, s);
    is('whoever has one server has nothing to choose', await b.until("document.getElementById('server-of').hidden"), true);
  },

  // What became of words that the bot was given is told where they were given.
  async orderEnds(b, s) {
    const plain = s.answerOf.bind(s), outcome = text('order-outcome');
    const ends = (order, result) => s.send('order_ended', { guild: A, kind: 'order_ended', target: `server ${A}, order ${order}`, result });
    let order = 76;

    s.answerOf = (path, query, method) => (path.endsWith('/say') ? { order: 'say', guild: A, id: String(++order) } : plain(path, query, method));
    s.turns.unshift({ ...turn(121, A, { heard: null, user: null, name: 'Parley' }), said: 'dinner is ready' });
    await openPage(b, s);
    await b.until(`${text('room-title')}.includes('Ash') && ${rows} > 10`);
    is('a turn that nobody began has what the bot said', await b.until(`document.querySelector('#turns button').textContent.includes('dinner is ready')`), true);
    const say = async () => {
      await b.eval(set('say', 'dinner is ready'));
      await b.eval("document.getElementById('say-form').requestSubmit()");
      await b.until(`${outcome}.includes('says it when the room is quiet')`);
    };

    await say();
    is('the bot has the words and waits', await b.eval(`${outcome}.includes('says it when the room is quiet')`), true);
    ends(5, 'answered');
    ends(77, 'merged');
    is('a turn that failed is told', await b.until(`${outcome}.startsWith('say: it went into another turn')`), true);
    await say();
    ends(78, 'answered');
    is('so is that it was said', await b.until(`${outcome}.startsWith('say: said')`), true);
    await say();
    ends(79, 'dropped');
    is('and that it never was', await b.until(`${outcome}.startsWith('say: dropped')`), true);
    await b.picture('page-order', 1280, 700, false);
  },

  // Of each server what it spent stands against the cap that holds for it.
  async costs(b, s) {
    const plain = s.answerOf.bind(s);
    const spent = { usd: 1.5, truncated: false, servers: [{ guild: A, usd: 1.2 }, { guild: B, usd: 0.3 }], speakers: [{ user: '501', usd: 1.2 }, { user: null, usd: 0.3 }],
      providers: [{ provider: 'main', role: 'voice', usd: 1.5 }],
      costs: [{ day: '2026-11-01', guild: A, channel: A + '1', user: '501', name: 'Alice', provider: 'main', model: 'm', role: 'voice', turns: 4, usd: 1.2, priced: true }] };

    s.settings.now.effective = { cost_day_cents: 500, cost_guild_cents: 100, cost_warn_percent: 80, cost_at_limit: 'stop' };
    s.settings.now.intent = { guilds: { [B]: { cost_guild_cents: 60 } } };
    s.answerOf = (path, query, method) => (path === '/api/costs' ? spent : plain(path, query, method));
    await openPage(b, s, '#costs');
    await b.until(`${body}.includes('By server')`);
    const server = "[...document.querySelectorAll('#view-body section')][0].querySelectorAll('tbody tr')";

    is('over the cap of all', await b.eval(`[...${server}].map((r) => [...r.cells].map((c) => c.textContent))`),
      [['Ash', '$1.20', '$1.20', '$1.00', '▲ 120 %'], ['Birch', '$0.3000', '$0.3000', '$0.6000', '50 %']]);
    is('speakers by name, and the bot', await b.eval(`${body}.includes('Alice') && ${body}.includes("the bot's own work")`), true);
    is('axe-core finds nothing', await b.violations(), []);
    await b.picture('page-costs', 1280, 900, false);
    await b.picture('page-costs-dark', 1280, 900, true);
    await b.eval("[...document.querySelectorAll('#view-body a')].at(-1).click()");
    is('a number of turns leads to them', await b.until("document.getElementById('turns-since')?.value.startsWith('2026-11-01')"), true);
    is('of that server, person and day', await until(() => s.asked.filter((a) => a.url.pathname === '/api/turns').map((a) => a.url.searchParams)
      .some((q) => q.get('guild') === A && q.get('user') === '501' && Number(q.get('before')) - Number(q.get('since')) === 864e5)), true);
  },

  // Each figure of a delay leads to the turn that had it, and a call of a tool to its own.
  async figures(b, s) {
    const times = [400, 900, 5200];

    s.turns = times.map((ms, i) => ({ ...turn(30 - i, A, { at: minutesAgo(i + 1), user: '501', name: 'Alice', heard: 'hello' }), reason: 'answered', firstAudioMs: ms,
      stages: [], timeline: [] }));
    s.turns.push({ ...turn(27, A, { at: minutesAgo(5), reason: 'merged', first: null }), part: true, mergedInto: '28', timeline: [] });
    s.calls = [{ callId: '1-1', toolName: 'music_play', toolType: 'function', startedAt: new Date(minutesAgo(1)).toISOString(), runtimeMs: 200, success: true, state: 'ok',
      outputSummary: 'Sea Song', guild: A, turn: 30, turnId: '30' }];
    await openPage(b, s, '#latency');
    await b.until(`${body}.includes('3 turns')`);
    const hrefs = (of) => `[...document.querySelectorAll('${of} a')].map((a) => a.getAttribute('href'))`;

    is('percentiles and the longest delay', await b.eval(`${hrefs('#view-body tbody tr:first-child')}.slice(0, 4)`), ['#turns/29', '#turns/28', '#turns/28', '#turns/28']);
    is('a merged turn is told and not counted', [await b.eval(`${body}.includes('part of other turns: 1 merged.')`), await b.eval(`${body}.includes('25 %')`)], [true, false]);
    is('bars of delays', await b.eval(hrefs('.bars')), ['#turns/30', '#turns/29', '#turns/28']);
    is('axe-core finds nothing', await b.violations(), []);
    await b.picture('page-latency', 1280, 900, false);
    await b.picture('page-latency-dark', 1280, 900, true);
    await b.eval("location.hash = '#turns/27'; true");
    const leads = `.inspector a[href="#turns/28"]`;

    await b.until(`document.querySelector('${leads}')`);
    await b.eval(click(leads));
    is('a merged turn leads to the one that has its words', await b.until("document.querySelector('.inspector h3').textContent === 'Turn 28'"), true);
    s.rooms[0].music = { guildId: A, voiceChannelId: A + '1', tracks: [], nowPlayingIndex: null, isPaused: false, volume: 1, loop: 'off', positionMs: 0, trackCount: 0,
      halted: false, streamTitle: null, visualizer: 'cqt' };
    await b.eval("location.hash = '#music'; true");
    is('music that was asked for by voice', await b.until(`${body}.includes('Sea Song')`), true);
    is('leads to its turn', await b.eval(hrefs('#view-body')), ['#turns/30']);
    is('axe-core finds nothing there', await b.violations(), []);
    await b.picture('page-music', 1280, 700, false);
  },

  // What became of a message in the chat of the call is told apart from a turn.
  async writtenMessages(b, s) {
    const session = { id: `${A}-1790000000000`, startedAt: '2026-11-01T00:00:00.000Z', guild: A, channel: '70012', endedAt: null, why: null, turns: 1, usd: 0 };
    const action = (i, kind, messageId, metadata) => ({ id: String(i), createdAt: '2026-11-01T00:00:00.000Z', guildId: A, channelId: '70012', messageId, userId: '601', kind, content: null, metadata, usdCost: null });

    s.answerOf = ((plain) => (path, ...a) => (path === '/api/voice/history/sessions' ? { sessions: [session], next: null }
      : path === `/api/voice/history/sessions/${session.id}/events` ? { actions: [action(3, 'sent_reply', '9', { reason: 'sent_reply' }),
        action(2, 'reply_skipped', '8', { reason: 'skipped' }), action(1, 'reply_skipped', null, { turn: 1, reason: 'backchannel' })], next: null }
        : plain(path, ...a)))(s.answerOf.bind(s));
    await openPage(b, s, '#sessions');
    await b.until(`${body}.includes('What happened')`);
    await b.eval("[...document.querySelectorAll('button')].find((e) => e.textContent === 'What happened').click(); true");
    is('a written message and a turn are told apart', await b.until(`['replied to a message', 'did not answer a message', 'did not answer a turn'].every((x) => ${body}.includes(x))`), true);
  },

  // Of a filter that dropped words the sentence is told that is true, and what followed: no mark as if all were well.
  async decisions(b, s) {
    const rule = (text, then, otherwise = text, thenOtherwise = '') => ({ text, unit: '', then, otherwise, thenOtherwise });
    const rules = { low_confidence: { ...rule('speech-to-text has confidence in the transcript', '', 'speech-to-text has little confidence in the transcript', 'dropped'), unit: '1/1000' },
      promoted: { ...rule('enough audio, loud enough, to be speech', ''), unit: 'ms' }, direct_address: rule('the bot was addressed by name', 'admitted', 'the bot was not addressed by name') };
    const why = [['promoted', true, 120, 100], ['low_confidence', false, 310, 400], ['direct_address', true, 1, 1], ['unheard_of', false, 0, 0]]
      .map(([name, yes, value, limit]) => ({ rule: name, yes, value, limit }));

    s.answerOf = ((plain) => (path, ...a) => (path === '/api/reasons' ? { reasons: {}, rules, faults: {} } : plain(path, ...a)))(s.answerOf.bind(s));
    s.turns.find((t) => t.id === '30').why = why;
    await openPage(b, s, '#turns/30');
    const told = "[...document.querySelectorAll('td.rule')].map((e) => [e.textContent, e.nextSibling.textContent, e.nextSibling.nextSibling.textContent].join('|'))";

    await b.until(`${told}.length === 4`);
    is('decisions are told by what was found and what followed', await b.eval(told), ['enough audio, loud enough, to be speechpromoted|120 / 100 ms|',
      'speech-to-text has little confidence in the transcriptlow_confidence|310 / 400 ‰|dropped', 'the bot was addressed by namedirect_address|1 / 1|admitted', 'unheard_ofunheard_of||']);
    is('and no mark says that all is well', await b.eval("/[✓–]/.test(document.querySelector('td.rule').closest('table').textContent)"), false);
    is('axe-core finds nothing there', await b.violations(), []);
    for (const [name, width, dark] of [['decisions', 1280, false], ['decisions-phone', 390, true]]) {
      await b.eval("document.querySelector('td.rule').closest('table').scrollIntoView(); true");
      await b.picture(name, width, 900, dark);
    }
  },

  // A community among a hundred has a memory of its own, and what is left out is told.
  async memory(b, s) {
    const plain = s.answerOf.bind(s), person = (i) => ({ guild: A, private: false, subject: `60${i}777123456789012`, name: `Person ${i}`, facts: 1, validFacts: 1, lastWrittenAt: '2026-11-01T00:00:00.000Z', id: String(i) });
    const write = (i) => ({ id: String(i), at: new Date(Date.UTC(2026, 10, 1, 0, 10 - i)).toISOString(), guild: A, source: 'asked', inserted: 3, updated: 0, duplicate: 1, refused: 0 });

    const receipt = { erased: { facts: 2, turns: 3 }, scan: { traces: 0, listed: 0 } };

    s.answerOf = (path, query, method) => ({
      '/api/memory/people/601777123456789012': receipt,
      '/api/memory/people/601777123456789012/receipt': { running: false, receipt: null },
      '/api/memory/search': { results: [{ id: 7, text: 'The ferry leaves at four', name: 'Person 1', at_ms: Date.UTC(2026, 10, 1), score: 0.8126 }] },
      '/api/memory/facts': { facts: [], next: null }, '/api/memory/writes': query.get('cursor') ? { writes: [write(9)], next: null } : { writes: [write(0), write(5)], next: '5' },
      '/api/memory/subjects': query.get('cursor') ? { subjects: [person(2)], next: null } : { subjects: [person(1)], next: '1' },
      '/api/memory/reflections': { reflections: [], next: null },
    }[path] ?? plain(path, query, method));
    await openPage(b, s, '#memory');
    await b.until(`${body}.includes('Person 1')`);
    is('how often facts are written is told', await b.eval(`${body}.includes('In 5 min, so 1.6 facts a minute.')`), true);
    is('and that there are more', await b.eval(`${body}.includes('the figures are of these')`), true);
    // The page may read all of it once more when its stream begins.
    is('more people are there for the asking', await b.until(`(${body}.includes('Person 1') && ${body}.includes('Person 2')) || (${buttonOf('More people')}?.click(), false)`), true);
    is('so are older writes, which the figures count', await b.until(`${body}.includes('Of 12 facts in the last 3 writes') || (${buttonOf('Older writes')}?.click(), false)`), true);
    is('a model looks in one server', await b.eval(`${body}.includes('Choose a server above')`), true);
    await b.eval(set('memory-name', 'person 1'));
    await b.eval("document.getElementById('memory-name').form.requestSubmit()");
    is('a person is found by their name', await until(() => s.asked.some((a) => a.url.pathname === '/api/memory/subjects' && a.url.searchParams.get('q') === 'person 1')), true);
    // Erased after a question, and never by one press.
    await b.until(buttonOf('Erase the person'));
    await b.eval(`${buttonOf('Erase the person')}.click()`);
    is('the page asks before it erases', await b.until(`${body}.includes('Person 1 (601777123456789012) goes from all that is kept')`), true);
    await b.eval(`${buttonOf('Keep')}.click()`);
    is('and taken back', await b.until(`!${body}.includes('goes from all that is kept')`), true);
    is('nothing was erased', s.asked.some((a) => a.method === 'DELETE'), false);
    await b.eval(set('memory-erase', '601'));
    await b.eval("document.getElementById('memory-erase').form.requestSubmit()");
    is('a number that is no id is not taken', await b.until(`${body}.includes('17 to 19 digits')`), true);
    await b.eval(set('memory-erase', '601777123456789012'));
    await b.eval("document.getElementById('memory-erase').form.requestSubmit()");
    await b.until("document.getElementById('memory-erase-sure')");
    await b.picture('page-memory-erase', 1280, 1400, false);
    await b.eval(set('memory-erase-sure', '601777123456789013'));
    await b.eval("document.getElementById('memory-erase-sure').form.requestSubmit()");
    is('another id erases nobody', await b.until(`${body}.includes('This is not 601777123456789012: nothing was erased.')`), true);
    is('the page deletes nothing', s.asked.some((a) => a.method === 'DELETE'), false);
    await b.eval(set('memory-erase-sure', '601777123456789012'));
    await b.eval("document.getElementById('memory-erase-sure').form.requestSubmit()");
    is('the receipt is told', await b.until(`${body}.includes('Erased: 5 rows. Nothing was found of them afterwards.')`), true);
    is('of that person', s.asked.filter((a) => a.method === 'DELETE').map((a) => a.url.pathname), ['/api/memory/people/601777123456789012']);
    // An erasure that takes longer than the proxy waits, which ends a question about it as well.
    const erased = '/api/memory/people/602777123456789012', told = [{ running: false, receipt: null }, 504, { running: true, receipt: null }, { running: false, receipt: { ...receipt, at_ms: 5, erased: { facts: 9 } } }];
    const seen = s.answerOf;

    s.refused.set(`DELETE ${erased}`, { status: 504 });
    s.answerOf = (path, query, method) => (path === `${erased}/receipt` ? s.told : seen(path, query, method));
    s.wait = (method, url) => {
      if (url.pathname !== `${erased}/receipt`) return;
      s.told = told.shift();
      if (s.told === 504) s.refused.set(`GET ${erased}/receipt`, { status: 504 });
      else s.refused.delete(`GET ${erased}/receipt`);
    };
    await b.eval(set('memory-erase', '602777123456789012'));
    await b.eval("document.getElementById('memory-erase').form.requestSubmit()");
    await b.until("document.getElementById('memory-erase-sure')");
    await b.eval(set('memory-erase-sure', '602777123456789012'));
    await b.eval("document.getElementById('memory-erase-sure').form.requestSubmit()");
    is('a receipt that a proxy held up is told', await b.until(`${body}.includes('Erased: 9 rows.')`), true);
    is('after all that was asked', told, []);
    is('both requests were ended', b.troubles.splice(0).filter((t) => t.includes('504')).length, 2);
    s.wait = null;
    await b.eval(set('memory-guild', B));
    is('a server has a memory of its own', await until(() => s.asked.filter((a) => a.url.searchParams.get('guild') === B)
      .map((a) => a.url.pathname).filter((p) => p.startsWith('/api/memory/')).length >= 4), true);
    await b.until("document.getElementById('memory-question')");
    await b.eval(set('memory-question', 'when does the ferry leave'));
    await b.eval("document.getElementById('memory-question').form.requestSubmit()");
    is('what a model would find is shown, the best first', await b.until(`${body}.includes('The ferry leaves at four') && ${body}.includes('0.813')`), true);
    is('axe-core finds nothing', await b.violations(), []);
    await b.picture('page-memory', 1280, 900, false);
    await b.picture('page-memory-dark', 1280, 900, true);
  },
};

function giveSettings(s) {
  const row = (name, kind, more) => ({ name, kind, group: 'Costs', text: `What ${name} is.`, effect: 'applied', unit: '', default: 50, min: 1, max: 100, bytes: 0, words: '', ...more });
  const saved = () => ({ ...s.settings.now, outcomes: [] });

  s.settings.schema = { settings: [row('warn_percent', 'number', { unit: '%' }), row('other_number', 'number'), row('long_text', 'text', { bytes: 4095, default: '' }),
    row('allowed_channels', 'ids', { bytes: 1023, default: '' })], presets: [] };
  Object.assign(s.settings.now.effective, { warn_percent: 50, other_number: 50, long_text: 'one\ntwo', allowed_channels: '90012' });
  // Saved, though nothing takes effect: each group begins with the same values.
  const plain = s.answerOf.bind(s);

  s.answerOf = (path, query, method) => (path === '/api/settings' && method === 'PUT' ? saved()
    : path === `/api/guilds/${A}/channels` ? { channels: [{ id: '90012', name: 'Lounge' }, { id: '90013', name: 'Stage' }] } : plain(path, query, method));
}

const b = new Browser();
try {
  await b.open();
  for (const [name, run] of Object.entries(groups)) {
    if (process.env.ONLY && process.env.ONLY !== name) continue;
    const s = twoServers();

    await s.listen();
    await b.picture('page', 1280, 900, false);
    await run(b, s);
    is(`nothing went wrong in ${name}`, b.troubles.splice(0), []);
    await b.go('about:blank');
    s.close();
  }
} catch (e) {
  is('the browser', e.stack, 'no error');
}
await b.close();
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed ? 1 : 0);
