// xss_fired: what of 200 hostile texts runs, or breaks out, in any view of the dashboard; and the same in a copy of the page that takes
// texts for markup and has no policy, where at least 80 % must, or the measurement sees nothing.
//
//   xss.mjs LINK LINK      two links that sign in as admin
import http from 'node:http';

import { Browser, row, sleep } from './browser.mjs';
import { count, payload, short } from './payloads.mjs';

const [link, second] = process.argv.slice(2);
const origin = new URL(link);
// All texts, and how much of one a page may cut.
const texts = Array.from({ length: count }, (_, i) => [payload(i), short(i)]);

// Forwards to control; scripts come without escaping and answers without the policy.
function startCopy() {
  let changed = 0;
  const server = http.createServer((q, a) => {
    const up = http.request({ host: origin.hostname, port: origin.port, path: q.url, method: q.method, headers: { ...q.headers, 'accept-encoding': 'identity' } }, (r) => {
      const headers = { ...r.headers };

      delete headers['content-security-policy'];
      if (!/javascript/.test(headers['content-type'] || '')) {
        a.writeHead(r.statusCode, headers);
        r.pipe(a);
        return;
      }
      delete headers['content-length'];
      delete headers.etag;
      let text = '';
      r.setEncoding('utf8');
      r.on('data', (d) => { text += d; });
      r.on('end', () => {
        const out = text.replaceAll('.textContent = ', '.innerHTML = ')
          .replaceAll(/: String\(c\)\)/g, ': document.createRange().createContextualFragment(String(c)))');
        changed += out !== text && /createContextualFragment/.test(out) ? 1 : 0;
        a.writeHead(r.statusCode, headers);
        a.end(out);
      });
    });
    up.on('error', () => a.destroy());
    q.pipe(up);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve({ server, changed: () => changed })));
}

// Texts that fired, nodes that nobody of the page made, and texts that were shown as they are.
class Look {
  constructor() {
    this.fired = new Set();
    this.shown = new Set();
    this.foreign = 0;
    this.reports = 0;
  }

  async at(b) {
    const seen = await b.eval(`({ fired: [...window.fired], reports: window.reports, words: document.body.textContent,
      foreign: [...document.querySelectorAll('*')].filter((e) => /^(IFRAME|OBJECT|EMBED|VIDEO|AUDIO|BASE|MARQUEE)$/.test(e.tagName)
        || [...e.attributes].some((x) => x.name.startsWith('on')) || (e.tagName === 'IMG' && e.getAttribute('src') === 'x')
        || (e.tagName === 'SCRIPT' && !e.src)).length })`);

    seen.fired.forEach((n) => this.fired.add(n));
    this.reports += seen.reports;
    this.foreign = Math.max(this.foreign, seen.foreign);
    texts.forEach((t, i) => { if (t.some((x) => seen.words.includes(x))) this.shown.add(i); });
  }
}

async function walk(url) {
  const b = new Browser(), look = new Look();

  await b.open();
  await b.send('Page.addScriptToEvaluateOnNewDocument', { source: `window.fired = new Set(); window.reports = 0;
    window.f = (n) => window.fired.add(n);
    document.addEventListener('securitypolicyviolation', (e) => { window.reports++; });` });
  await b.go(url);
  if (!await b.until("!document.getElementById('board').hidden", 20000)) throw new Error('nobody is signed in');
  await b.until("document.querySelectorAll('#turns button').length > 10", 20000);
  await sleep(1500);
  await look.at(b);
  const turns = await b.eval("document.querySelectorAll('#turns button').length");
  for (let i = 0; i < turns && i < 50; i++) {
    await b.eval(`document.querySelectorAll('#turns button')[${i}]?.click(); true`);
    await sleep(120);
    if (i % 10 === 9) await look.at(b);
  }
  await look.at(b);
  const views = await b.eval("[...document.querySelectorAll('#views a')].map((a) => a.getAttribute('href'))");
  for (const view of views) {
    await b.eval(`location.hash = ${JSON.stringify(view)}; true`);
    await sleep(1500);
    await look.at(b);
  }
  look.dialogs = b.troubles.filter((t) => t === 'a dialog').length;
  look.views = views.length;
  await b.close();
  return look;
}

const page = await walk(link);
const copy = await startCopy();
const there = new URL(second);
there.host = `127.0.0.1:${copy.server.address().port}`;
const open = await walk(there.href);
copy.server.close();
copy.server.closeAllConnections();

const broken = page.fired.size + page.foreign + page.reports + page.dialogs;
console.log(`the page: ${page.fired.size} fired, ${page.foreign} foreign nodes, ${page.reports} reports, ${page.dialogs} dialogs, ${page.shown.size} of ${count} shown as texts, ${page.views} views`);
console.log(`the copy: ${open.fired.size} of ${count} fired, ${copy.changed()} scripts without escaping`);
console.log(`not fired in the copy: ${Array.from({ length: count }, (_, i) => i).filter((i) => !open.fired.has(i)).join(' ')}`);
let failed = 0;
for (const [what, well] of [
  ['the texts are there to be seen', page.shown.size >= 0.8 * count],
  ['nothing fires in the page', broken === 0],
  ['80 % fire without escaping', open.fired.size >= 0.8 * count],
]) {
  console.log(`${well ? 'ok     ' : 'FAILED '} ${what}`);
  failed += !well;
}
// A measurement that sees nothing is no 0.
row('xss_fired', open.fired.size >= 0.8 * count && page.shown.size >= 0.8 * count ? broken : 1000000, '',
  `, "texts": ${count}, "shown": ${page.shown.size}, "fired_unescaped": ${open.fired.size}, "views": ${page.views}`);
console.log(`${3 - failed} passed, ${failed} failed, 0 skipped`);
process.exit(failed ? 1 : 0);
