// Starts stand-ins of providers (tests/standins) and reads what they recorded.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';

const bin = process.env.BIN ?? '../../build';
const running = new Set();
process.on('exit', () => running.forEach((s) => s.kill()));

// { port, record(): the lines of events.jsonl, folder, stop(): its exit code }. script: lines, as in tests/standins/script.h.
export async function standin(provider, { script = '', key } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'standin-'));
  const file = join(folder, 'script');
  writeFileSync(file, script);
  const args = [provider, '--script', file, '--record', join(folder, 'record'), '--log', 'warn'];
  if (key) args.push('--key', key);
  const child = spawn(join(bin, 'standin'), args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const s = {
    folder: join(folder, 'record'),
    record: () => readFileSync(join(folder, 'record', 'events.jsonl'), 'utf8').trim().split('\n').map((l) => JSON.parse(l)),
    kill: () => { child.kill('SIGKILL'); rmSync(folder, { recursive: true, force: true }); },
    stop: async () => {
      child.kill('SIGTERM');
      const [code] = await once(child, 'exit');
      running.delete(s);
      rmSync(folder, { recursive: true, force: true });
      return code;
    },
  };
  running.add(s);
  const [line] = await once(child.stdout, 'data');
  s.port = JSON.parse(line).port;
  return s;
}
