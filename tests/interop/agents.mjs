// Two agents of the Agent Client Protocol from npm, Qwen Code and Codex, against our client (acp/agent.mjs). Their models are stand-ins
// (build/standin), so nothing leaves this machine.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { check, main, until } from './lib.mjs';
import { faults, work } from './acp/agent.mjs';

const modules = realpathSync('agents/node_modules');
const run = mkdtempSync('/tmp/parley-agents-');
const standins = [];

async function standin(provider, script) {
  const dir = `${run}/${provider}`;
  writeFileSync(`${dir}.script`, script.join('\n'));
  standins.push(spawn(`${process.env.BIN}/standin`, [provider, '--script', `${dir}.script`, '--record', dir, '--port-file', `${dir}.port`],
    { stdio: 'ignore' }));
  const port = await until(() => existsSync(`${dir}.port`) && readFileSync(`${dir}.port`, 'utf8').trim(), 20000);
  return `http://127.0.0.1:${port}/v1`;
}
const count = (out, pattern) => (out.match(pattern) ?? []).length;
function judge(name, r) {
  const wrong = faults(r.sent, r.received);
  check(`${name}: every message of ours is valid`, r.sent.length > 3 && wrong.length === 0, wrong[0] ?? '');
}

async function qwen() {
  const url = await standin('chat', ['answer capital => Paris is the capital.', 'answer tired => It is late.',
    'answer note please => call write_file {"file_path":"/tmp/note.txt","content":"hello"}']);
  const program = [`${modules}/@qwen-code/qwen-code/cli.js`, '--acp', '--auth-type', 'openai'];
  const more = { read: [modules], network: 'on', environment: { OPENAI_API_KEY: 'key', OPENAI_BASE_URL: url, OPENAI_MODEL: 'model',
    QWEN_CODE_NO_RELAUNCH: '1' } };
  const done = await work(program, ['What is the capital of France?', 'I am tired'], more);
  check('qwen-code: two tasks in one session', done.status === 0 && /^done: Paris is the capital/m.test(done.out)
    && /^done: It is late/m.test(done.out) && count(JSON.stringify(done.sent), /session\/new/g) === 1, done.out.slice(-500));
  judge('qwen-code', done);
  const refused = await work(program, ['note please'], more);
  check('qwen-code: a file that it may not write', /^done: The tool says .*cancel/m.test(refused.out)
    && refused.received.some((m) => m.method === 'session/request_permission'), refused.out.slice(-500));
  judge('qwen-code, refused', refused);
  const allowed = await work(program, ['note please'], { ...more, permissions: 'all' });
  check('qwen-code: a file that it may write', /^done: .*wrote to new file: .tmp.note\.txt/m.test(allowed.out), allowed.out.slice(-500));
  judge('qwen-code, allowed', allowed);
}

async function codex() {
  const url = await standin('responses', ['answer capital => Paris is the capital.', 'answer tired => It is late.', 'response 3 silent']);
  const config = { model_provider: 'standin', model: 'model', model_providers: { standin: { name: 'standin', base_url: url, wire_api: 'responses' } } };
  const program = [`${modules}/@agentclientprotocol/codex-acp/dist/index.js`];
  const more = { read: [modules], network: 'on', environment: { OPENAI_API_KEY: 'key', NO_BROWSER: '1', MODEL_PROVIDER: 'standin',
    CODEX_CONFIG: JSON.stringify(config) } };
  const done = await work(program, ['What is the capital of France?', 'I am tired', 'cancel:think for ever'], more);
  check('codex: two tasks in one session', /^done: [^]*Paris is the capital/m.test(done.out) && /^done: [^]*It is late/m.test(done.out)
    && count(JSON.stringify(done.sent), /session\/new/g) === 1, done.out.slice(-700));
  check('codex: a task is cancelled while its model thinks', done.status === 0 && /^cancelled: /m.test(done.out)
    && done.sent.some((m) => m.method === 'session/cancel'), done.out.slice(-500));
  judge('codex', done);
}

main(async () => {
  try {
    await qwen();
    await codex();
  } finally {
    standins.forEach((p) => p.kill());
    rmSync(run, { recursive: true });
  }
}, 180000);
