import { Player, Mic } from './sound.js';

const $ = (id) => document.getElementById(id);
const SHOWN = 50; // turns
const STATES = {
  out: 'Press Join and allow the microphone.',
  joining: 'Joining …',
  up: 'You are in the channel. Speak.',
  failed: 'You are not in the channel.',
};

let socket = null; // while joined or joining
let mic = null;
let player = null;
let muted = false;
let attempt = 0; // number of the attempt to join; older ones are cancelled
const turns = new Map(); // number -> element

// ---- joining and leaving ----

async function join() {
  const mine = ++attempt;
  busy(true);
  trouble('');
  try {
    const opened = await Player.open();
    if (mine !== attempt) return opened.close();
    player = opened;
    const own = await Mic.open(speak, (level) => { $('level').value = level; });
    if (mine !== attempt) return own.close();
    mic = own;
    mic.mute(muted);
    await connect();
    send({ do: 'join', name: $('name').value, rate: mic.rate, muted });
  } catch (e) {
    if (mine !== attempt) return;
    leave();
    trouble(e.message);
  }
}

function connect() {
  return new Promise((resolve, reject) => {
    let open = false;
    socket = new WebSocket(`ws://${location.host}/room`);
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => { open = true; resolve(); };
    socket.onmessage = ({ data }) => (typeof data === 'string' ? told(JSON.parse(data)) : heard(data));
    socket.onclose = ({ reason }) => {
      const why = `The connection to the local room ended${reason ? `: ${reason}` : ''}. Is make talk still running?`;
      if (!open) return reject(new Error(why));
      leave();
      trouble(why);
    };
  });
}

function leave() {
  attempt++;
  if (socket) {
    socket.onclose = socket.onmessage = null;
    if (socket.readyState === WebSocket.OPEN) send({ do: 'leave' });
    socket.close();
  }
  mic?.close();
  player?.close();
  socket = mic = player = null;
  $('level').value = 0;
  busy(false);
  room({ phase: 'out' });
  chat([]);
}

function mute() {
  muted = !muted;
  mic?.mute(muted);
  if (socket?.readyState === WebSocket.OPEN) send({ do: 'mute', on: muted });
  $('mute').setAttribute('aria-pressed', muted);
  $('mute').textContent = muted ? 'Unmute' : 'Mute';
}

function busy(yes) {
  $('join').disabled = $('name').disabled = yes;
  $('leave').disabled = !yes;
}

// ---- messages to and from the bridge ----

function send(order) {
  socket.send(JSON.stringify(order));
}

function speak(frame) {
  if (socket?.readyState === WebSocket.OPEN && !muted && socket.bufferedAmount < 65536) socket.send(frame);
}

function heard(data) {
  if (data.byteLength > 8) player?.hear(new DataView(data).getBigUint64(0, true).toString(), data.slice(8));
}

function told(message) {
  if (message.is === 'room') room(message);
  else if (message.is === 'turn') turn(message);
  else if (message.is === 'chat') chat(message.list);
  else if (message.is === 'trouble') trouble(message.text);
}

function trouble(text) {
  $('trouble').textContent = text;
  $('trouble').hidden = !text;
}

// ---- display ----

function room(r) {
  const people = r.people ?? [];
  $('state').textContent = STATES[r.phase];
  if (r.trouble) trouble(r.trouble);
  $('code').hidden = !r.code;
  $('code').textContent = r.code ? `End-to-end encrypted. Everybody here sees the privacy code ${r.code}.` : '';
  const me = r.phase === 'up' ? [{ ...r, user: r.you, name: `${r.name} (you)` }] : [];
  $('people').replaceChildren(...[...me, ...people].map(person));
  player?.keep(new Set(people.map((p) => p.user)));
}

function person(p) {
  const li = document.createElement('li');
  li.textContent = `${p.name}${p.bot ? ' · bot' : ''}${p.muted ? ' · muted' : ''}`;
  li.classList.toggle('speaking', p.speaking && !p.muted);
  li.classList.toggle('muted', p.muted);
  return li;
}

function chat(list) {
  $('chat').replaceChildren(...list.map((m) => {
    const li = document.createElement('li');
    li.textContent = `${m.name} writes: ${m.text}`;
    return li;
  }));
}

function turn(t) {
  let li = turns.get(t.turn);
  // A new session of the bot numbers its turns from 1 again.
  if (!li || (li.dataset.stage === 'ended' && t.stage !== 'ended')) {
    turns.delete(t.turn);
    li = $('turn').content.firstElementChild.cloneNode(true);
    turns.set(t.turn, li);
    $('turns').prepend(li);
    if (turns.size > SHOWN) {
      const [oldest, element] = turns.entries().next().value;
      turns.delete(oldest);
      element.remove();
    }
  }
  li.dataset.stage = t.stage;
  li.querySelector('.heard b').textContent = t.name;
  li.querySelector('.heard span').textContent = t.heard;
  li.querySelector('.said span').textContent = t.said;
  li.querySelector('.said').hidden = !t.said;
  li.querySelector('.reason').textContent = t.stage === 'ended' ? t.reason : t.stage;
  li.querySelector('.text').textContent = t.stage === 'ended' ? t.text : '';
  li.querySelector('.delay').textContent =
    t.first_audio_ms === null ? '' : `· answered after ${(t.first_audio_ms / 1000).toFixed(1)} s`;
  li.querySelector('table').replaceChildren(...t.why.map(decision));
}

function decision(d) {
  const tr = document.createElement('tr');
  const value = d.limit ? `${d.value} of ${d.limit} ${d.unit}` : d.value ? `${d.value} ${d.unit}` : '';
  for (const text of [d.rule, d.yes ? 'yes' : 'no', value, d.text])
    tr.insertCell().textContent = text;
  return tr;
}

$('door').onsubmit = (event) => {
  event.preventDefault();
  join();
};
$('leave').onclick = leave;
$('mute').onclick = mute;
