// Judges what the bot tells people by what is true. judge_test.mjs shows that it finds what is false.
export const SLACK = 1500; // a sentence may be that late or early
const inside = (list, at) => list.some((x) => at >= x.from - SLACK && at <= x.to + SLACK);
const outside = (list, at) => !list.some((x) => at >= x.from + SLACK && at <= x.to - SLACK);

// The faults in a statement: { at, where: 'room' or 'status', text, people }, and all statements. truth has intervals of the wall clock,
// { from, to }: the bot's voice session is connected (up), or kept (kept), Discord lists it in a channel (listed), mediad runs
// (mediads), the bot is muted (muted); brain: its provider can be reached;
// cut: control ended while somebody waited for an answer; full: the disk of its state is full;
// starts: when control started.
export function judge(s, truth, said) {
  const wrong = [];
  let known = s.where !== 'room';
  const say = (pattern, ok, why) => {
    if (!pattern.test(s.text)) return;
    known = true;
    if (!ok()) wrong.push(why);
  };
  if (s.where === 'room') {
    say(/^I am back in the call/, () => inside(truth.up, s.at), 'it says that it is back, and is not');
    say(/^I lost the connection to this call/, () => outside(truth.up, s.at), 'it says that the call is lost, and it is up');
    say(/speaks has stopped/, () => outside(truth.mediads, s.at), 'it says that mediad has stopped, and it runs');
    say(/speaks runs again/, () => inside(truth.mediads, s.at), 'it says that mediad runs, and it does not');
    say(/^I am muted/, () => inside(truth.muted, s.at), 'it says that it is muted, and is not');
    say(/no longer muted/, () => outside(truth.muted, s.at), 'it says that it is not muted, and is');
    say(/end-to-end encrypted/, () => false, 'it speaks of encryption that did not change');
    say(/^I cannot reach the service that thinks/, () => !truth.brain, 'it says that its provider is out of reach, and it is not');
    say(/^I was restarted before my answer/, () => inside(truth.cut, s.at), 'it says that an answer was cut, and none was');
    say(/^The disk where I run is full/, () => inside(truth.full, s.at), 'it says that the disk is full, and it is not');
    say(/^There is room on the disk again/, () => outside(truth.full, s.at), 'it says that the disk has room, and it has none');
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
