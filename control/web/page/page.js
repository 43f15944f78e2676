// The dashboard: state first, then what is seen of it. Text of people reaches the page by textContent alone.

import { makeLive } from "/live.js";
import { keep, node, redraw } from "/nodes.js";
import { makeStream } from "/stream.js";
import { clock, counted, moment, told, when } from "/times.js";
import { makeTurn } from "/turn.js";
import { makeTurns } from "/turns.js";
import { makeViews, ranks } from "/views.js";

const $ = (id) => document.getElementById(id);
const state = {
  who: null, // /api/auth/session
  meanings: { reasons: {}, rules: {}, faults: {} },
  rooms: [],
  room: null, // the guild of the room that is shown
  title: "", // of that room, which stays when the bot leaves it
  drafts: {}, // words for the bot to say that were not sent, by server
  turns: [], // of that room alone
  pages: 1, // of turns that somebody opened
  chosen: null, // id of the turn that is open
  turn: null,
  link: "connecting",
  view: "room", // or the id of a view of views.js
  guilds: [],
  levels: {}, // by server, as the event level
};
const events = [
  "turn_admitted", "turn_speaking", "turn", "session_started", "session_over", "call_state", "mediad_link", "fault",
  "member", "utterance", "asr_session", "tool_began", "tool_called", "memory_written", "engine_up", "engine_down", "failover", "setting_changed", "operator_action", "order_ended", "level",
];

function fill(id, ...children) {
  $(id).replaceChildren(...children.filter(Boolean));
}

const seconds = (ms) => (ms === null || ms === undefined ? "–" : (ms / 1000).toFixed(ms < 10000 ? 2 : 1) + " s");
const dollars = (usd) => "$" + usd.toFixed(usd < 1 ? 4 : 2);
const own = (table, name) => (Object.hasOwn(table, name) ? table[name] : undefined);
const meaning = (reason) => own(state.meanings.reasons, reason) || reason;

// ---- talking to control ----

async function ask(method, path, headers, document) {
  const answer = await fetch(path, {
    method, credentials: "same-origin", cache: "no-store",
    headers: document ? { ...headers, "Content-Type": "application/json" } : headers || {},
    body: document && JSON.stringify(document),
  });
  const body = answer.status === 204 ? null : await answer.json().catch(() => null);

  if (answer.status === 401 && path !== "/api/auth/session") showSignIn();
  if (!answer.ok)
    throw Object.assign(new Error([body?.title || `Error ${answer.status}`, body?.detail].filter(Boolean).join(" ")), { status: answer.status, body });
  return body;
}

// What each part of the page has to say. It stays until that part has better news, whatever the others do.
const said = new Map();

function say(text, part = "page") {
  if (text) said.set(part, text);
  else said.delete(part);
  put("outcome", [...new Set(said.values())].join(" · "));
}

const troubleOf = (e) => (e.status ? e.message : "control does not answer.");

function complain(e, part) {
  if (e.status !== 401) say(troubleOf(e), part);
}

// Runs at once, and once more if it was asked for meanwhile.
function single(run) {
  let running = false, again = false;

  return async function start() {
    if (running) {
      again = true;
      return;
    }
    running = true;
    try {
      await run();
      say("", start);
    } catch (e) {
      complain(e, start);
    }
    running = false;
    if (again) {
      again = false;
      setTimeout(start, 100);
    }
  };
}

// The only way to another room: nothing of the former one stays, and words go to nobody but those for whom they were written.
function setRoom(guild) {
  if (guild === state.room) return;
  if (state.room && $("say").value) state.drafts[state.room] = $("say").value;
  else delete state.drafts[state.room];
  Object.assign(state, { room: guild, title: "", turns: [], pages: 1, chosen: null, turn: null });
  $("say").value = own(state.drafts, guild) || "";
  $("order-outcome").textContent = "";
  say("", "turn");
}

let roomsTook = 0; // ms that the last answer took

const loadRooms = single(async () => {
  const began = performance.now(), shown = state.room;

  const { rooms } = await ask("GET", "/api/rooms" + (shown ? `?whole=${shown}` : ""));

  // Whoever has signed out meanwhile leaves nothing behind.
  if (!state.who) return;
  state.rooms = rooms;
  roomsTook = performance.now() - began;
  // The first one, if none is shown. Whoever looks at a room keeps it, also when the bot leaves it.
  if (!state.room && state.rooms.length) {
    setRoom(state.rooms[0].guild);
    loadTurns();
  } else if (shown && shown !== state.room) loadRooms();
  paint("rooms", "room");
});

const onePage = 50, newest = 8;

// The last turn of a page knows where the next page begins.
async function askTurns(cursor, limit) {
  const query = new URLSearchParams({ limit: String(limit) });

  if (state.room) query.set("guild", state.room);
  if (cursor) query.set("cursor", cursor);
  const page = await ask("GET", "/api/turns?" + query);

  if (page.turns.length) page.turns.at(-1).cursor = page.next;
  return page.turns;
}

// No more than the pages that were opened: the list ends behind a turn that knows where the next page begins.
function trimTurns() {
  const most = onePage * state.pages, end = state.turns.findIndex((t, i) => i + 1 >= most && t.cursor);

  if (end >= 0) state.turns.length = end + 1;
}

// The newest turns alone, as long as they join those that are there; otherwise the list begins anew.
const loadTurns = single(async () => {
  const room = state.room, known = new Map(state.turns.map((t) => [t.id, t]));
  let read = known.size ? await askTurns(null, newest) : [];

  if (!read.some((t) => known.has(t.id))) read = await askTurns(null, onePage);
  if (room !== state.room || !state.who) return;
  const joins = read.some((t) => known.has(t.id)), last = joins && BigInt(read.at(-1).id);

  for (const t of read) t.cursor ||= known.get(t.id)?.cursor;
  if (!joins) state.pages = 1;
  state.turns = joins ? read.concat(state.turns.filter((t) => BigInt(t.id) < last)) : read;
  trimTurns();
  paint("turns");
});

async function loadOlder() {
  const room = state.room, cursor = state.turns.at(-1)?.cursor;

  if (!cursor) return;
  say("", "older");
  try {
    const turns = await askTurns(cursor, onePage);

    if (room !== state.room || cursor !== state.turns.at(-1)?.cursor) return;
    state.turns = state.turns.concat(turns);
    state.pages = Math.ceil(state.turns.length / onePage);
  } catch (e) {
    complain(e, "older");
  }
  paint("turns");
}

async function openTurn(id) {
  state.chosen = id;
  say("", "turn");
  paint("turns", "inspector");
  try {
    const turn = await ask("GET", "/api/turns/" + id);

    if (state.chosen === id) state.turn = turn;
  } catch (e) {
    complain(e, "turn");
  }
  paint("inspector");
}

// ---- orders ----

// The words that the bot was given last and has not said yet: the number of the order.
let awaited = null, lastEnded = null;

// What came of an order stands beside the buttons, until the next one or another room. True if the bot has it.
async function order(name, document) {
  const room = state.room, outcome = $("order-outcome");
  let taken = false;

  // The bot may have left since the buttons were drawn.
  if (!shownRoom()) return false;
  outcome.textContent = `${name} …`;
  awaited = null;
  try {
    const { id } = await ask("POST", `/api/rooms/${room}/${name === "unmute" ? "mute" : name}`, null, document) || {};

    taken = true;
    if (room === state.room) {
      awaited = id || null;
      outcome.textContent = `${name}: the bot has the order (${clock(Date.now())})${id ? " and says it when the room is quiet" : ""}.`;
      if (lastEnded) orderEnded(lastEnded);
    }
  } catch (e) {
    if (room === state.room) outcome.textContent = `${name}: ${troubleOf(e)}`;
  }
  loadRooms();
  return taken;
}

// The words stay in their field until the bot has them; a second Enter meanwhile says nothing.
let saying = false;

async function orderSay() {
  const room = state.room, words = $("say").value;

  if (saying) return;
  saying = true;
  const taken = await order("say", { text: words });

  saying = false;
  if (!taken) return;
  if (room !== state.room) delete state.drafts[room];
  else if ($("say").value === words) $("say").value = "";
}

// Words that the bot was given wait for a quiet moment; they may never be heard.
function orderEnded(ev) {
  lastEnded = ev;
  if (!awaited || ev.guild !== state.room || !ev.target.endsWith(`order ${awaited}`)) return;
  awaited = null;
  put("order-outcome", `say: ${ev.result === "answered" ? "said" : ev.result === "dropped"
    ? "dropped, because the room was not quiet for two minutes, somebody stopped the bot, or the call ended" : meaning(ev.result)} (${clock(ev.at)}).`);
}

let channelsOf = null;

// ---- joining ----

async function loadJoinChannels() {
  const guild = $("join-guild").value;

  $("join-channel").replaceChildren();
  if (!guild) return;
  const { channels } = await ask("GET", `/api/guilds/${guild}/channels`).catch((e) => {
    $("join-outcome").textContent = troubleOf(e);
    return { channels: [] };
  });

  if (guild === $("join-guild").value) fill("join-channel", ...channels.map((c) => node("option", { value: c.id }, c.name || c.id)));
}

function drawJoin() {
  $("join").hidden = !state.who.words || !state.guilds.length;
  if ($("join").hidden || $("join-guild").children.length === state.guilds.length) return;
  fill("join-guild", ...state.guilds.map((g) => node("option", { value: g.id }, g.name || g.id)));
  if ($("join").open) loadJoinChannels();
}

async function orderJoin() {
  const guild = $("join-guild").value, channel = $("join-channel").value, outcome = $("join-outcome");

  outcome.textContent = "join …";
  try {
    await ask("POST", "/api/voice/join", null, { guildId: guild, channelId: channel });
    outcome.textContent = `join: the bot has the order (${clock(Date.now())}).`;
  } catch (e) {
    outcome.textContent = `join: ${troubleOf(e)}`;
  }
  loadRooms();
}

// The channels of the server, for the order to move; asked for when another room is shown.
async function loadChannels(room) {
  if (channelsOf === room.guild) return;
  channelsOf = room.guild;
  const { channels } = await ask("GET", `/api/guilds/${room.guild}/channels`).catch(() => ({ channels: [] }));

  if (channelsOf !== room.guild) return;
  fill("channel", ...channels.filter((c) => c.id !== room.channel).map((c) => node("option", { value: c.id }, c.name || c.id)));
  $("move-form").hidden = !$("channel").children.length;
}

function drawOrders(room) {
  $("orders").hidden = !state.room || !state.who.words;
  if ($("orders").hidden) return;
  for (const e of $("orders").querySelectorAll("button, select")) if (e.disabled !== !room) e.disabled = !room;
  if (!room) return;
  $("mute").textContent = room.muted ? "Unmute" : "Mute";
  $("mute").setAttribute("aria-pressed", String(room.muted));
  loadChannels(room);
}

// ---- the stream ----

let pause = 500;

function soon(run, ms) {
  let timer = 0;

  return () => {
    timer ||= setTimeout(() => {
      timer = 0;
      run();
    }, typeof ms === "function" ? ms() : ms);
  };
}
const turnNodes = makeTurn({ node, ask, dollars, seconds, own, state, meaning });
const live = makeLive({ node, keep, byId: $, own, state, seconds, dollars });
// Not sooner: control keeps the answer for 40 ms. The room that is shown tells of its turns by itself; of the others the list has little.
// Many rooms are a long answer, which must not be all that the page and control do.
const notSooner = (ms) => () => Math.min(2000, Math.max(ms, 5 * roomsTook - 200));
const roomsSoon = soon(loadRooms, notSooner(45));
// An event of the bus ends what is kept, so the end of a turn is asked for with what comes in the same moment.
const turnRoomSoon = soon(loadRooms, notSooner(10));
const othersSoon = soon(loadRooms, notSooner(400));
const behindSoon = soon(loadRooms, 2000); // while another view is in front
const turnsSoon = soon(loadTurns, 60);
// Who reads older pages of a list keeps them.
const viewSoon = soon(() => {
  const shown = view();

  if (!shown) return;
  if (shown.data?.rows?.length > onePage) {
    shown.behind = true;
    drawView();
  } else {
    loadView(shown);
  }
}, 100);

// A busy room must not talk over whoever listens to the page: what ended meanwhile is one sentence.
const ended = [];
const tellEnded = soon(() => {
  const last = ended.at(-1), n = ended.length;

  ended.length = 0;
  if (last && last.guild === state.room) put("live", `${n > 1 ? `${n} turns ended, the last one ` : ""}${n > 1 ? "turn" : "Turn"} ${last.turn}: ${meaning(last.reason)}.`);
}, 5000);

// A turn's own event is shown before anything is asked for.
function takeTurn(ev) {
  const room = state.rooms.find((r) => r.guild === ev.guild);

  if (!room) return;
  room.turns = room.turns.filter((t) => t.turn !== ev.turn);
  if (ev.event !== "turn")
    room.turns.push({
      turn: ev.turn, stage: ev.stage, at: new Date(ev.at).toISOString(), user: ev.user, name: ev.name || null,
      heard: typeof ev.heard === "string" && ev.heard ? ev.heard : null, why: ev.why || [],
    });
  else room.lastTurn = { name: ev.name, reason: ev.reason, text: ev.text || meaning(ev.reason) };
  if (ev.event === "turn" && ev.guild === state.room) {
    ended.push(ev);
    tellEnded();
  }
  // It is written at once, and laid out with all else in the next frame.
  if (ev.guild === state.room && !view() && !document.hidden) drawNow(room);
}

function roomChanged(ev) {
  const shown = ev.guild === state.room;
  const load = view() ? behindSoon : shown && ev.event === "turn" ? turnRoomSoon : shown || !Number(ev.guild) ? roomsSoon : othersSoon;

  load();
}

function onEvent(type, data) {
  if (type === "gap") {
    reload();
    return;
  }
  const ev = JSON.parse(data);

  if (type === "level") {
    turnsView.level(ev);
    if (live.level(ev) && !document.hidden) roomChanged(ev);
    return;
  }
  if (type === "order_ended") orderEnded(ev);
  // A hidden page asks for nothing: it begins anew when it is seen.
  if (document.hidden) return;
  if (type.startsWith("turn")) takeTurn(ev);
  if (type === "turn" && ev.guild === state.room) turnsSoon();
  if (view()?.on?.includes(type) && (!view().wants || view().wants(ev))) viewSoon();
  roomChanged(ev);
}

// What was missed may concern all that is seen.
function reload() {
  if (document.hidden) return;
  loadRooms();
  loadTurns();
  viewSoon();
  paint();
}

function onLink(link) {
  state.link = link;
  paint();
  if (link !== "live") return;
  pause = 500;
  reload();
}

function startLater() {
  setTimeout(start, pause);
  pause = Math.min(pause * 2, 15000);
}

const stream = makeStream({
  path: "/api/events?type=" + events.join(","), names: events, take: onEvent, linked: onLink, refused: startLater, elsewhere: () => start(),
});

// ---- the views ----

const turnsView = makeTurns({ node, ask, seconds, own, state, turnNodes, meaning, troubleOf, complain: (e) => (e ? complain(e, "view") : say("", "view")) });
const views = [turnsView, ...makeViews({ node, ask, dollars, seconds, own, state, meaning, dirty: () => drawView(), choose: (v) => choose(v) })];
const allowed = () => views.filter((v) => ranks[state.who?.role] >= ranks[v.role] && (!v.there || v.there()));
const view = () => allowed().find((v) => v.id === state.view);

function drawNavigation() {
  const links = [{ id: "room", title: "Live room" }, ...allowed()].map(({ id, title }) => ({ id, title, current: id === state.view }));

  keep($("views"), links, (l) => l.id, (l) => node("a", { href: "#" + l.id, "aria-current": l.current ? "page" : null }, l.title));
}

function drawView() {
  const shown = view(), body = $("view-body"), at = document.activeElement;

  if (!shown) return;
  put("view-title", shown.title);
  if (shown.mount) {
    if (!shown.root || body.firstElementChild !== shown.root) shown.mount(body);
    body.dataset.view = shown.id;
    say(shown.trouble, "loading");
    shown.update();
    return;
  }
  if (body.dataset.view !== shown.id) body.replaceChildren();
  body.dataset.view = shown.id;
  const key = body.contains(at) ? at.id || at.getAttribute("aria-label") || at.textContent : null;

  redraw(body, ...viewNodes(shown));
  // Focus stays with the control that had it; if that is gone, with one that says the same.
  if (!key || body.contains(document.activeElement)) return;
  [...body.querySelectorAll("a, button, input, select, textarea, [tabindex]")].find((e) =>
    e.tagName === at.tagName && (e.id || e.getAttribute("aria-label") || e.textContent) === key)?.focus({ preventScroll: true });
}

function viewNodes(shown) {
  const trouble = shown.trouble && node("p", { class: "bad" }, shown.trouble);

  if (!shown.data) return [trouble || node("p", { class: "muted" }, "…")];
  return [trouble, shown.data.trouble && node("p", { class: "bad" }, shown.data.trouble), shown.behind && drawBehind(shown), shown.draw(shown)].flat(2).filter(Boolean);
}

function drawBehind(shown) {
  const button = node("button", { type: "button" }, "Show the newest");

  button.onclick = () => loadView(shown);
  return node("p", { class: "row behind", role: "status" }, "Newer rows have come since.", button);
}

// One at a time for a view, and once more if it was asked for meanwhile.
async function loadView(shown) {
  if (shown.loading) {
    shown.again = true;
    return shown.loading;
  }
  return shown.loading = (async () => {
    do {
      const asked = shown.choice;

      shown.again = false;
      try {
        const data = await shown.load(shown);

        // Something else was chosen meanwhile: this is no answer to it.
        if (asked !== shown.choice) continue;
        shown.data = data;
        shown.trouble = null;
        shown.behind = false;
      } catch (e) {
        if (e.status === 401) break;
        shown.trouble = troubleOf(e);
      }
      if (view() === shown) drawView();
    } while (shown.again);
    shown.loading = null;
  })();
}

// After a choice in the view, such as another server: only what is read from then on answers it.
function choose(shown) {
  shown.choice = (shown.choice || 0) + 1;
  return loadView(shown);
}

async function openView() {
  // #VIEW, or #VIEW/WHAT for a part of it, such as a turn.
  const [id, what] = location.hash.slice(1).split("/");
  const was = state.view;

  state.view = views.some((v) => v.id === id) ? id : "room";
  if (!view()) state.view = "room";
  const shown = view();

  if (was !== state.view) views.find((v) => v.id === was)?.leave?.();
  $("view").classList.toggle("full", Boolean(shown?.mount));
  $("board").hidden = Boolean(shown);
  $("view").hidden = !shown;
  $("skip").href = shown ? "#view" : "#main";
  document.title = shown ? `${shown.title} · Parley` : "Parley";
  for (const part of ["page", "turn", "older", "view", "loading"]) say("", part);
  drawNavigation();
  if (!shown) {
    paint();
    return;
  }
  drawView();
  if (was !== state.view) $("view").focus({ preventScroll: true });
  await loadView(shown);
  if (what && view() === shown) shown.open?.(what);
}

// ---- what is seen ----

const changed = new Set(); // parts of the page: rooms, room, turns, inspector

// In the next frame, all that has changed until then; without names everything.
function paint(...parts) {
  if (document.hidden || !state.who) return;
  if (!changed.size) requestAnimationFrame(draw);
  for (const part of parts.length ? parts : ["rooms", "room", "turns", "inspector"]) changed.add(part);
}

const shownRoom = () => state.rooms.find((r) => r.guild === state.room);

function draw() {
  const room = shownRoom(), parts = new Set(changed);

  changed.clear();
  if (!state.who) return;
  put("link", state.link);
  $("link").className = "state " + (state.link === "live" ? "up" : "down");
  put("who", `signed in as ${state.who.role}`);
  if (view()) return;
  if (parts.has("rooms")) drawRooms();
  if (parts.has("room")) drawRoom(room);
  if (parts.has("turns")) drawTurns();
  if (parts.has("inspector")) drawInspector();
}

// A text that is there already is not set anew: that would lay the page out again.
function put(id, text) {
  if ($(id).textContent !== text) $(id).textContent = text;
}

// What somebody has to look after, in a few words; "" where all is well.
function troubleIn(r) {
  const [first, ...more] = r.faults;

  return first ? (first.text || first.fault) + (more.length ? ` and ${more.length} more` : "")
    : r.brain && !r.brain.up ? `${r.brain.name} is down` : r.muted ? "muted by an operator" : "";
}

const manyRooms = 8;
let roomSearch = "";

function drawRooms() {
  const list = $("rooms");

  drawJoin();
  $("find").hidden = state.rooms.length <= manyRooms && !roomSearch;

  if (!state.rooms.length) {
    list.replaceChildren(node("li", { class: "none muted" }, "The bot is in no voice channel."));
    return;
  }
  const found = state.rooms.map((r) => ({
    guild: r.guild, name: r.channelName || r.channel, server: r.guildName || r.guild, phase: r.phase,
    heard: r.heardCount, people: r.peopleCount, current: r.guild === state.room, trouble: troubleIn(r),
  })).filter((r) => `${r.name} ${r.server}`.toLowerCase().includes(roomSearch));

  if (!found.length) {
    list.replaceChildren(node("li", { class: "none muted" }, "No room has these letters."));
    return;
  }
  keep(list, found.filter((r) => r.trouble).concat(found.filter((r) => !r.trouble)), (r) => r.guild, (r) => {
    const button = node("button", { type: "button", "aria-current": String(r.current) },
      node("span", { class: "name" }, r.name), live.roomMeter(r.guild), node("span", { class: "muted" }, r.server), node("br"),
      node("span", { class: r.phase === "up" ? "bot" : "muted" }, r.phase === "up" ? "● in the call" : "○ " + r.phase),
      node("span", { class: "muted" }, ` · ${r.heard} of ${r.people} heard`),
      r.trouble && node("span", { class: "bad" }, node("br"), "▲ " + r.trouble));

    button.onclick = () => {
      setRoom(r.guild);
      loadTurns();
      loadRooms();
      paint();
    };
    return node("li", null, button);
  });
}

function fact(name, value) {
  return value === null || value === undefined || value === "" ? null
    : node("div", null, node("dt", null, name), node("dd", null, value));
}

function describeSecure(s) {
  if (!s) return null;
  if (!s.version) return "none";
  return s.undecryptable ? `${s.undecryptable} cannot be decrypted` : s.ready ? "end to end" : "waits for a key";
}

function drawRoom(room) {
  if (room) state.title = `${room.channelName || room.channel} · ${room.guildName || room.guild}`;
  put("room-title", state.title || "No room");
  $("absent").hidden = Boolean(room) || !state.room;
  for (const id of ["facts", "now-section", "people-section", "doing"]) $(id).hidden = !room;
  drawOrders(room);
  live.draw(room);
  if (!room) {
    fill("faults");
    return;
  }
  fill("facts",
    fact("call", room.phase), fact("since", room.since && told(room.since)), fact("encryption", describeSecure(room.secure)),
    fact("engine", room.brain && `${room.brain.name}${room.brain.up ? "" : " (down)"}`),
    fact("muted", room.muted ? "by an operator" : null),
    fact("answered", `${room.answeredCount} of ${counted(room.turnCount, "turn")}`));
  fill("faults", ...room.faults.map((f) => node("li", null, f.text || f.fault)));
  drawNow(room);
}

function drawNow(room) {
  if (room.turns.length) {
    keep($("now"), room.turns, (t) => t.turn, (t) => node("div", { class: "now" },
      node("p", { class: "words" }, node("span", { class: "speaker" }, t.name || "Somebody"), ": ", t.heard || "…"),
      node("p", { class: t.stage === "speaking" ? "bot" : "muted" },
        t.stage === "speaking" ? "▶ The bot answers." : "○ Admitted: the bot prepares its answer."),
      node("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Decisions so far" }, turnNodes.decisions(t.why))));
    return;
  }
  const last = room.lastTurn;

  fill("now", node("p", { class: "now muted" }, "Nobody waits for an answer.",
    last ? ` The last turn, of ${last.name || "somebody"}, ended as ${last.reason}: ${last.text}.` : ""));
}

const trouble = /fail|error|lost|stalled|timeout|no_key|silent/;

function drawTurns() {
  const longest = Math.max(1000, ...state.turns.map((t) => t.firstAudioMs || 0));

  // In one place, so that a turn that is longer than all others changes no row.
  $("turns").style.setProperty("--longest", String(longest));
  $("scale").textContent = state.turns.length ? `bar: end of speech to first sound, at most ${seconds(longest)}` : "";
  $("older").hidden = !state.turns.at(-1)?.cursor;
  if (!state.turns.length) {
    fill("turns", node("li", { class: "muted" }, "No turn is kept yet."));
    return;
  }
  // Of a turn that nobody began, such as an operator's order, what the bot said.
  keep($("turns"), state.turns.map(({ id, at, user, name, heard, said, reason, firstAudioMs }) =>
    ({ id, at, name, heard: heard || (user ? null : said), reason, firstAudioMs, current: id === state.chosen })), (t) => t.id, (t) => {
    const answered = t.reason === "answered";
    const bar = node("span", { class: "bar" });

    if (t.firstAudioMs !== null) {
      const delay = node("i", { class: answered ? "delay answered" : "delay" });

      delay.style.setProperty("--ms", String(t.firstAudioMs));
      bar.append(delay, node("span", { class: "first" }, seconds(t.firstAudioMs)));
    }
    bar.append(node("span", { class: answered ? "reason answered" : trouble.test(t.reason) ? "reason trouble" : "reason" }, t.reason));
    const button = node("button", { type: "button", "aria-current": String(t.current), title: meaning(t.reason) },
      node("time", { datetime: t.at, title: when(t.at) }, moment(t.at)),
      node("span", null, node("b", null, t.name || "nobody"), t.heard ? " " + t.heard : ""), bar);

    button.onclick = () => openTurn(t.id);
    return node("li", null, button);
  });
}

let drawn = null;

function drawInspector() {
  const turn = state.turn;

  $("inspector").classList.toggle("open", state.chosen !== null);
  if (turn === drawn) return;
  drawn = turn;
  $("turn-title").textContent = turn ? `Turn ${turn.turn}` : "Turn";
  if (!turn) {
    fill("turn", node("p", { class: "muted" }, "Choose a turn to see why it ended as it did."));
    return;
  }
  fill("turn", ...turnNodes.whole(turn));
  $("inspector").focus({ preventScroll: true });
}

// ---- coming and going ----

// Changes that were not saved are nobody else's.
function settle() {
  for (const v of views) {
    v.forget?.();
    v.changes?.clear();
    if ("search" in v) v.search = "";
    if ("guild" in v) v.guild = "";
  }
  state.guilds = [];
}

// Which ways in there are. The focus is moved only while nobody has typed.
async function offerMethods() {
  const methods = await ask("GET", "/api/auth/methods").catch(() => null);

  if (state.who) return;
  $("sign-in-discord").hidden = !methods?.discord;
  if (methods?.discord && !$("secret").value && document.activeElement === $("secret")) $("discord").focus();
}

function showSignIn() {
  stream.close();
  state.who = null;
  state.rooms = [];
  setRoom(null);
  drawn = null;
  state.levels = {};
  state.drafts = {};
  said.clear();
  // Nothing of what was read stays behind.
  channelsOf = null;
  $("say").value = "";
  $("absent").hidden = true;
  $("room-search").value = roomSearch = "";
  for (const id of ["join-guild", "join-channel", "join-outcome", "outcome", "rooms", "order-outcome", "channel", "server", "room-title", "facts", "doing", "faults", "people", "now", "turns", "turn", "turn-title", "live"]) fill(id);
  // An answer that comes from now on is for nobody.
  for (const v of views) v.choice = (v.choice || 0) + 1;
  for (const v of views) v.data = v.outcome = v.diff = v.trouble = null;
  fill("view-body");
  fill("views");
  settle();
  $("board").hidden = $("server-of").hidden = $("account").hidden = $("view").hidden = $("views").hidden = true;
  $("sign-in").hidden = false;
  $("link").textContent = "";
  $("who").textContent = "";
  $("secret").focus();
  offerMethods();
}

async function signIn(secret) {
  try {
    await ask("POST", "/api/auth/session", { Authorization: "Bearer " + secret });
    say("");
    stream.signed();
    await start();
  } catch (e) {
    showSignIn();
    say(e.message);
  }
}

async function signOut(path) {
  let trouble = "";

  try {
    await ask("DELETE", path);
  } catch (e) {
    if (e.status !== 401) trouble = troubleOf(e);
  }
  stream.signed();
  showSignIn();
  say(trouble);
}

// A person with roles in several servers looks at one at a time; the role may be another one there, so the page begins anew.
function drawServers() {
  const servers = state.who.servers || [];

  $("server-of").hidden = servers.length < 2;
  fill("server", ...servers.map((s) => node("option", { value: s.id }, `${s.name || s.id} (${s.role})`)));
  $("server").value = state.who.guild || "";
}

async function lookAt(server) {
  try {
    await ask("PUT", "/api/auth/session", null, { server });
    stream.signed();
    location.reload();
  } catch (e) {
    complain(e, "server");
    drawServers();
  }
}

async function start() {
  const before = state.who?.guild;

  try {
    state.who = await ask("GET", "/api/auth/session");
  } catch (e) {
    if (e.status === 401) {
      showSignIn();
    } else {
      complain(e, "start");
      startLater();
    }
    return;
  }
  // Another tab has chosen another server: nothing of the former one stays.
  if (before && state.who.guild !== before) {
    location.reload();
    return;
  }
  say("", "start");
  drawServers();
  $("sign-in").hidden = true;
  $("account").hidden = $("views").hidden = false;
  state.guilds = (await ask("GET", "/api/guilds").catch(() => null))?.guilds || [];
  state.meanings = await ask("GET", "/api/reasons").catch(() => state.meanings);
  openView();
  stream.open();
  await loadRooms();
  await loadTurns();
}

function moveBy(step) {
  const buttons = [...$("turns").querySelectorAll("button")], at = buttons.indexOf(document.activeElement);

  if (at < 0) return false;
  buttons[Math.max(0, Math.min(buttons.length - 1, at + step))].focus();
  return true;
}

function closeTurn() {
  const open = $("turns").querySelector('[aria-current="true"]');

  state.chosen = state.turn = null;
  paint();
  open?.focus();
}

$("sign-in-form").onsubmit = (e) => {
  e.preventDefault();
  // The whole link, or the code in it.
  const secret = $("secret").value.trim().replace(/^\S*#k=/, "");

  $("secret").value = "";
  signIn(secret);
};
$("server").onchange = () => lookAt($("server").value);
$("sign-out").onclick = () => signOut("/api/auth/session");
$("sign-out-all").onclick = () => signOut("/api/auth/sessions");
$("older").onclick = loadOlder;
$("say-form").onsubmit = (e) => {
  e.preventDefault();
  orderSay();
};
$("stop").onclick = () => order("stop");
$("mute").onclick = () => {
  const muted = shownRoom()?.muted;

  order(muted ? "unmute" : "mute", { muted: !muted });
};
$("leave").onclick = () => order("leave");
$("room-search").oninput = () => {
  roomSearch = $("room-search").value.trim().toLowerCase();
  paint("rooms");
};
$("join").ontoggle = () => $("join").open && !$("join-channel").children.length && loadJoinChannels();
$("join-guild").onchange = loadJoinChannels;
$("join-form").onsubmit = (e) => {
  e.preventDefault();
  orderJoin();
};
$("move-form").onsubmit = (e) => {
  e.preventDefault();
  channelsOf = null;
  order("move", { channel: $("channel").value });
};
$("close").onclick = closeTurn;
document.addEventListener("keydown", (e) => {
  if ((e.key === "ArrowDown" && moveBy(1)) || (e.key === "ArrowUp" && moveBy(-1))) e.preventDefault();
  if (e.key !== "Escape") return;
  if (view()) view().close?.();
  else if (state.chosen !== null) closeTurn();
});
// People come and go without an event of their own; a hidden page asks for nothing.
setInterval(() => {
  if (!state.who || document.hidden) return;
  loadRooms();
  if (view()?.live) loadView(view());
}, 5000);
setInterval(() => {
  if (state.who && !document.hidden && view()?.ticks) drawView();
}, 1000);
window.addEventListener("hashchange", () => {
  if (location.hash.startsWith("#k=")) takeLink();
  else if (state.who) openView();
});
$("skip").onclick = (e) => {
  e.preventDefault();
  $(view() ? "view" : "main").focus();
};
// A page that a browser keeps for its back button would hold one of the six connections that it opens to control.
window.addEventListener("pagehide", () => stream.close());
window.addEventListener("pageshow", (e) => {
  if (e.persisted && state.who) stream.open();
});
document.addEventListener("visibilitychange", () => {
  if (state.who) reload();
});

// A link that somebody else sent would have its reader go on in a session of theirs without knowing it.
async function signInByLink(code) {
  const who = await ask("GET", "/api/auth/session").catch(() => null);

  if (who && !confirm(`This browser is signed in as ${who.role}. Sign in by the link instead?`)) start();
  else signIn(code);
}

// Why the browser comes back from Discord without a session.
const refusals = {
  sign_in_refused: "Discord did not sign you in: you refused, the page was open for too long, or you have no role here. Members of the server with the right permission can sign in.",
  too_many_tries: "Too many tries to sign in; wait half a minute.",
  no_discord: "Sign-in with Discord is not set up here.",
  not_loopback: "Browsers keep the cookie of plain HTTP for loopback addresses alone: use an SSH tunnel.",
};
// Takes the code of a link, or what Discord's refusal left, out of the address, so that no history keeps it.
function takeLink() {
  const link = /^#(k|refused)=(.+)$/.exec(location.hash);

  if (link) history.replaceState(null, "", location.pathname);
  if (link?.[1] === "k") {
    signInByLink(decodeURIComponent(link[2]));
  } else {
    start().then(() => link && !state.who && say(own(refusals, link[2]) || "Discord did not sign you in. Try again."));
  }
}
takeLink();
