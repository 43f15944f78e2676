// Servers of the Model Context Protocol from npm against our client (build/tests/mcp), jailed as control jails them: both eras, programs
// and HTTP.
import net from 'node:net';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { check, main, ready, until } from './lib.mjs';

const modules = realpathSync('node_modules');
const path = (name) => `${modules}/@modelcontextprotocol/${name}/dist/index.js`;
const node = realpathSync(process.execPath);

// The lines that the client prints for a server and calls of its tools.
async function freePort() {
  const s = net.createServer().listen(0, '127.0.0.1');
  await once(s, 'listening');
  const { port } = s.address();
  s.close();
  return port;
}

async function ask(server, ...calls) {
  const args = calls.flatMap(([tool, a]) => [tool, JSON.stringify(a ?? {})]);
  const p = spawn(`${process.env.BIN}/tests/mcp`, [typeof server === 'string' ? server : JSON.stringify(server), ...args],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, PLANTED_SECRET: 'hush' } });
  let out = '';
  p.stdout.on('data', (d) => { out += d; });
  p.stderr.resume();
  const [status] = await once(p, 'close');
  return { out, status };
}
const program = (name, command, more = {}) => ({ name, command: [node, ...command], read: [modules, ...(more.read ?? [])], ...more.rest });

async function serve(args, ready, env = {}) {
  const p = spawn(node, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  let errors = '';
  p.stderr.on('data', (d) => { errors += d; });
  const lines = createInterface({ input: p.stdout });
  const found = await new Promise((resolve) => {
    const look = () => { const m = ready(errors); if (m) resolve(m); };
    lines.on('line', (l) => { const m = ready(l); if (m) resolve(m); });
    p.stderr.on('data', look);
    p.on('exit', () => resolve(undefined));
    setTimeout(() => resolve(undefined), 20000).unref();
  });
  return { found, errors: () => errors, stop: () => p.kill() };
}

async function everything() {
  const server = program('everything', [path('server-everything'), 'stdio']);
  const { out, status } = await ask(server, ['echo', { message: 'hi' }], ['get-sum', { a: 2, b: 3 }], ['echo'], ['get-env'],
    ['trigger-long-running-operation', { duration: 1, steps: 2 }], ['cancel:trigger-long-running-operation', { duration: 3, steps: 3 }],
    ['get-structured-content', { location: 'New York' }], ['get-tiny-image']);
  check('everything: a program of the legacy era', status === 0 && /ready: .* 2025-11-25/.test(out), out.slice(0, 200));
  check('everything: text, progress, structured content, images', /done: Echo: hi/.test(out) && /The sum of 2 and 3 is 5/.test(out)
    && /progress: 0.50/.test(out) && /temperature/.test(out) && /\[an image: image\/png\]/.test(out), out.slice(-600));
  check('everything: wrong arguments are the tool\'s failure', /failed: .*Invalid/.test(out));
  check('everything: a call is cancelled', /cancelled: stopped/.test(out));
  check('everything: its environment is PATH and HOME', /"PATH"/.test(out) && /"HOME"/.test(out) && !/hush|PLANTED/.test(out));
}

async function memory() {
  const dir = mkdtempSync('/tmp/parley-mcp-');
  const server = program('memory', [path('server-memory')], { rest: { folder: dir, environment: { MEMORY_FILE_PATH: `${dir}/memory.json` } } });
  const first = await ask(server, ['create_entities', { entities: [{ name: 'Ann', entityType: 'person', observations: ['likes tea'] }] }]);
  const again = await ask(server, ['search_nodes', { query: 'tea' }]);
  check('memory: what it wrote in its folder is there again', first.status === 0 && /likes tea/.test(again.out), again.out.slice(-300));
  check('memory: and on the disk', /likes tea/.test(readFileSync(`${dir}/memory.json`, 'utf8')));
  const files = program('files', [path('server-filesystem'), dir], { rest: { folder: dir } });
  const { out } = await ask(files, ['list_directory', { path: dir }], ['read_text_file', { path: '/etc/passwd' }]);
  check('filesystem: its folder and nothing else', /memory\.json/.test(out) && /failed: /.test(out) && !/root:/.test(out), out.slice(-300));
  rmSync(dir, { recursive: true });
}

async function jail() {
  const script = `const fs=require('fs');const t=(f)=>{try{return String(f())}catch(e){return 'no: '+e.code}};
    require('net').connect(${new URL(ready.control).port},'127.0.0.1').on('error',(e)=>say(e.code)).on('connect',()=>say('reached'));
    const say=(net)=>{const facts=[net,t(()=>fs.readdirSync('/root')),t(()=>fs.readFileSync('/etc/shadow')),t(()=>fs.writeFileSync('/usr/x','')),
      t(()=>fs.readdirSync('/proc').filter((p)=>p>0).length)].join('|');
    require('readline').createInterface({input:process.stdin}).on('line',(l)=>{const m=JSON.parse(l);if(!m.id)return;
      const r=m.method==='initialize'?{protocolVersion:'2025-11-25',capabilities:{tools:{}}}:m.method==='tools/list'?{tools:[{name:'facts',inputSchema:{type:'object'}}]}:
      {content:[{type:'text',text:facts}]};
      console.log(JSON.stringify(m.method==='server/discover'?{id:m.id,error:{code:-32601,message:'x'}}:{id:m.id,result:r}))})};`;
  const facts = async (rest) => /done: (.*)/.exec((await ask({ name: 'facts', command: [node, '-e', script], ...rest }, ['facts'])).out)?.[1] ?? '';
  const jailed = await facts({});
  check('a program reaches no network, no file of others and no process', /^ECONNREFUSED|^ENETUNREACH/.test(jailed)
    && (jailed.match(/no: /g) ?? []).length === 3 && Number(jailed.split('|').pop()) < 5, jailed);
  check('with the network that settings grant it does', (await facts({ network: 'on' })).startsWith('reached'));
}

async function overHttp() {
  const port = await freePort(); // it takes a port and does not tell which one it got
  const old = await serve([path('server-everything'), 'streamableHttp'], (l) => /listening on port (\d+)/.exec(l)?.[1], { PORT: String(port) });
  if (check('everything serves HTTP', old.found !== undefined, old.errors().slice(-200))) {
    const { out } = await ask(`http://127.0.0.1:${port}/mcp`, ['echo', { message: 'hi' }],
      ['cancel:trigger-long-running-operation', { duration: 2, steps: 2 }], ['get-sum', { a: 1, b: 1 }]);
    check('HTTP of the legacy era: a session, streams, a cancelled call', /ready: .* 2025-11-25/.test(out) && /Echo: hi/.test(out)
      && /cancelled/.test(out) && /is 2/.test(out), out.slice(-300));
  }
  old.stop();
}

async function modern() {
  const { out, status } = await ask(program('modern', [realpathSync('mcp/modern.mjs')], { read: [realpathSync('mcp')] }),
    ['echo', { message: 'hi' }], ['cancel:slow']);
  check('a program of the modern era', status === 0 && /ready: modern 2026-07-28/.test(out) && /Echo: hi/.test(out) && /cancelled/.test(out), out);
  const s = await serve([realpathSync('mcp/modern.mjs'), '0'], (l) => /^(\d+)$/.exec(l)?.[1]);
  const http = await ask(`http://127.0.0.1:${s.found}/mcp`, ['echo', { message: 'hi' }], ['cancel:slow'], ['echo', { message: 'bye' }]);
  check('HTTP of the modern era', /ready: modern 2026-07-28/.test(http.out) && /Echo: bye/.test(http.out), http.out);
  check('and closing the response cancels the call there', await until(() => /aborted/.test(s.errors()), 5000));
  s.stop();
}

// The example server of the SDK, whose authorization server registers clients, wants PKCE and checks the resource of a token.
async function withOAuth() {
  const [port, authPort] = [await freePort(), await freePort()];
  const dir = mkdtempSync('/tmp/parley-oauth-');
  const url = `http://localhost:${port}/mcp`;
  const s = await serve([`${modules}/@modelcontextprotocol/sdk/dist/esm/examples/server/simpleStreamableHttp.js`, '--oauth', '--oauth-strict'],
    (l) => /Server listening on port/.test(l) && l.includes(String(port)), { MCP_PORT: String(port), MCP_AUTH_PORT: String(authPort) });
  if (!check('the example server of the SDK with OAuth serves', s.found !== undefined, s.errors().slice(-200))) return;
  process.env.STATE_DIRECTORY = dir;
  const record = { name: 'guarded', transport: 'http', url };
  const before = await ask(record, ['greet', { name: 'Ann' }]);
  check('OAuth: without a sign-in nothing is called', before.status !== 0 && /refused: .*401/.test(before.out) && !/Hello/.test(before.out), before.out);
  writeFileSync(`${dir}/settings.json`, JSON.stringify({ mcp_servers: [record] }));
  const login = spawn(`${process.env.BIN}/control`, ['--mcp-login', 'guarded', '--config', `${dir}/settings.json`, '--state-dir', dir],
    { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  login.stdout.on('data', (d) => { said += d; });
  login.stderr.on('data', (d) => { said += d; });
  const closed = once(login, 'close');
  await until(() => /^http\S+$/m.test(said) || login.exitCode !== null, 20000);
  const link = new URL(/^http\S+$/m.exec(said)?.[0] ?? 'http://none/');
  const has = (name) => link.searchParams.get(name) ?? '';
  check('OAuth: the link has PKCE, a state, the resource and the scope of the metadata', has('code_challenge_method') === 'S256'
    && has('code_challenge').length === 43 && has('state').length === 43 && has('resource') === url && has('scope') === 'mcp:tools', said);
  const forged = await fetch(`${has('redirect_uri')}?code=forged&state=forged`);
  check('OAuth: a code of another sign-in is refused', forged.status === 400, String(forged.status));
  const page = await fetch(link); // the example asks nobody; it sends the browser back
  const [status] = await closed;
  const file = `${dir}/mcp/guarded.json`;
  check('OAuth: control --mcp-login signs in', page.status === 200 && status === 0, said);
  const kept = status === 0 ? JSON.parse(readFileSync(file, 'utf8')) : {};
  check('OAuth: the token is in a file of mode 0600 and was not printed', (statSync(file).mode & 0o777) === 0o600 && kept.access_token?.length > 8
    && !said.includes(kept.access_token), said);
  const { out, status: called } = await ask(record, ['greet', { name: 'Ann' }]);
  check('OAuth: tools are called with the token', called === 0 && /done: Hello, Ann!/.test(out), out);
  writeFileSync(file, JSON.stringify({ ...kept, access_token: 'stale' }));
  const stale = await ask(record, ['greet', { name: 'Ann' }]);
  check('OAuth: a token that is void calls nothing', stale.status !== 0 && !/Hello/.test(stale.out), stale.out);
  s.stop();
  delete process.env.STATE_DIRECTORY;
  rmSync(dir, { recursive: true });
}

main(async () => {
  await everything();
  await memory();
  await jail();
  await modern();
  await overHttp();
  await withOAuth();
}, 240000);
