// The official conformance suite of the Model Context Protocol against our client (build/tests/mcp): all client scenarios but those of
// authorization and of extensions. The suite needs a newer Node than Debian's, which npm supplies.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { check, main } from './lib.mjs';

const dir = new URL('mcp/', import.meta.url).pathname;
const node = ['x64', 'arm64'].map((a) => `${dir}node_modules/node-linux-${a}/bin/node`).find(existsSync) ?? process.execPath;
const suite = `${dir}node_modules/@modelcontextprotocol/conformance/dist/index.js`;

const headers = { region: 'us-west1', priority: 42, verbose: false, debug: true, empty_val: '', method_val: 'test-method',
  float_val: 3.14159, non_ascii_val: 'Hello, 世界', whitespace_val: ' padded ', leading_space_val: ' us-west1',
  trailing_space_val: 'us-west1 ', internal_space_val: 'us west 1', control_char_val: 'line1\nline2', crlf_val: 'line1\r\nline2',
  tab_val: '\tindented', query: 'SELECT * FROM users' };
// The calls of each scenario. "declined": what our client does not do, on purpose (docs/decisions/0078).
const scenarios = [
  { name: 'initialize' },
  { name: 'tools_call', calls: [['add_numbers', { a: 5, b: 3 }]] },
  { name: 'request-metadata' },
  { name: 'http-standard-headers' },
  { name: 'http-custom-headers', calls: [['test_custom_headers', headers],
    ['test_custom_headers_null', { region: 'us-east1', priority: 1, verbose: null, query: 'SELECT 1' }]] },
  { name: 'http-invalid-tool-headers', calls: [['valid_tool', { region: 'us-west1' }]] },
  { name: 'json-schema-ref-no-deref' },
  { name: 'json-schema-2020-12-preservation', calls: [['json_schema_echo', '@json_schema_2020_12_tool']] },
  { name: 'sse-retry', calls: [['test_reconnection', {}]], declined: 'a stream that breaks is not resumed' },
  { name: 'sep-2322-client-request-state', calls: [['test_mrtr_echo_state', {}]], declined: 'a server gets no input of persons' },
  { name: 'elicitation-sep1034-client-defaults', declined: 'a server gets no input of persons' },
];

const quote = (s) => `'${s.replaceAll("'", "'\\''")}'`;

async function run({ name, calls = [] }) {
  const words = calls.flatMap(([tool, a]) => [tool, typeof a === 'string' ? a : JSON.stringify(a)]).map(quote);
  const p = spawn(node, [suite, 'client', '--scenario', name, '--command', ['sh', quote(`${dir}client.sh`), ...words].join(' ')],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env } });
  let out = '';
  p.stdout.on('data', (d) => { out += d; });
  p.stderr.on('data', (d) => { out += d; });
  const [status] = await once(p, 'close');
  return { out, status };
}

await main(async () => {
  for (const s of scenarios) {
    const { out, status } = await run(s);
    const sum = /Passed: .*/.exec(out)?.[0] ?? out.slice(-300);
    if (s.declined) check(`${s.name}: the suite sees that ${s.declined}`, status === 1 && /Passed: \d/.test(out), sum);
    else check(s.name, status === 0, status === 0 ? sum : out.slice(-1500));
  }
}, 300000);
