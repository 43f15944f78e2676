// The judge of false_words finds planted falsehoods of every kind, and nothing in what is true.
import { judge, LATE, repeated, SLACK, unsaid } from './judge.mjs';

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
const LOST = 'I lost the connection to this call and am trying to get back.', BACK = 'I am back in the call.';
room('lost a call, and mediad was', LOST, { up: [], kept: [] }, { up: [], kept: [], mediads: [{ from: 0, to: at - 15000 }, { from: at - 200, to: at + 20000 }] });
room('left the call, and is up', 'I was disconnected from the call. /join brings me back.', { up: [] }, {});
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
{
  const got = find({ where: 'room', text: LOST }, truth({ kept: [] }), []);
  if (got.length === 1) passed += 1;
  else { failed += 1; console.log(`FAIL lost a call that is up: ${JSON.stringify(got)}`); }
}
// The slack: a sentence may be late, and not later.
for (const [late, n] of [[SLACK - 100, 0], [SLACK + 100, 1]]) {
  const got = find({ where: 'room', text: 'I am back in the call.' }, truth({ up: [{ from: 0, to: at - late }] }), []);
  if (got.length === n) passed += 1;
  else { failed += 1; console.log(`FAIL ${late} ms late: ${JSON.stringify(got)}`); }
}
// ---- a mute bot, a bot that repeats itself, and one that does as it should ----
const always = [{ from: 0, to: Infinity }];
const quiet = { up: always, kept: always, mediads: always, muted: [], wanted: always, controls: always, mains: always, starts: [0], until: 400000 };
const hole = (from, to) => [{ from: 0, to: from }, { from: to, to: Infinity }];
const lines = (...list) => list.map(([t, text]) => ({ at: t, where: 'room', text }));
const STOPPED = 'The part of me that hears and speaks has stopped. I come back as soon as it runs again.', RUNS = 'The part of me that hears and speaks runs again.';
const MUTED = 'I am muted by the server: I hear you, but nobody hears me until a moderator unmutes me.', UNMUTED = 'I am no longer muted.';
// counts NAME SENTENCES OVER [MISSING, TWICE]
function counts(name, said, over, want) {
  const t = { ...quiet, ...over };
  const got = [unsaid(said, t).length, repeated(said, t).length];
  if (got.join() === want.join()) passed += 1;
  else { failed += 1; console.log(`FAIL ${name}: ${got}, not ${want}: ${JSON.stringify(unsaid(said, t))}`); }
}
const lost = { up: hole(50000, 80000), kept: hole(50000, 80000) };
const dead = { mediads: hole(50000, 80000), up: hole(50000, 81000), kept: hole(50000, 81000) };
const mute = { muted: [{ from: 50000, to: 60000 }] };
for (const [name, over, begin, end] of [['a lost call', lost, LOST, BACK], ['a dead mediad', dead, STOPPED, RUNS], ['muted', mute, MUTED, UNMUTED]]) {
  const to = name === 'muted' ? 62500 : 82500;
  const at = name === 'muted' ? 52100 : 60100;
  counts(`${name}: nobody says it`, [], over, [1, 0]);
  counts(`${name}: told`, lines([at, begin], [to, end]), over, [0, 0]);
  counts(`${name}: too late`, lines([at + LATE + 200, begin], [to, end]), over, [1, 0]);
  counts(`${name}: the end is missing`, lines([at, begin]), over, [1, 0]);
  counts(`${name}: the begin twice`, lines([at, begin], [at + 900, begin], [to, end]), over, [0, 1]);
  counts(`${name}: the end twice`, lines([at, begin], [to, end], [to + 900, end]), over, [0, 1]);
  counts(`${name}: nobody wants the bot there`, [], { ...over, wanted: [] }, [0, 0]);
  counts(`${name}: no control`, [], { ...over, controls: hole(51000, 79000) }, [0, 0]);
  counts(`${name}: told again by another control`, lines([at, begin], [at + 900, begin], [to, end]), { ...over, starts: [0, at + 500] }, [0, 0]);
}
counts('a short outage', [], { kept: hole(50000, 59000), up: hole(50000, 59000) }, [0, 0]);
counts('another outage within a minute', lines([60100, LOST], [72500, BACK]), { kept: [{ from: 0, to: 50000 }, { from: 70000, to: 80000 }, { from: 95000, to: Infinity }] }, [0, 0]);
counts('mediad dies before the call was well', lines([60100, LOST], [91000, STOPPED], [122200, RUNS], [122300, BACK]), { up: hole(50000, 80000), kept: hole(50000, 80000), mediads: hole(81000, 120000) }, [0, 0]);
counts('a sentence that is none of an outage, twice', lines([1000, 'I was restarted before my answer was complete. Please ask again.'], [9000, 'I was restarted before my answer was complete. Please ask again.']), {}, [0, 1]);
const asks = (text) => [{ asked: 99000, at: 99500, where: 'status', text }];
counts('no answer to /status', asks(undefined), {}, [1, 0]);
counts('none without the main gateway', asks(undefined), { mains: hole(98000, 103000) }, [0, 0]);
counts('a /status that says nothing', asks('Hello.'), {}, [1, 0]);
counts('a /status that does not say that it is muted', asks('**Call:** up in <#1>.'), { muted: [{ from: 90000, to: 93000 }, { from: 95000, to: 120000 }] }, [2, 0]);

console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exit(failed ? 1 : 0);
