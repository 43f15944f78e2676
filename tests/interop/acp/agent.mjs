// Shared by the scripts that hand tasks to agents of others: our client (build/tests/acp) with one agent, jailed as control jails it,
// and the judge of what our client sends, by the schema that the SDK publishes.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import Ajv2020 from 'ajv/dist/2020.js';

export const modules = realpathSync('node_modules');
export const sdk = `${modules}/@agentclientprotocol/sdk`;
const node = realpathSync(process.execPath);
const schema = JSON.parse(readFileSync(`${sdk}/schema/schema.json`, 'utf8'));
const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
ajv.addSchema(schema, 'acp');

// Which definition a message of ours must fit, by its method, or by the method that it answers.
const requests = { initialize: 'InitializeRequest', 'session/new': 'NewSessionRequest', 'session/prompt': 'PromptRequest',
  'session/cancel': 'CancelNotification' };
const answers = { 'session/request_permission': 'RequestPermissionResponse' };

export function faults(sent, received) {
  const asked = new Map(received.filter((m) => m.method && m.id !== undefined).map((m) => [m.id, m.method]));
  return sent.flatMap((m) => {
    const name = m.method ? requests[m.method] : answers[asked.get(m.id)];
    if (!name) return m.error ? [] : [`not expected: ${JSON.stringify(m)}`];
    const ok = m.jsonrpc === '2.0' && ajv.validate(`acp#/$defs/${name}`, m.method ? m.params : m.result);
    return ok ? [] : [`${name}: ${ajv.errorsText()} in ${JSON.stringify(m)}`];
  });
}

// more: further members of the worker's record. Its folder is one of this run.
export async function work(program, tasks, more = {}) {
  const dir = mkdtempSync('/tmp/parley-acp-');
  const record = { name: 'worker', command: [node, realpathSync('acp/tee.mjs'), `${dir}/sent`, ...program], folder: dir, ...more,
    read: [modules, realpathSync('acp'), ...(more.read ?? [])] };
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
