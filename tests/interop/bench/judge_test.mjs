// The judge of false_words finds planted falsehoods of every kind, and nothing in what is true.
import { judge, SLACK } from './judge.mjs';

let passed = 0;
let failed = 0;
const at = 100000;
const during = [{ from: at - 20000, to: at + 20000 }]; // whatever it is lasts, and did before
const truth = (over) => ({ up: during, kept: during, listed: during, mediads: during, muted: [], cut: [], full: [], starts: [at - 90000], brain: true, ...over });
const find = (s, t, others) => judge({ at, people: 1, ...s }, t, [...others, { at, ...s }]);
// one NAME WHERE TEXT TRUE FALSE: the sentence is true in the first state of affairs, and false in the second.
function one(name, where, text, good, bad, more = {}, others = []) {
  const right = find({ where, text, ...more.good }, truth(good), more.good ? [] : others);
  const wrong = find({ where, text, ...more.bad }, truth(bad), others);
  for (const [what, ok, got] of [[`${name}: true`, !right.length, right], [`${name}: planted`, wrong.length === 1, wrong]]) {
    if (ok) passed += 1;
    else { failed += 1; console.log(`FAIL ${what}: ${JSON.stringify(got)}`); }
  }
}
const room = (name, text, good, bad) => one(name, 'room', text, good, bad);
const status = (name, text, good, bad, more, others) => one(name, 'status', text, good, bad, more, others);

room('back in a call that is down', 'I am back in the call.', {}, { up: [] });
room('lost a call that is up', 'I lost the connection to this call and am trying to get back.', { up: [] }, {});
room('mediad stopped, and runs', 'The part of me that hears and speaks has stopped. I come back as soon as it runs again.', { mediads: [] }, {});
room('mediad runs, and is dead', 'The part of me that hears and speaks runs again.', {}, { mediads: [] });
room('muted, and is not', 'I am muted by the server: I hear you, but nobody hears me until a moderator unmutes me.', { muted: during }, {});
room('no longer muted, and is', 'I am no longer muted.', {}, { muted: during });
room('provider away, and is there', 'I cannot reach the service that thinks and speaks for me. I keep trying.', { brain: false }, {});
room('an answer was cut, and none was', 'I was restarted before my answer was complete. Please ask again.', { cut: during }, {});
room('the disk is full, and is not', 'The disk where I run is full: I go on, but remember nothing new.', { full: during }, {});
room('there is room, and there is none', 'There is room on the disk again, and I remember again.', {}, { full: during });
status('up without a session', '**Call:** up in <#1>.', {}, { up: [] });
status('reconnecting without a session', '**Call:** up in <#1>.\nup, reconnecting in the background', { up: [] }, { up: [], kept: [] });
status('not up, with a session', '**Call:** not up in <#1>; joined.', { up: [] }, {});
status('none, and Discord lists it', '**Call:** none.', { up: [], listed: [] }, { up: [] });
status('a mediad that runs is missed', '0 of 1 audio processes connected', { mediads: [] }, {});
status('a dead mediad is not told', '**Call:** up in <#1>.', {}, { mediads: [] });
status('alone, and is not', '**Here:** nobody but me.', {}, {}, { good: { people: 0 }, bad: { people: 2 } });
status('muted in status, and is not', 'I am muted by the server: nobody hears me.', { muted: during }, {});
status('no faults after one was told', '**Faults:** none', {}, {}, { good: { people: 1 } }, [{ at: at - 30000, where: 'room', text: 'I am muted by the server' }]);
// Without a state of affairs in which they are true here.
for (const [where, text] of [['room', 'This call is end-to-end encrypted now.'], ['status', '**Encryption:** none end to end, as in every stage.'],
  ['room', 'All is well and the sky is blue.']]) {
  if (find({ where, text }, truth({}), []).length === 1) passed += 1;
  else { failed += 1; console.log(`FAIL not found: ${text}`); }
}
{
  const told = [{ at: at - 30000, where: 'room', text: 'I am muted by the server' }];
  const got = find({ where: 'status', text: '**Faults:** none since I started.' }, truth({ starts: [at - 90000, at - 5000] }), told);
  if (!got.length) passed += 1;
  else { failed += 1; console.log(`FAIL a control that started since has seen no faults: ${JSON.stringify(got)}`); }
}
// The slack: a sentence may be late, and not later.
for (const [late, n] of [[SLACK - 100, 0], [SLACK + 100, 1]]) {
  const got = find({ where: 'room', text: 'I am back in the call.' }, truth({ up: [{ from: 0, to: at - late }] }), []);
  if (got.length === n) passed += 1;
  else { failed += 1; console.log(`FAIL ${late} ms late: ${JSON.stringify(got)}`); }
}
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed ? 1 : 0);
