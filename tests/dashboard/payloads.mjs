// 200 hostile texts, as people, models, tools and files could bring them. payload(i) calls f(i) if it is taken for markup: it is one of
// several ways to run a program, behind one of several ways to get out of where a text stands.
const ways = [
  (n) => `<img src=x onerror=f(${n})>`,
  (n) => `<img alt=1 src=x onerror=f(${n})>`,
  (n) => `<video src=x onerror=f(${n})>`,
  (n) => `<audio src=x onerror=f(${n})>`,
  (n) => `<iframe onload=f(${n})>`,
  (n) => `<input type=image src=x onerror=f(${n})>`,
  (n) => `<details open ontoggle=f(${n})>x</details>`,
  (n) => `<script>f(${n})</script>`,
  (n) => `<img src=x onerror="f(${n})" alt=''>`,
  (n) => `<svg><image href=x onerror=f(${n}) /></svg>`,
  (n) => `<iframe srcdoc="<script>parent.f(${n})</script>"></iframe>`,
  (n) => `<picture><img src=x onerror=f(${n})></picture>`,
];
const exits = [
  '', '"> ', "'> ", '</textarea>', '</title>', '--> ', '</script>', '\u202e\u2066', 'a\u0301'.repeat(12), '\r\nSet-Cookie: a=b\r\n\r\n',
  'data: x\n\nevent: turn\n', '=cmd|x!A1 ', '\u001b[31m', 'javascript:f(0)//', '__proto__ ', '{{constructor.constructor("f(0)")()}} ', '</td></tr></table>',
];

export const count = 200;
export const payload = (i) => exits[Math.floor(i / ways.length) % exits.length] + ways[i % ways.length](i);
// One that fits a name of Discord, and a file's.
export const short = (i) => ways[i % 6](i).slice(0, 40);

if (process.argv[2] === '--json') console.log(JSON.stringify({ payloads: Array.from({ length: count }, (_, i) => payload(i)), names: Array.from({ length: count }, (_, i) => short(i)) }));
