// The example agent of the official SDK of the Agent Client Protocol against our client (build/tests/acp), jailed as control jails it.
// Every message that our client sends must be valid by the schema that the SDK publishes.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import Ajv2020 from 'ajv/dist/2020.js';
import { check, main } from './lib.mjs';

const modules = realpathSync('node_modules');
const sdk = `${modules}/@agentclientprotocol/sdk`;
const node = realpathSync(process.execPath);
const schema = JSON.parse(readFileSync(`${sdk}/schema/schema.json`, 'utf8'));
const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
ajv.addSchema(schema, 'acp');

// Which definition a message of ours must fit, by its method, or by the method that it answers.
const requests = { initialize: 'InitializeRequest', 'session/new': 'NewSessionRequest', 'session/prompt': 'PromptRequest',
  'session/cancel': 'CancelNotification' };
const answers = { 'session/request_permission': 'RequestPermissionResponse' };

function faults(sent, received) {
  const asked = new Map(received.filter((m) => m.method && m.id !== undefined).map((m) => [m.id, m.method]));
  return sent.flatMap((m) => {
    const name = m.method ? requests[m.method] : answers[asked.get(m.id)];
    if (!name) return m.error ? [] : [`not expected: ${JSON.stringify(m)}`];
    const ok = m.jsonrpc === '2.0' && ajv.validate(`acp#/$defs/${name}`, m.method ? m.params : m.result);
    return ok ? [] : [`${name}: ${ajv.errorsText()} in ${JSON.stringify(m)}`];
  });
}

async function work(program, tasks, more = {}) {
  const dir = mkdtempSync('/tmp/parley-acp-');
  const record = { name: 'worker', command: [node, realpathSync('acp/tee.mjs'), `${dir}/sent`, ...program], read: [modules, realpathSync('acp')],
    folder: dir, ...more };
  const p = spawn(`${process.env.BIN}/tests/acp`, [JSON.stringify(record), ...tasks], { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  p.stdout.on('data', (d) => { out += d; });
  p.stderr.resume();
  const [status] = await once(p, 'close');
  const lines = (f) => { try { return readFileSync(f, 'utf8').trim().split('\n').map((l) => JSON.parse(l)); } catch { return []; } };
  const sent = lines(`${dir}/sent`), received = lines(`${dir}/sent.back`);
  rmSync(dir, { recursive: true });
  return { out, status, sent, received };
}

main(async () => {
  const agent = [`${sdk}/dist/examples/agent.js`];
  const refused = await work(agent, ['mend it', 'and again']);
  check('two tasks in one session, whose edits are refused', refused.status === 0
    && (refused.out.match(/^done: .*I'll help you/gm) ?? []).length === 2 && /progress: Reading project files/.test(refused.out)
    && (refused.out.match(/skip the configuration update/g) ?? []).length === 2, refused.out.slice(-500));
  check('one session for both', refused.sent.filter((m) => m.method === 'session/new').length === 1);
  const allowed = await work(agent, ['mend it'], { permissions: 'all' });
  check('an edit that the record allows', /successfully updated the configuration/.test(allowed.out), allowed.out.slice(-500));
  const stopped = await work(agent, ['cancel:mend it', 'mend it']);
  check('a task that is cancelled, and the next one in the same process', stopped.status === 0 && /^cancelled: /m.test(stopped.out)
    && /^done: /m.test(stopped.out), stopped.out.slice(-500));
  check('the agent was told', stopped.sent.some((m) => m.method === 'session/cancel'));
  for (const [name, run] of Object.entries({ refused, allowed, stopped })) {
    const wrong = faults(run.sent, run.received);
    check(`every message is valid (${name})`, run.sent.length > 3 && wrong.length === 0, wrong[0] ?? '');
  }
  check('the judge of messages finds faults', faults([{ jsonrpc: '2.0', id: 1, method: 'session/prompt', params: { sessionId: 's' } }], []).length === 1);
  const gone = await work([`${sdk}/none.js`], ['mend it']);
  check('an agent that is not there is told', gone.status === 1 && /ended: its program ended/.test(gone.out), gone.out.slice(-300));
}, 120000);
