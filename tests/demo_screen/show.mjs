// Shows a tab to the bot by the page of shares, in headless Chromium: SCENE=screen of `make demo`. The tab is tests/demo_screen/screen.html.
//
//   show.mjs LINK NUMBER [PICTURE]      PICTURE: a PNG of the page of shares, written when the number has changed
//
// Prints a line for what has happened, and takes a line for what to do next: a number to show, or "stop".
import { createInterface } from 'node:readline';
import { writeFileSync } from 'node:fs';

import { Browser } from '../dashboard/browser.mjs';

const [link, number, picture] = process.argv.slice(2);
const text = (id) => `document.getElementById('${id}').textContent`;
const screen = new URL('screen.html', import.meta.url);
const b = new Browser(['--auto-select-tab-capture-source-by-title=Shown']);

screen.search = `number=${number}`;
try {
  await b.open();
  const page = b.session;
  const { targetId } = await b.send('Target.createTarget', { url: screen.href }, null);
  const tab = (await b.send('Target.attachToTarget', { targetId, flatten: true }, null)).sessionId;
  await b.go(link);
  // Before the page's script has run, its button does nothing.
  if (!await b.until(`${text('state')} === 'Nothing is shown'`, 30000)) throw new Error('no page');
  await b.send('Runtime.evaluate', { expression: "document.getElementById('start').click()", userGesture: true });
  if (!await b.until(`${text('state')} === 'The bot sees this screen'`, 30000)) throw new Error(await b.eval(text('outcome')));
  console.log('shows');
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === 'stop') break;
    b.session = tab;
    await b.eval(`show(${Number(line)})`);
    b.session = page;
    console.log(`shows ${line}`);
  }
  if (picture) {
    await b.send('Emulation.setDeviceMetricsOverride', { width: 900, height: 1100, deviceScaleFactor: 1, mobile: false });
    writeFileSync(picture, Buffer.from((await b.send('Page.captureScreenshot', { format: 'png' })).data, 'base64'));
  }
  await b.eval("document.getElementById('stop').click()");
  if (!await b.until(`${text('state')} === 'Ended: the pictures are wiped'`)) throw new Error('it does not stop');
  console.log('stopped');
} catch (error) {
  console.log(`failed: ${error.message}`);
  process.exitCode = 1;
} finally {
  await b.close();
}
