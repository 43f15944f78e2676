// Judges what the bot tells people by what is true: what is false, what is missing, and what it tells twice. judge_test.mjs shows that it
// finds each of them.
export const SLACK = 1500; // a sentence may be that late or early
export const LATE = 4000; // a sentence that must come may be that late: the machine may be busy
const WELL = 2000; // an outage is over when it has not come back for so long
const AGAIN = 60000; // the begin of an outage is told once in that time
const inside = (list, at) => list.some((x) => at >= x.from - SLACK && at <= x.to + SLACK);
const outside = (list, at) => !list.some((x) => at >= x.from + SLACK && at <= x.to - SLACK);

// The faults in a statement: { at, where: 'room' or 'status', text, people }, and all statements. truth has intervals of the wall clock,
// { from, to }: the bot's voice session is connected (up), or kept (kept), Discord lists it in a channel (listed), mediad runs
// (mediads), the bot is muted (muted); brain: its provider can be reached;
// cut: control ended while somebody waited for an answer; full: the disk of its state is full;
// starts: when control started.
export function judge(s, truth, said) {
  const wrong = [];
  if (s.text === undefined) return wrong; // a command that was not answered: see unsaid
  let known = s.where !== 'room';
  const say = (pattern, ok, why) => {
    if (!pattern.test(s.text)) return;
    known = true;
    if (!ok()) wrong.push(why);
  };
  if (s.where === 'room') {
    say(/^I am back in the call/, () => inside(truth.up, s.at), 'it says that it is back, and is not');
    say(/^I lost the connection/, () => outside(truth.up, s.at), 'it says that the call is lost, and it is up');
    // The outage of a mediad is told as such, and the call follows it.
    say(/^I lost the connection/, () => both(gaps(truth.kept), truth.mediads).some((o) => s.at >= o.from + 10000 - SLACK && s.at <= o.to + SLACK), 'it says that the call is lost, and mediad was');
    say(/speaks has stopped/, () => outside(truth.mediads, s.at), 'it says that mediad has stopped, and it runs');
    say(/speaks runs again/, () => inside(truth.mediads, s.at), 'it says that mediad runs, and it does not');
    say(/^I am muted/, () => inside(truth.muted, s.at), 'it says that it is muted, and is not');
    say(/no longer muted/, () => outside(truth.muted, s.at), 'it says that it is not muted, and is');
    say(/end-to-end encrypted/, () => false, 'it speaks of encryption that did not change');
    say(/^I cannot reach the service that thinks/, () => !truth.brain, 'it says that its provider is out of reach, and it is not');
    say(/^I was restarted before my answer/, () => inside(truth.cut, s.at), 'it says that an answer was cut, and none was');
    say(/^I was restarted while a worker/, () => false, 'it says that a task ended, and there was none');
    say(/^The disk where I run is full/, () => inside(truth.full, s.at), 'it says that the disk is full, and it is not');
    say(/^There is room on the disk again/, () => outside(truth.full, s.at), 'it says that the disk has room, and it has none');
    say(/^I was disconnected from the call|^I could not get back into the call/, () => outside(truth.up, s.at), 'it says that it left the call, and it is up');
    // A sentence that nobody judges would count as true.
    if (!known) wrong.push('the judge does not know this sentence');
  } else {
    // A lost connection leaves the session and its sound, if it is said that it is being reconnected.
    say(/\*\*Call:\*\* up/, () => inside(/reconnecting in the background/.test(s.text) ? truth.kept : truth.up, s.at), 'status says up, and there is no session');
    say(/\*\*Call:\*\* (not up|none)/, () => outside(truth.up, s.at), 'status says not up, and there is a session');
    say(/\*\*Call:\*\* none/, () => outside(truth.listed, s.at), 'status says none, and Discord lists it');
    say(/0 of 1 audio processes/, () => outside(truth.mediads, s.at), 'status misses a mediad that runs');
    say(/nobody but me/, () => s.people === 0, 'status says that it is alone');
    say(/I am muted by the server/, () => inside(truth.muted, s.at), 'status says muted');
    say(/as in every stage/, () => false, 'status speaks of a stage');
    if (/\*\*Call:\*\* up/.test(s.text) && !/audio processes/.test(s.text) && !inside(truth.mediads, s.at)) wrong.push('status does not tell a dead mediad');
    // It counts since control started.
    const since = truth.starts.filter((t) => t <= s.at + SLACK).at(-1) ?? 0;
    if (/Faults:\*\* none/.test(s.text) && said.some((x) => x.where === 'room' && x.at > since + SLACK && x.at < s.at - SLACK && /lost the connection|has stopped|am muted/.test(x.text)))
      wrong.push('status says no faults after one was told');
  }
  return wrong;
}

// ---- what is missing ----
const both = (a, b) => a.flatMap((x) => b.map((y) => ({ from: Math.max(x.from, y.from), to: Math.min(x.to, y.to) }))).filter((x) => x.from < x.to);
const gaps = (list) => [...list, { from: Infinity }].map((x, i) => ({ from: i ? list[i - 1].to : -Infinity, to: x.from })).filter((x) => x.from < x.to);
// The outages that the bot reports in the room: the sentences at the begin and the end, how long the outage lasts before the report, and
// when it lasts. The call is lost where there is a mediad that could hold it.
const outages = [
  { begins: /speaks has stopped/, ends: /speaks runs again/, wait: 10000, lasts: (t) => gaps(t.mediads) },
  { begins: /^I lost the connection to this call/, ends: /^I am back in the call/, wait: 10000, lasts: (t) => both(gaps(t.kept), t.mediads) },
  { begins: /^I am muted/, ends: /no longer muted/, wait: 2000, lasts: (t) => both(t.muted, t.up) },
];
const inRoom = (said, pattern) => said.filter((s) => s.where === 'room' && pattern.test(s.text)).map((s) => s.at);

// Sentences that had to be said and were not. truth also has: wanted, when somebody wanted the bot in the call; controls, when a control
// ran; until, when the record ends. A control that is started later need not know what the one before it told.
export function unsaid(said, truth) {
  const missing = [];
  const present = both(truth.wanted, truth.controls);
  for (const { begins, ends, wait, lasts } of outages) {
    const told = inRoom(said, begins);
    const over = inRoom(said, ends);
    const alone = (at) => present.find((p) => at >= p.from && at <= p.to);
    for (const o of both(lasts(truth), present)) {
      const before = told.filter((t) => t < o.from);
      const due = Math.max(o.from + wait, before.length ? before.at(-1) + AGAIN : 0) + LATE;
      if (due <= Math.min(o.to, truth.until) && !told.some((t) => t >= o.from - SLACK && t <= due)) missing.push({ at: o.from, what: `${begins} after ${Math.round(o.to - o.from)} ms` });
    }
    for (const t of told) {
      const here = alone(t);
      const end = lasts(truth).filter((o) => o.to > t - SLACK && o.from < t).map((o) => o.to)[0];
      const due = end + WELL + LATE;
      // While mediad is away nobody knows whether the call is well.
      const back = [...lasts(truth), ...gaps(truth.mediads)].some((o) => o.from >= end && o.from <= due);
      if (here && end >= here.from && due <= Math.min(here.to, truth.until) && !back && !over.some((x) => x >= t && x <= due)) missing.push({ at: t, what: `${ends} after its outage` });
    }
  }
  // Commands that were not answered although a control was there, connected to the main gateway.
  const answers = both(truth.controls, truth.mains);
  for (const s of said) {
    if (s.where === 'status' && s.text === undefined && answers.some((p) => s.asked >= p.from + SLACK && s.at <= p.to - SLACK)) missing.push({ at: s.asked, what: 'an answer to /status' });
    if (s.where === 'status' && s.text !== undefined && !/\*\*Call:\*\*/.test(s.text)) missing.push({ at: s.at, what: 'the call in /status' });
    if (s.where === 'status' && s.text !== undefined && both(truth.muted, truth.up).some((o) => s.at >= o.from + SLACK && s.at <= o.to - SLACK) && !/muted by the server/.test(s.text))
      missing.push({ at: s.at, what: 'muted in /status' });
  }
  return missing;
}

// Sentences that were told twice: the begin of an outage without its end in between, or the end. A new control, or a new wish to have the
// bot in the call, starts over.
export function repeated(said, truth) {
  const twice = [];
  const resets = [...truth.starts, ...truth.wanted.map((w) => w.from)];
  const isNew = (a, b) => resets.some((r) => r > a && r <= b);
  const room = said.filter((s) => s.where === 'room').sort((a, b) => a.at - b.at);
  const last = new Map(); // of each outage, or each sentence that is none's
  for (const s of room) {
    const of = outages.find((o) => o.begins.test(s.text) || o.ends.test(s.text));
    const key = of ?? s.text;
    const part = of ? of.begins.test(s.text) : true;
    const before = last.get(key);
    if (before && before.part === part && !isNew(before.at, s.at)) twice.push(s);
    last.set(key, { at: s.at, part });
  }
  return twice;
}
