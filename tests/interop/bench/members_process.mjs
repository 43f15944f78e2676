// The davey members of rekey.mjs, in a process of their own, because they use whole cores when a group changes and must not slow
// down the measurement. Receives {sing}, {churn: user}, {stop}; sends {ready, codes}.
import { npmMember } from '../members.mjs';
import { singOn } from './watch.mjs';

// @discordjs/voice's keepalive can outlive its socket when a member leaves early; this error does not affect the figures.
process.on('uncaughtException', (e) => { if (e.code !== 'ERR_SOCKET_DGRAM_NOT_RUNNING') throw e; });

const { channel, users } = JSON.parse(process.argv[2]);
const members = [];
for (const u of users) {
  members.push(npmMember(u, channel));
  await members.at(-1).ready(20000);
}
let songs = [];
const here = new Map();
process.on('message', async (m) => {
  if (m.codes) process.send({ codes: members.map((x) => x.code()) });
  if (m.sing) songs = members.map((x, i) => singOn(x, 300 + 40 * i));
  if (m.churn) {
    const there = here.get(m.churn);
    if (there) {
      here.delete(m.churn);
      there.then((x) => x.leave()).catch(() => {});
    } else {
      const x = npmMember(m.churn, channel);
      here.set(m.churn, x.ready(20000).then(() => x, () => x));
    }
  }
  if (m.stop) {
    songs.forEach((s) => s.stop());
    setTimeout(() => process.exit(0), 500);
  }
});
process.send({ ready: true });
