// tee.mjs FILE PROGRAM…: runs PROGRAM with node and keeps what comes on stdin and what goes to stdout, a line each, in FILE.
import { appendFileSync } from 'node:fs';
import { spawn } from 'node:child_process';

const [file, ...program] = process.argv.slice(2);
const child = spawn(process.execPath, program, { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.on('data', (d) => { appendFileSync(file, d); child.stdin.write(d); });
process.stdin.on('end', () => child.stdin.end());
child.stdout.on('data', (d) => { appendFileSync(`${file}.back`, d); process.stdout.write(d); });
child.on('exit', (status) => process.exit(status ?? 1));
