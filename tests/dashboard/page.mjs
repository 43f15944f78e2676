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

async function openPage(b, s, hash = '') {
  await b.go('about:blank');
  await b.until("location.href === 'about:blank'");
  await b.go(s.origin + '/' + hash);
  is('the page is live', await b.until(`${text('link')} === 'live'`), true);
}

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
};

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
