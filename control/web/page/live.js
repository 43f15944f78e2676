// The live part of a room: the floor holder, the bot's task and addressee, the level of each speaker, tools, music, cost so far.
import { counted, told } from "/times.js";

const phases = {
  hearing: "is speaking", transcribing: "is being transcribed", classifying: "is being judged: was the bot meant?", deferred: "waits until the bot is free",
  queued: "waits for the floor",
};
const unheard = { bot: "a bot", no_consent: "has not agreed to be heard", no_room: "one person too many" };
const showing = { opening: "its file is opened", waiting: "waits for somebody who watches", playing: "plays" };
const floorDb = -60;

export function makeLive({ node, keep, byId, own, state, seconds, dollars }) {
  const meters = new Map(); // of the room that is shown: user, or "bot", to its nodes
  const roomMeters = new Map(); // by server
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let wanted = 0;

  const fact = (name, ...value) => node("div", null, node("dt", null, name), node("dd", null, ...value));
  const person = (x) => node("b", null, x?.name || "somebody");

  function addressee(to) {
    return !to ? null : to.kind === "all" ? "everybody" : person(to);
  }

  // ["speaks to ", <Alice>], as nodes and texts.
  function doing(room) {
    const floor = room.now?.floor;

    if (room.muted) return ["is muted"];
    if (!floor) return [room.now ? "listens" : "cannot answer yet"];
    if (floor.phase === "speaking") return ["speaks to ", addressee(floor.addressee)];
    if (floor.phase === "closing") return ["stops speaking"];
    return ["prepares an answer for ", person(floor), ` (${seconds(floor.forMs)})`];
  }

  function music(room) {
    const m = room.music, track = m?.tracks[0];

    if (!m || m.nowPlayingIndex === null || !track) return null;
    const length = (ms) => (ms === null ? "" : ` · ${Math.floor(ms / 60000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`);

    return [m.isPaused ? "❚❚ " : "▶ ", node("b", null, track.title), length(track.durationMs),
      m.trackCount > 1 ? ` · ${m.trackCount - 1} more` : ""];
  }

  // A shown screen: how old its picture is, and the notes that models are told, the newest first. Their sentences come for operators alone.
  function screen(s) {
    const age = s.ageMs === null ? "" : ` · picture ${seconds(s.ageMs)} old`;
    const text = (n) => n.text || (n.changed ? `${n.changed / 10} % of the picture changed` : "nothing large had changed");
    const notes = (s.notes || []).map((n) => node("li", null, `${seconds(n.agoMs)} ago: ${text(n)}`));

    return fact("screen", node("b", null, s.name), ` ${s.watched ? s.state : `${s.state}, not watched`}${age}`, notes.length ? node("ul", null, ...notes) : null);
  }

  // The stream of the bot's own: what is shown and for whom, who watches, and for an hour why it is over.
  function shown(room) {
    const s = room.shown, length = (n) => `${Math.floor(n / 60)}:${String(n % 60).padStart(2, "0")}`;

    if (!s) return [];
    const over = s.state === "over", title = s.title || (s.kind === "visualizer" ? "the music" : "a video");
    const where = `${own(showing, s.state)}${s.atSeconds || s.seconds ? ` · ${length(s.atSeconds)}${s.seconds ? ` of ${length(s.seconds)}` : ""}` : ""}`;
    const parts = over ? [`since ${told(s.since)}`, `ended ${told(s.endedAt)}: ${s.why}`]
      : [`since ${told(s.since)}`, where, ...(s.viewers === null ? [] : [counted(s.viewers, "viewer")])];

    return [fact(over ? "showed" : "shows", node("b", null, title), ` (${s.kind})`, ...(s.askedByName ? [" for ", node("b", null, s.askedByName)] : []),
      ...parts.map((p) => ` · ${p}`))];
  }

  // What looking at screens cost, beside the questions themselves.
  function looks(room) {
    const l = room.now?.looks;

    if (!l || (!l.asked && !l.remarks)) return [];
    return [fact("looks at screens", node("b", null, String(l.asked)), ` by the role see, ${dollars(l.spentUsd)}`,
      l.remarks ? `; ${counted(l.remarks, "remark")}, the last ${seconds(l.remarkedMs)} ago` : "")];
  }

  function drawNow(room) {
    const now = room.now, waiting = (now?.turns || []).filter((t) => own(phases, t.phase) && t.turn !== now.floor?.turn);
    const playing = music(room);

    byId("doing").replaceChildren(
      fact("floor", now?.floor ? person(now.floor) : "nobody"),
      fact("Parley", ...doing(room)),
      ...waiting.map((t) => fact("waiting", person(t), ` ${phases[t.phase]}`)),
      ...(room.calls || []).map((c) => fact("tool", node("b", null, c.toolName), " runs")),
      ...(playing ? [fact("music", ...playing)] : []),
      ...(room.screens || []).map(screen),
      ...shown(room),
      ...looks(room),
      fact("cost", node("b", null, dollars(now?.spentUsd || 0)), ` in this call, ${dollars(room.spentTodayUsd)} today`));
  }

  function meter(key) {
    const bar = node("i"), box = node("span", { class: "meter", "aria-hidden": "true" }, bar);

    return { key, box, bar };
  }

  function drawPerson(p) {
    const m = meter(p.user);
    const li = node("li", { class: p.floor ? "holds" : null }, m.box, node("span", { class: "name" }, p.name), " ",
      node("span", { class: p.heard ? "heard" : "unheard" }, p.heard ? "heard" : `not heard: ${own(unheard, p.unheard) || p.unheard}`),
      p.floor ? node("span", { class: "badge" }, " has the floor") : null);

    meters.set(p.user, { ...m, li });
    return li;
  }

  function drawBot(p) {
    const m = meter("bot"), li = node("li", { class: "self" }, m.box, node("span", { class: "name bot" }, "Parley"), " ", node("span", { class: "muted" }, p.text));

    meters.set("bot", { ...m, li });
    return li;
  }

  function draw(room) {
    if (!room) {
      meters.clear();
      return;
    }
    const floor = room.now?.floor, people = room.people.map(({ user, name, heard, unheard: why }) =>
      ({ user, name, heard, unheard: why, floor: floor?.user === user }));
    const self = { user: "bot", text: room.muted ? "muted by an operator" : "the bot" };

    drawNow(room);
    keep(byId("people"), [...people, self], (p) => p.user, (p) => (p.user === "bot" ? drawBot(p) : drawPerson(p)));
    for (const user of meters.keys()) if (user !== "bot" && !room.people.some((p) => p.user === user)) meters.delete(user);
    later();
  }

  // The meter of a room in the list: its loudest person.
  function roomMeter(guild) {
    const m = meter(guild);

    roomMeters.set(guild, m);
    return m.box;
  }

  const share = (db) => (db === null ? 0.08 : Math.max(0.08, Math.min(1, (db - floorDb) / -floorDb)));

  function show(m, value) {
    const text = value.toFixed(2);

    if (m.shown === text) return;
    m.shown = text;
    m.bar.style.transform = `scaleX(${text})`;
    m.li?.classList.toggle("speaks", value > 0);
  }

  function paint() {
    const now = state.levels[state.room];

    wanted = 0;
    for (const [user, m] of meters) {
      const level = user === "bot" ? (now?.bot ? 0 : undefined) : now?.users[user];

      show(m, level === undefined ? 0 : user === "bot" ? 0.6 : share(level));
    }
    for (const [guild, m] of roomMeters) {
      const all = Object.values(state.levels[guild]?.users || {});

      show(m, all.length ? Math.max(...all.map(share)) : state.levels[guild]?.bot ? 0.6 : 0);
      m.box.classList.toggle("bots", !all.length);
    }
  }

  // Meters move with the frames of the screen, or twice a second where motion is to be reduced.
  function later() {
    if (wanted || document.hidden || byId("board").hidden) return;
    wanted = calm.matches ? setTimeout(paint, 500) : requestAnimationFrame(paint);
  }

  // True if somebody began or ceased to speak.
  function level(ev) {
    const before = state.levels[ev.guild], who = (l) => Object.keys(l?.users || {}).sort().join() + (l?.bot ? "+" : "");

    state.levels[ev.guild] = ev;
    later();
    return who(before) !== who(ev);
  }

  return { draw, level, roomMeter };
}
