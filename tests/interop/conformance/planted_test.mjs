// The cases of `make conformance` find clients that are wrong on purpose: one that crashes where it should stay away, one without
// heartbeats, one without sound, one that does not return to its group. The same client as it is is right in each of these cases.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { check, main } from '../lib.mjs';

const CASES = [
  ['crash', /it crashed/, ['no_loop_4017', 'kicked', 'wait_4021', 'downgrade']],
  ['crash_4022', /it crashed/, ['deleted_4022']],
  ['numb', /heartbeats came|left the session/, ['heartbeat', 'unknown_op', 'old_messages', 'seq_wrap']],
  ['still', /^0 packets|not audible|no stream/, ['pace', 'downgrade']],
  ['stubborn', /sent no op 31/, ['bad_commit']],
];

async function play(plant, cases) {
  const p = spawn(process.execPath, [new URL('conformance.mjs', import.meta.url).pathname],
    { env: { ...process.env, PEER: 'discord.js', PLANT: plant, CASES: cases.join() }, stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  p.stdout.on('data', (d) => { out += d; });
  await once(p, 'close');
  return Object.fromEntries(out.split('\n').filter((l) => /^(right|WRONG)/.test(l)).map((l) => [l.split(/ +/)[1], l]));
}
await main(async () => {
  for (const [plant, fault, cases] of CASES) {
    const lines = await play(plant, cases);
    for (const name of cases) {
      const line = lines[name] ?? 'it was not played';
      check(`a client that is wrong (${plant}) is found by ${name}`, /^WRONG/.test(line) && fault.test(line.split('): ').pop()), line);
    }
  }
}, 600000);
