// strangers_passed: the share of peers × checks of strangers/strangers.mjs that passed.
import { spawnSync } from 'node:child_process';
import { row } from './watch.mjs';

spawnSync(new URL('../strangers/modules.sh', import.meta.url).pathname, { stdio: ['ignore', 'inherit', 'inherit'] });
const { stdout } = spawnSync(process.execPath, [new URL('../strangers/strangers.mjs', import.meta.url).pathname], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
const [, passed, all] = /^strangers_passed \S+ \((\d+) of (\d+)\)$/m.exec(stdout) ?? [];
if (!Number(all)) throw new Error(stdout);
process.stderr.write(stdout);
row('strangers_passed', passed / all, '', { passed: Number(passed), checks: Number(all) });
process.exit(0);
