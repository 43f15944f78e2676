// Drives the page of shares in headless Chromium, which shares a tab of its own: a picture comes only when the tab changes, pause and stop
// hold, a second browser is refused, and axe-core finds nothing. SHOTS=FOLDER also takes pictures.
//
//   share.mjs LINK TAB LOG API USER CHANNEL     TAB: an address whose tab is shared; LOG: the log of control; API: guildd's own, where USER is a
//                                               member of the voice CHANNEL
import { readFileSync } from 'node:fs';

import { Browser, sleep } from './browser.mjs';

const [link, tab, log, api, user, channel] = process.argv.slice(2);
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
const hidden = (id) => `document.getElementById('${id}').hidden`;
const press = (id) => `document.getElementById('${id}').click()`;
const frames = () => readFileSync(log, 'utf8').split(' stream_watch_frame_ingested ').length - 1;
const member = (way, body = {}) =>
  fetch(`${api}/users/${user}/${way}`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
const came = async (n) => {
  for (let i = 0; i < 200; i++, await sleep(100)) if (frames() >= n) return true;
  return false;
};
// None comes for 5 s. Before Chromium has drawn a tab, it captures black: later on a busy machine.
const quiet = async () => {
  for (let i = 0, last = frames(); i < 8; i++, last = frames()) {
    await sleep(5000);
    if (frames() === last) return true;
  }
  return false;
};

// What the preview shows near its lower right corner is so bright, 0 to 255.
const brightness = `(() => {
  const video = document.getElementById('preview'), pixel = new OffscreenCanvas(1, 1).getContext('2d');
  pixel.drawImage(video, video.videoWidth - 20, video.videoHeight - 20, 8, 8, 0, 0, 1, 1);
  return pixel.getImageData(0, 0, 1, 1).data[1];
})()`;

const b = new Browser(['--auto-select-tab-capture-source-by-title=Shown']);
try {
  await b.open();
  // The tab that is shared, which changes when it is told to.
  const own = b.session;
  b.session = undefined;
  const { targetId } = await b.send('Target.createTarget', { url: tab });
  const shown = (await b.send('Target.attachToTarget', { targetId, flatten: true })).sessionId;
  b.session = own;
  const change = async (expression) => {
    b.session = shown;
    await b.eval(expression);
    b.session = own;
  };

  await b.go(link);
  is('the page offers to share', await b.until(`${text('start')} === 'Share screen' && !document.getElementById('start').disabled`), true);
  is('and shows nothing yet', await b.until(`${text('state')} === 'Nothing is shown'`), true);
  is('axe-core finds nothing', await b.violations(), []);
  await b.picture('share-idle', 900, 620, false);
  await b.eval("(() => { const width = document.getElementById('width'); width.value = 640; width.dispatchEvent(new Event('input')); })()");
  const first = frames();
  await b.eval(`window.sends = window.fetch; window.fetch = (path, what) => !path.endsWith('/frame') ? window.sends(path, what) :
    Promise.resolve(new Response('{"error":"frame_rate_limited","title":"Too many pictures in a minute."}', {status: 429})); null`);
  await b.send('Runtime.evaluate', { expression: press('start'), userGesture: true });
  is('no picture is taken, and it says so', await b.until(`${text('state')} === 'The bot has no picture of this screen now'`, 20000), true);
  is('and why', await b.until(`/Too many pictures/.test(${text('outcome')})`), true);
  await b.eval('window.fetch = window.sends; null');
  is('the bot sees the screen', await b.until(`${text('state')} === 'The bot sees this screen'`, 20000), true);
  is('a picture comes', await came(first + 1), true);
  await b.eval(`window.fetch = async (path, what) => {
      const answer = await window.sends(path, what), json = await answer.json();
      return new Response(JSON.stringify({...json, blind: true}), {status: answer.status});
    }; null`);
  is('without a model that takes pictures it says so', await b.until(`/does not see it/.test(${text('state')})`, 20000), true);
  is('and not in green', await b.eval("document.getElementById('state').dataset.state"), 'blind');
  await b.eval('window.fetch = window.sends; null');
  is('which ends with such a model', await b.until(`${text('state')} === 'The bot sees this screen'`, 20000), true);
  is('of the width that was chosen before', /^640 px/.test(await b.eval(text('width-value'))), true);
  is('the width ends at what the bot keeps', await b.eval("document.getElementById('width').max"), '960');
  await b.eval("(() => { const width = document.getElementById('width'); width.value = 960; width.dispatchEvent(new Event('input')); })()");
  // As if the screen had 3000 pixels a side.
  await b.eval(`window.wide = Object.getOwnPropertyDescriptor(VideoFrame.prototype, 'displayWidth');
    Object.defineProperty(VideoFrame.prototype, 'displayWidth', {configurable: true, get: () => 3000}); null`);
  is('of a large screen it says that small text is lost', await b.until(`/cannot read small text/.test(${text('scale')})`, 20000), true);
  await b.eval("Object.defineProperty(VideoFrame.prototype, 'displayWidth', window.wide); null");
  is('and of this one not', await b.until(`${text('scale')} === ''`, 20000), true);
  is('though the page is behind what it shows', await b.eval('document.visibilityState'), 'hidden');
  is('none while nothing changes', await quiet(), true);
  let digits = 0;
  for (let i = 0; i < 10; i++) {
    const before = frames();
    await change(`document.getElementById('s${i}').textContent = 'error 404'`);
    digits += await came(before + 1);
  }
  is('each change of one digit brings one', digits, 10);
  const settled = frames();
  await change("document.body.style.background = 'rgb(0, 64, 128)'");
  is('one when it does', await came(settled + 1), true);
  await b.eval('window.kept = MediaStreamTrackProcessor; delete window.MediaStreamTrackProcessor;');
  is('a browser that draws video only where it is seen says so', await b.until(`/keep this page visible/.test(${text('state')})`, 20000), true);
  await b.eval('window.MediaStreamTrackProcessor = window.kept');
  is('and goes on where it is', await b.until(`${text('state')} === 'The bot sees this screen'`, 20000), true);
  await b.send('Page.bringToFront');
  is('the preview shows it, too', await b.until(`${brightness} > 40 && ${brightness} < 90`, 20000), true);
  is('axe-core finds nothing now', await b.violations(), []);
  await b.picture('share-showing', 900, 1100, false);
  await b.picture('share-showing-dark', 900, 1100, true);
  const before = frames();
  await member('leave');
  is('it says so when its member has left', await b.until(`${text('state')} === 'Shared; the bot does not watch now'`, 20000), true);
  await member('join', { channel_id: channel });
  is('and sends the same screen again, which was wiped', await came(before + 1), true);
  is('the bot sees it again', await b.until(`${text('state')} === 'The bot sees this screen'`, 20000), true);
  await b.eval(press('pause'));
  is('it pauses', await b.until(`${text('state')} === 'Paused: the bot gets nothing'`), true);
  await sleep(1500);
  const paused = frames();
  await change("document.body.style.background = 'white'");
  await sleep(4000);
  is('and sends nothing', frames(), paused);
  await b.eval(press('pause'));
  is('and goes on', await came(paused + 1), true);
  await b.eval(press('stop'));
  is('it stops', await b.until(`${text('state')} === 'Ended: the pictures are wiped' && ${hidden('stage')}`), true);
  for (let i = 0; i < 50 && !/screen_share_session_stopped .*why=stopped/.test(readFileSync(log, 'utf8')); i++) await sleep(100);
  is('which control does as well', /screen_share_session_stopped .*why=stopped/.test(readFileSync(log, 'utf8')), true);
  await b.go('about:blank');
  await b.go(link);
  // Its script has run; before, the button does nothing.
  await b.until(`${text('state')} === 'Nothing is shown'`, 20000);
  await b.eval('window.asked = 0; navigator.mediaDevices.getDisplayMedia = async () => { window.asked++; throw new Error("asked"); }; null');
  await b.send('Runtime.evaluate', { expression: press('start'), userGesture: true });
  is('the link is used up', await b.until(`/expired/.test(${text('outcome')})`, 20000), true);
  is('which is told before a screen is chosen', await b.eval('window.asked'), 0);
  is('and nothing of pictures that there were not', await b.eval(text('state')), 'This link shows nothing any more');
  // 503: the bot was busy with a picture, and the page sent the next one; 404: the link that was used up; 403: its member was elsewhere.
  is('no error is left on the page', b.troubles.filter((t) => !/403|404|503/.test(t)), []);
} finally {
  await b.close();
}
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed ? 1 : 0);
