// text_doubles: written messages that got two answers; text_lost: messages that address the bot and got neither an answer nor a named
// reason, over seeded runs with lost gateway connections, resumes, new sessions, failing REST and kill -9 of control.
//
// A run is one channel with a script of its own, drawn from its seed. CHANNELS runs play at the same time on a stage of their own
// and share the faults, which are drawn from the first seed. Every message holds a word of its own, and the text model, a script in this
// process, answers with the words of the messages that it was asked about: what an answer covers is read from what arrived in the
// channel, without control's help.
//
// Every second batch is one of long downtimes (Apart): how much history is read is as the settings have it by default, and what control kept
// is too old for its session to be resumed, so that it knows nothing of the server before Discord tells. Its channels are in a category
// and in threads that the settings name, with another channel blocked. While it is down, others write so much behind a message that
// it is not among the last 20, or 100.
//
//   BENCH_SEEDS=n   runs in all (500)      SEED=n   the first (1)      LANES=n   batches at a time (2)
//   ONLY=apart      batches of long downtimes alone; `near`, none of these
//   PLANT=…         a test of this bench, which must find what was planted: `double`, an answer arrives twice by another hand; `lost`, an
//                   answer vanishes; `wrong_reason`, it vanishes, and control tells a reason that cannot be; `buried`, others write 300
//                   messages in each channel after its answers, which is no loss; `unread`, control's log is not, and its store has the
//                   reasons
//
// Of each lost message it prints all that happened in its channel and to control.
import { ALICE, BOB, BOT, TOKEN, sleep, until } from '../lib.mjs';
import { seeded } from '../group.mjs';
import { Stage } from './text_stage.mjs';
import { row } from './watch.mjs';

const RUNS = Number(process.env.BENCH_SEEDS ?? 500);
const FIRST = Number(process.env.SEED ?? 1);
const { ONLY, PLANT } = process.env;
const BURIED = 300;
const ASK_STORE_MS = 10000;
const CHANNELS = Math.min(50, PLANT ? RUNS : Math.ceil(RUNS / 2));
const PLAY_MS = 14000;
const SETTLE_MS = 60000;
const STOP = '\u{1f6d1}';
const CAROL = '503';
// The model is asked so often for an answer that fails, and for one that it leaves out.
const TRIES = 3;
const SKIPS = 2;
// The lines that are to be answered: not those that are marked as written meanwhile, and not the note behind them.
function askedOf(text) {
  let on = true;
  return text.split('\n').filter((line) => { if (line.startsWith('(')) on = false; if (line.startsWith('[')) on = true; return on; }).join('\n');
}
const wordsOf = (text) => [...new Set(text.match(/\bq\d+x\d+\b/g) ?? [])];

class Batch extends Stage {
  constructor(first, n, settings = { PARLEY_TEXT_CATCHUP_MESSAGES: '100' }) {
    super({ PARLEY_TEXT_COALESCE_S: '1', PARLEY_TEXT_CATCHUP_REPLIES: '20', ...settings });
    this.first = first;
    this.n = n;
    this.deaf = PLANT === 'unread';
    this.rnd = seeded(first * 2654435761);
    this.sent = []; // { id, words, channel, user, direct, gone, stopped }; words: the first, and one more after an edit
    this.failed = new Map(); // word -> how often the model failed when it was asked about it
    this.skipped = new Map(); // how often it left the answer out
    this.kills = 0;
    this.often = ['kill', 'drop']; // beside one of each kind
    this.faults = [];
  }

  // Answers slowly, not at all, or with a failure, as drawn.
  async answer(last) {
    const draw = this.rnd.below(100);
    const words = wordsOf(askedOf(last));
    const count = (map) => words.forEach((w) => map.set(w, (map.get(w) ?? 0) + 1));
    if (draw >= 5 && draw < 15) count(this.failed);
    if (draw === 99) count(this.skipped);
    await sleep(draw < 5 ? 4000 : this.rnd.below(900));
    if (draw >= 5 && draw < 12) return draw < 9 ? 500 : 429;
    if (draw >= 12 && draw < 15) return null;
    return draw === 99 ? ['[SKIP]'] : ['About ', ...words.map((w) => `${w} `), 'that is all.'];
  }

  async kill(signal) {
    this.kills += 1;
    await super.kill(signal);
  }

  async isDown() { await sleep(this.rnd.below(1500)); }

  // One fault, and for how long it lasts.
  async fault() {
    const { rnd } = this;
    const on = (path, body = {}) => this.api('POST', `/users/${BOT}/${path}`, body);
    const rest = (status, more = {}) => this.api('POST', '/faults', { method: 'POST', contains: '/messages', times: 1 + rnd.below(4), status, ...more });
    const kinds = {
      drop: () => on('drop', { which: 'main' }),
      close: () => on('close', { which: 'main', code: rnd.pick([1001, 4000, 4007, 4009]) }),
      invalid: async () => { await on('invalidate'); await on('drop', { which: 'main' }); },
      away: async () => { await this.api('POST', '/switches', { main_away: 1 }); await on('drop', { which: 'main' }); await sleep(rnd.below(2500)); await this.api('POST', '/switches', { main_away: 0 }); },
      rest500: () => rest(rnd.pick([500, 502, 503])),
      rest429: () => rest(429, { retry_after: 0.2 + rnd.below(10) / 10 }),
      kill: async () => { await this.kill('SIGKILL'); await this.isDown(); await this.start(); },
      term: async () => { await this.kill('SIGTERM'); await this.isDown(); await this.start(); },
    };
    // What is planted has to be told apart from what faults cost.
    const kind = PLANT ? 'drop' : rnd.pick([...Object.keys(kinds), ...this.often]);
    this.faults.push(kind);
    this.note(`fault ${kind}`);
    await kinds[kind]();
  }

  async write(channel, user, kind, word) {
    const texts = { mention: `<@${BOT}> what about ${word}`, named: `parley, what about ${word}?`, ambient: `the bell rang for ${word}` };
    const m = { words: [word], channel, user, direct: kind !== 'ambient' };
    this.sent.push(m);
    m.id = (await this.api('POST', `/channels/${channel}/messages`, { user_id: user, content: texts[kind] })).id;
    this.note(`wrote ${word} channel=${channel} message=${m.id} user=${user} ${kind}`);
    return m;
  }

  // One channel's run.
  async run(i) {
    const seed = this.first + i;
    const rnd = seeded(seed);
    const channel = this.channels[i];
    const acts = 2 + rnd.below(4);
    let k = 0;
    const newWord = () => `q${seed}x${k++}`;
    const write = (user, kind) => this.write(channel, user, kind, newWord());
    await sleep(rnd.below(2000));
    for (let a = 0; a < acts; a++) {
      const user = rnd.pick([ALICE, BOB]);
      const m = await write(user, rnd.pick(['mention', 'mention', 'named', 'ambient']));
      for (let more = rnd.below(6) === 0 ? 1 + rnd.below(2) : 0; more; more--) { await sleep(rnd.below(300)); await write(user, 'mention'); }
      await sleep(rnd.below(1500));
      const then = rnd.below(12);
      if (then === 0) {
        m.words.push(newWord());
        this.note(`edits message=${m.id} channel=${channel} ${m.words[1]}`);
        await this.api('PATCH', `/channels/${channel}/messages/${m.id}`, { content: `<@${BOT}> what about ${m.words[1]}, please` });
      }
      if (then === 1 || then === 2) this.note(`${then === 1 ? 'deletes' : 'stops'} message=${m.id} channel=${channel}`);
      if (then === 1) { await this.api('DELETE', `/channels/${channel}/messages/${m.id}`); m.gone = true; }
      if (then === 2) { await this.api('POST', `/channels/${channel}/messages/${m.id}/reactions`, { user_id: user, emoji: STOP }); m.stopped = true; }
      await sleep(rnd.below(2000));
    }
  }

  // Whether guildd has the whole history still: an answer that it dropped would count for a lost one, and not for a second one.
  async requireHistory() {
    for (const channel of this.channels) {
      const have = new Set((await this.api('GET', `/channels/${channel}/messages`)).map((m) => m.id));
      const dropped = this.sent.find((m) => m.channel === channel && m.id && !m.gone && !have.has(m.id));
      if (dropped) throw new Error(`guildd dropped message ${dropped.id} of channel ${channel}, which has ${have.size} messages`);
    }
  }

  // Lines of the program that name neither a channel nor a message are about all of them.
  explain(m) {
    const about = (line) => line.includes(m.id) || line.includes(m.channel) || m.words.some((w) => line.includes(w)) || !/\b(channel|message)=/.test(line);
    return this.trace.filter(about).map((line) => `    ${line}\n`).join('');
  }

  // How often each word was answered.
  async counts() {
    const count = new Map();
    for (const m of await this.answers()) for (const w of wordsOf(m.content)) count.set(w, (count.get(w) ?? 0) + 1);
    return count;
  }

  // What addresses the bot gets one answer, edited or not. A line of talk may be part of another message's question, and address the bot
  // after an edit.
  twice(m, count) {
    const each = m.words.map((w) => count.get(w) ?? 0);
    return Math.max(...each) > 1 || (m.direct && each.filter((n) => n).length > 1);
  }

  isAnswered(m, count) { return m.words.some((w) => count.get(w)); }

  // Why it was not answered, if that can be: the deletion of this message, a stop sign of its author in the channel, or the model, which
  // failed or left the answer out each time. The end of the program is no reason: the next one goes on.
  refused(m) {
    const most = (map) => Math.max(...m.words.map((w) => map.get(w) ?? 0));
    return (this.reasons.get(m.id) ?? []).find((r) => (r === 'deleted' && m.gone) || (r === 'model_failed' && most(this.failed) >= TRIES) ||
      (r === 'skipped' && most(this.skipped) >= SKIPS) ||
      (r === 'cancelled' && this.sent.some((o) => o.stopped && o.user === m.user && o.channel === m.channel)));
  }

  // Whoever deletes a message before control has seen it is owed nothing.
  lost(count) {
    return this.sent.filter((m) => m.direct && !this.isAnswered(m, count) && !this.refused(m) && !(m.gone && !this.told(m).length));
  }

  told(m) { return (this.reasons.get(m.id) ?? []).filter((r) => r !== 'shutdown'); }

  // Returns the number of messages that it is about.
  async plant() {
    if (PLANT === 'buried') {
      for (const channel of this.channels)
        for (let i = 0; i < BURIED; i++) await this.api('POST', `/channels/${channel}/messages`, { user_id: BOB, content: 'so it went' });
      return 0;
    }
    if (PLANT === 'unread') return 0;
    const answer = (await this.answers()).find((m) => wordsOf(m.content).length);
    if (PLANT !== 'double')
      await this.api('DELETE', `/channels/${answer.channel_id}/messages/${answer.id}`);
    else
      await fetch(`${this.ready.rest}/channels/${answer.channel_id}/messages`, { method: 'POST', body: JSON.stringify({ content: answer.content }),
        headers: { authorization: `Bot ${TOKEN}`, 'user-agent': 'DiscordBot (https://example.org, 1)', 'content-type': 'application/json' } });
    const words = wordsOf(answer.content);
    if (PLANT === 'wrong_reason') for (const m of this.sent) if (m.words.some((w) => words.includes(w))) this.reasons.set(m.id, ['queue_full']);
    return this.sent.filter((m) => m.words.some((w) => words.includes(w)) && (PLANT === 'double' || m.direct)).length;
  }

  // Of what is not answered for some time the store is asked.
  async settles(since) {
    const count = await this.counts();
    for (const m of since > ASK_STORE_MS ? this.lost(count) : []) await this.askWhy(m.id);
    return !this.lost(count).length;
  }

  async play() {
    try {
      await this.open(this.n, (last) => this.answer(last));
      const runs = Promise.all(this.channels.map((_, i) => this.run(i)));
      const end = Date.now() + PLAY_MS;
      while (Date.now() < end) {
        await sleep(300 + this.rnd.below(1500));
        await this.fault();
      }
      await runs;
      const settled = await until(() => this.settles(Date.now() - end), SETTLE_MS, 500);
      await sleep(1500); // for a second answer
      this.planted = PLANT ? await this.plant() : 0;
      await this.requireHistory();
      const count = await this.counts();
      this.out = { doubles: this.sent.filter((m) => this.twice(m, count)), lost: this.lost(count), settled: !!settled,
        answered: this.sent.filter((m) => this.isAnswered(m, count)).length, direct: this.sent.filter((m) => m.direct).length,
        refused: this.sent.filter((m) => m.direct && !this.isAnswered(m, count) && this.refused(m)).length };
      for (const [what, list] of [['DOUBLE', this.out.doubles], ['LOST', this.out.lost]])
        for (const m of list) process.stderr.write(`${what} ${m.words} (message ${m.id}, of ${this.reasons.get(m.id) ?? 'no reason'}; faults ${this.faults.join(' ')})\n${PLANT ? '' : this.explain(m)}`);
    } finally {
      this.close();
    }
    return this.out;
  }
}

// The words of what is written while control is down hold no seed of a run.
let buried = 0;
class Apart extends Batch {
  constructor(first, n) {
    super(first, n, {});
    this.often = Array(12).fill('kill');
    this.buried = 0;
  }

  async makeChannels(guild, n) {
    const make = async (type, name, more) => (await this.api('POST', `/guilds/${guild}/channels`, { type, name, ...more })).id;
    await this.api('POST', '/users', { id: CAROL, name: 'carol' });
    await this.api('POST', `/guilds/${guild}/members`, { user_id: CAROL });
    const category = await make('category', 'inside');
    const parent = await make('text', 'plans');
    for (let i = 0; i < n; i++)
      this.channels.push(i % 3 === 2 ? (await this.api('POST', `/channels/${parent}/threads`, { user_id: ALICE, name: `t${i}` })).id
        : await make('text', `c${i}`, { parent_id: category }));
    this.settings.PARLEY_TEXT_CHANNELS = `${category},${parent}`;
    this.settings.PARLEY_TEXT_BLOCKED_CHANNELS = await make('text', 'closed');
  }

  async isDown() {
    const { rnd } = this;
    const channel = rnd.pick(this.channels);
    const n = rnd.pick([0, 30, 30, 130]);
    this.age();
    this.buried += n ? 1 : 0;
    if (n) await this.write(channel, rnd.pick([ALICE, BOB]), rnd.pick(['mention', 'named']), `q0x${buried++}`);
    for (let i = 0; i < n; i++) await this.api('POST', `/channels/${channel}/messages`, { user_id: CAROL, content: 'so it went' });
  }
}

const sum = { runs: 0, buried: 0, doubles: 0, lost: 0, answered: 0, direct: 0, refused: 0, kills: 0, faults: 0, planted: 0, reasons: {} };
let next = FIRST;
async function lane() {
  while (next < FIRST + RUNS) {
    const first = next;
    const n = Math.min(CHANNELS, FIRST + RUNS - first);
    next += n;
    const apart = ONLY ? ONLY === 'apart' : (first - FIRST) / CHANNELS % 2 === 1 && !PLANT;
    const batch = new (apart ? Apart : Batch)(first, n);
    const out = await batch.play();
    sum.runs += n;
    sum.doubles += out.doubles.length;
    sum.lost += out.lost.length;
    for (const k of ['answered', 'direct', 'refused']) sum[k] += out[k];
    for (const m of batch.sent) { const r = batch.refused(m); if (m.direct && r) sum.reasons[r] = (sum.reasons[r] ?? 0) + 1; }
    sum.kills += batch.kills;
    sum.faults += batch.faults.length;
    sum.planted += batch.planted;
    sum.buried += batch.buried ?? 0;
    process.stderr.write(`seeds ${first} to ${first + n - 1}: ${out.direct} direct, ${out.answered} answered, ${out.refused} with another reason, ${out.doubles.length} doubles, ${out.lost.length} lost\n`);
  }
}
process.on('unhandledRejection', (e) => { process.stderr.write(`${e?.stack ?? e}\n`); process.exit(1); });
await Promise.all(Array.from({ length: Number(process.env.LANES ?? 2) }, lane));
if (PLANT) {
  const got = PLANT === 'double' ? sum.doubles : sum.lost;
  const none = PLANT === 'buried' || (PLANT === 'unread' && sum.refused > 0);
  const ok = got === sum.planted && (got > 0 || none) && (PLANT === 'double' ? sum.lost : sum.doubles) === 0;
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${PLANT}: ${got} found, ${sum.planted} planted`);
  console.log(`${ok ? 1 : 0} passed, ${ok ? 0 : 1} failed, 0 skipped`);
  process.exit(ok ? 0 : 1);
}
const more = { runs: sum.runs, direct: sum.direct, answered: sum.answered, refused: sum.refused, kills: sum.kills, faults: sum.faults, buried: sum.buried, reasons: sum.reasons };
row('text_doubles', sum.doubles, '', more);
row('text_lost', sum.lost, '', more);
process.exit(0);
