// The view of all turns: a timeline that zooms, and below it a list in which only the rows that are seen are nodes. Each row is a bar
// of stages, all aligned at the end of speech, so that delay reads as length.

import { makeBars, makeTimeline } from "/timeline.js";
import { counted, moment, told } from "/times.js";
import { stageNames } from "/turn.js";

const page = 100, newest = 16, keptMost = 20000, spare = 3, before = 2000;
const aFrame = 24; // rows that are filled in one frame: those in sight, as a rule, because each further frame costs as much again as ten rows
const trouble = /fail|error|lost|stalled|timeout|no_key|silent|expired/;

export function makeTurns({ node, ask, seconds, own, state, turnNodes, meaning, complain, troubleOf }) {
  const view = { id: "turns", title: "Turns", role: "viewer", on: ["turn"], items: [], next: null, guild: null, reason: "", person: "", since: "", before: "", chosen: null, trouble: null };
  const calm = matchMedia("(prefers-reduced-motion: reduce)"), narrow = matchMedia("(max-width: 600px)");
  const pool = [], rows = new Map(), spoken = [];
  let root = null, parts = {}, loading = false, wanted = false, scale = 4000, kept = 0, height = 28;

  // ---- what was read ----

  function make(t) {
    const end = Date.parse(t.at), zero = t.spokenAt ? Date.parse(t.spokenAt) : end, abs = (ms) => zero + ms;
    const speech = [], tools = [];
    let answer = null, model = null;

    for (const x of t.timeline) {
      if (x.startMs === null) continue;
      const piece = { from: abs(x.startMs), to: x.endMs === null ? end : abs(x.endMs), user: x.user, name: x.name };

      if (x.kind === "speech") speech.push(piece);
      else if (x.kind === "tool") tools.push(piece);
      else answer = piece;
    }
    const stage = t.stages.find((s) => s.name === "model");

    if (stage) model = { from: abs(stage.startMs), to: abs(stage.endMs) };
    return {
      id: t.id, turn: t.turn, end, name: t.name, heard: t.heard || "", said: t.said || "", reason: t.reason, first: t.firstAudioMs,
      stages: t.stages, speech, tools, answer, model, trouble: trouble.test(t.reason), decided: model?.from ?? end,
      before: speech.length ? Math.min(...speech.map((s) => s.from)) - zero : 0,
      from: Math.min(end, ...speech.map((s) => s.from)), to: end,
    };
  }

  function path(cursor, limit = page) {
    const query = new URLSearchParams({ limit: String(limit), timeline: "1" });

    if (view.guild) query.set("guild", view.guild);
    if (view.reason) query.set("reason", view.reason);
    if (view.person) query.set("user", view.person);
    for (const name of ["since", "before"]) if (!Number.isNaN(Date.parse(view[name]))) query.set(name, String(Date.parse(view[name])));
    if (cursor) query.set("cursor", cursor);
    return "/api/turns?" + query;
  }

  // The scale of the bars holds nine of ten delays.
  function measure() {
    const delays = view.items.slice(0, 500).map((t) => t.first).filter((v) => v !== null).sort((a, b) => a - b);
    const most = delays.length ? delays[Math.floor(delays.length * 0.9)] : 0;

    scale = Math.max(4000, Math.ceil((most * 1.6) / 1000) * 1000);
  }

  view.wants = (ev) => !view.guild || ev.guild === view.guild;

  // The newest turns alone, as long as they join those that are there.
  view.load = async () => {
    // A timeline is of one server, unless somebody wants all.
    if (view.guild === null) view.guild = state.room || "";
    await rested();
    const known = view.items[0]?.id, whole = path(null);
    let read = known === undefined ? null : await ask("GET", path(null, newest));
    let overlap = read ? read.turns.findIndex((t) => t.id === known) : -1;

    if (overlap < 0) read = await ask("GET", whole);
    // Another server or reason was chosen meanwhile, or another question was answered.
    if (whole !== path(null) || known !== view.items[0]?.id) return view.items;
    if (overlap < 0) overlap = known === undefined ? -1 : read.turns.findIndex((t) => t.id === known);
    if (overlap < 0) {
      view.items = read.turns.map(make);
      view.next = read.next;
    } else if (overlap) {
      view.items = read.turns.slice(0, overlap).map(make).concat(view.items);
      moveRows(overlap);
      // Who looks at older ones keeps looking at them.
      if (root && parts.list.scrollTop > 0) parts.list.scrollTop += overlap * height;
    }
    measure();
    return view.items;
  };

  async function older() {
    if (loading || !view.next || view.items.length >= keptMost) return;
    loading = true;
    try {
      const query = path(view.next), read = await ask("GET", query);

      if (query === path(view.next)) {
        view.items = view.items.concat(read.turns.map(make));
        view.next = read.next;
        measure();
      }
    } catch (e) {
      complain(e);
    }
    loading = false;
    view.update();
  }

  async function reload() {
    view.items = [];
    view.next = null;
    complain(null);
    await view.load().catch(complain);
    parts.list.scrollTop = 0;
    // A time that was asked for is shown, not the present.
    if (view.before && view.items.length) parts.timeline.reveal(view.items[0]);
    view.update();
  }

  // ---- one row ----

  function makeRow() {
    const [time, name, words, reason] = Array.from({ length: 4 }, () => document.createTextNode(""));
    const ended = node("span", { class: "reason" }, reason);
    const button = node("button", { type: "button" }, node("time", null, time), node("span", { class: "who" }, node("b", null, name), words), ended);
    const el = node("div", { class: "vrow", role: "listitem" }, button);
    const row = { el, button, time, name, words, reason, ended, index: -1 };

    button.onclick = (e) => choose(view.items[row.index]?.id, e.detail === 0);
    // Only a few of the rows are nodes.
    el.ariaSetSize = "-1";
    button.onkeydown = (e) => {
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[e.key];

      if (!step) return;
      e.preventDefault();
      focusRow(Math.max(0, Math.min(view.items.length - 1, row.index + step)));
    };
    return row;
  }

  function fillRow(row, index) {
    const t = view.items[index];

    place(row, index);
    row.id = t.id;
    row.time.data = moment(t.end);
    row.name.data = t.name || "nobody";
    row.words.data = t.heard ? " " + t.heard : "";
    row.reason.data = t.first === null ? t.reason : `${seconds(t.first)} ${t.reason}`;
    // What is the same is not set again: that would have the row styled anew.
    const ended = t.reason === "answered" ? "reason answered" : t.trouble ? "reason trouble" : "reason";

    if (row.ended.className !== ended) row.ended.className = ended;
    mark(row);
  }

  function place(row, index) {
    row.index = index;
    row.el.style.top = index * height + "px";
    row.el.ariaPosInSet = String(index + 1);
  }

  // The rows that are there go on showing their turns, that many places further down.
  function moveRows(by) {
    const all = [...rows.values()];

    rows.clear();
    for (const row of all) {
      place(row, row.index + by);
      rows.set(row.index, row);
    }
  }

  function mark(row) {
    const current = row.id === view.chosen ? "true" : "false";

    if (row.button.ariaCurrent !== current) row.button.ariaCurrent = current;
  }

  // ---- the rows that are seen ----

  // At most so many; those in sight, from `seen` on, come before the spare ones above them. True if all are there.
  function fillRows(first, seen, last, most) {
    for (let n = 0, left = most; n < last - first; n++) {
      const i = seen + n < last ? seen + n : first + n - (last - seen), there = rows.get(i);

      if (there?.id === view.items[i].id) continue;
      if (!left--) return false;
      const row = there || pool.pop() || makeRow();

      rows.set(i, row);
      fillRow(row, i);
      row.el.hidden = false;
      if (!row.el.isConnected) parts.space.append(row.el);
    }
    return true;
  }

  function paint(everything) {
    wanted = false;
    if (!root?.isConnected) return;
    const list = parts.list, all = view.items.length;
    const seen = Math.min(Math.floor(list.scrollTop / height), all), first = Math.max(0, seen - spare);
    const last = Math.min(all, Math.ceil((list.scrollTop + list.clientHeight) / height) + spare);

    for (const [index, row] of rows)
      if (index < first || index >= last) {
        rows.delete(index);
        pool.push(row);
      }
    const whole = fillRows(first, seen, last, everything ? Infinity : aFrame);

    parts.bars.draw(view.items, first, last, height);

    // A row that has the focus keeps it until another one takes it. The others are out of sight, until the list comes to their places.
    for (const row of pool)
      if ((whole || (row.index >= first && row.index < last)) && !row.el.contains(document.activeElement)) row.el.hidden = true;
    if (!whole) later();
    if (last > all - page / 2) older();
  }

  // While somebody scrolls, the frames are the list's: the timeline and what is new wait until it rests.
  const rest = 200, restMost = 3000;
  let scrolledAt = -rest;
  const scrolls = () => performance.now() - scrolledAt < rest;

  async function rested() {
    const end = performance.now() + restMost;

    while (scrolls() && performance.now() < end) await new Promise((done) => setTimeout(done, rest));
  }

  function later() {
    if (wanted || document.hidden) return;
    wanted = true;
    requestAnimationFrame(() => paint(false));
  }

  function focusRow(index) {
    const list = parts.list, y = index * height;

    if (y < list.scrollTop) list.scrollTop = y;
    else if (y + height > list.scrollTop + list.clientHeight) list.scrollTop = y + height - list.clientHeight;
    paint(true);
    rows.get(index)?.button.focus({ preventScroll: true });
  }

  // ---- the turn that is open ----

  function tell(t) {
    parts.told.textContent = t ? `${moment(t.end)}, ${t.name || "nobody"}: ${meaning(t.reason)}${t.first === null ? "" : `, first sound after ${seconds(t.first)}`}.` : "";
  }

  async function choose(id, byKey) {
    const index = view.items.findIndex((t) => t.id === id);

    if (id === undefined) return;
    view.chosen = id;
    // The address leads to it, also from elsewhere.
    history.replaceState(null, "", "#turns/" + id);
    if (index >= 0) parts.timeline.reveal(view.items[index]);
    parts.timeline.set(view.items, id, view.guild);
    for (const row of rows.values()) mark(row);
    if (index >= 0 && (index * height < parts.list.scrollTop || (index + 1) * height > parts.list.scrollTop + parts.list.clientHeight)) {
      parts.list.scrollTop = Math.max(0, (index - 3) * height);
      later();
    }
    parts.aside.classList.add("open");
    parts.close.hidden = false;
    complain(null);
    try {
      const turn = await ask("GET", "/api/turns/" + id);

      if (view.chosen !== id) return;
      if (index < 0) parts.timeline.reveal(make(turn));
      parts.title.textContent = `Turn ${turn.turn}`;
      parts.detail.replaceChildren(...turnNodes.whole(turn));
      parts.aside.scrollTop = 0;
      if (byKey) parts.aside.focus({ preventScroll: true });
    } catch (e) {
      // Where the turn would stand, in place of the one before it.
      if (view.chosen !== id) return;
      parts.title.textContent = "Turn";
      parts.detail.replaceChildren(node("p", { class: "bad", role: "status" }, troubleOf(e)));
    }
  }

  const localTime = (ms) => (ms ? new Date(Number(ms) - new Date(Number(ms)).getTimezoneOffset() * 60e3).toISOString().slice(0, 16) : "");

  async function openThose(those) {
    Object.assign(view, { guild: those.get("guild") || null, person: those.get("user") || "", reason: "",
      since: localTime(those.get("since")), before: localTime(those.get("before")) });
    root.querySelector("#turns-reason").value = "";
    for (const name of ["since", "before"]) root.querySelector("#turns-" + name).value = view[name];
    await reload();
  }

  // #turns/ID opens a turn, also an older one than those that were read; #turns/REASON lists the turns that ended as that, and
  // #turns/guild=ID&user=ID&since=MS&before=MS those of a server, of a person and of a time.
  view.open = async (what) => {
    if (/^\d+$/.test(what)) {
      await choose(what, true);
    } else if (own(state.meanings.reasons, what)) {
      view.reason = what;
      root.querySelector("#turns-reason").value = what;
      await reload();
    } else if (what.includes("=")) {
      await openThose(new URLSearchParams(what));
    }
  };

  view.close = () => {
    if (!view.chosen) return false;
    const index = view.items.findIndex((t) => t.id === view.chosen);

    view.chosen = null;
    history.replaceState(null, "", "#turns");
    parts.aside.classList.remove("open");
    parts.close.hidden = true;
    parts.title.textContent = "Turn";
    parts.detail.replaceChildren(node("p", { class: "muted" }, "Choose a turn to see its words, times and decisions."));
    for (const row of rows.values()) mark(row);
    parts.timeline.set(view.items, null, view.guild);
    if (index >= 0) focusRow(index);
    return true;
  };

  // ---- the parts of the view ----

  function button(text, label, run) {
    const b = node("button", { type: "button", "aria-label": label, title: label }, text);

    b.onclick = run;
    return b;
  }

  function select(id, label, first, options, now, take) {
    const e = node("select", { id }, node("option", { value: "" }, first), ...options.map(([value, text]) => node("option", { value }, text)));

    e.value = now || "";
    e.onchange = () => take(e.value);
    return [node("span", { class: "pair" }, node("label", { for: id }, label), e)];
  }

  function time(name, label) {
    const e = node("input", { id: `turns-${name}`, type: "datetime-local" });

    e.value = view[name];
    e.onchange = () => {
      view[name] = e.value;
      reload();
    };
    return [node("span", { class: "pair" }, node("label", { for: `turns-${name}` }, label), e)];
  }

  // Whoever was seen to speak, in the rooms or in the turns that were read.
  const people = new Map();

  function offerPeople() {
    const e = root.querySelector("#turns-person"), before = people.size;

    for (const r of state.rooms) if (!view.guild || r.guild === view.guild) for (const p of r.people) people.set(p.user, p.name);
    for (const t of view.items.slice(0, 500)) for (const s of t.speech) if (s.user && s.name) people.set(s.user, s.name);
    if (people.size === before && e.options.length > 1) return;
    e.replaceChildren(e.options[0], ...[...people].sort((a, b) => (a[1] < b[1] ? -1 : 1)).map(([user, name]) => node("option", { value: user }, name)));
    e.value = view.person;
  }

  function onCanvasKey(e) {
    const t = parts.timeline, index = view.items.findIndex((x) => x.id === view.chosen);
    // A canvas has no words of its own: what the keys choose is told.
    const turnAt = (i) => {
      const chosen = view.items[Math.max(0, Math.min(view.items.length - 1, i))];

      tell(chosen);
      choose(chosen?.id);
    };
    const run = {
      ArrowLeft: () => turnAt(index + 1), ArrowRight: () => turnAt(index < 0 ? 0 : index - 1), "+": () => t.zoom(0.5), "=": () => t.zoom(0.5), "-": () => t.zoom(2),
      PageUp: () => t.pan(-0.8), PageDown: () => t.pan(0.8), End: () => t.now(), Home: () => turnAt(view.items.length - 1),
    }[e.key];

    if (!run || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    run();
  }

  function legend() {
    return node("p", { class: "legend muted" }, ...["speech", "endpointing", "transcription", "classifier", "floor", "memory", "model", "playback", "tool"].map((kind) =>
      node("span", null, node("i", { class: "key " + kind, "aria-hidden": "true" }), own(stageNames, kind) || kind)));
  }

  function build() {
    const canvas = node("canvas", { class: "timeline", tabindex: "0", role: "application",
      "aria-label": "Timeline of the turns. Arrow keys choose a turn, plus and minus zoom, page keys move, End shows the present. The list below has the same turns." });

    parts.space = node("div", { class: "vspace", role: "list", "aria-label": "Turns, the newest first" });
    parts.list = node("div", { class: "vlist" }, parts.space);
    parts.bars = makeBars({ canvas: node("canvas", { class: "vbars", "aria-hidden": "true" }), own, before, later });
    parts.space.append(parts.bars.canvas);
    parts.title = node("h3", null, "Turn");
    parts.close = button("Close", "Close the turn", () => view.close());
    parts.close.hidden = true;
    parts.detail = node("div", null, node("p", { class: "muted" }, "Choose a turn to see its words, times and decisions."));
    parts.aside = node("aside", { class: "inspector", tabindex: "0", "aria-label": "The turn that is open" },
      node("div", { class: "inspector-head" }, parts.title, parts.close), parts.detail);
    parts.told = node("p", { class: "quiet", role: "status" });
    parts.count = node("p", { class: "muted count" });
    parts.scale = node("div", { class: "vhead muted", "aria-hidden": "true" }, node("span", null, "ended"), node("span", null, "speaker and words"),
      parts.ticks = node("span", { class: "ticks" }), node("span", null, "first sound, reason"));
    parts.window = node("p", { class: "muted window" });
    parts.timeline = makeTimeline({
      canvas, calm, busy: scrolls, needOlder: older, chosen: (id) => choose(id),
      changed: (at, follow) => {
        parts.window.textContent = follow ? `the last ${span(at.to - at.from)}` : `${span(at.to - at.from)} until ${told(at.to)}`;
      },
    });
    canvas.addEventListener("keydown", onCanvasKey);
    parts.list.addEventListener("scroll", () => {
      scrolledAt = performance.now();
      later();
    }, { passive: true });
    new ResizeObserver(later).observe(parts.list);
    narrow.addEventListener("change", () => view.update());
    return root = node("div", { class: "turns-view" },
      node("div", { class: "row tools filters" },
        ...select("turns-guild", "Server", "all", (state.guilds || []).map((g) => [g.id, g.name || g.id]), view.guild, (v) => { view.guild = v; reload(); }),
        ...select("turns-reason", "ended as", "any reason", Object.keys(state.meanings.reasons).filter((r) => r !== "none").sort().map((r) => [r, r]), view.reason, (v) => { view.reason = v; reload(); }),
        ...select("turns-person", "of", "anyone", [], view.person, (v) => { view.person = v; reload(); }),
        ...time("since", "from"), ...time("before", "until")),
      node("div", { class: "row tools" },
        button("−", "Zoom out", () => parts.timeline.zoom(2)), button("+", "Zoom in", () => parts.timeline.zoom(0.5)),
        button("◀", "Earlier", () => parts.timeline.pan(-0.5)), button("▶", "Later", () => parts.timeline.pan(0.5)),
        button("Now", "Now: show the present", () => parts.timeline.now()), parts.window),
      canvas, parts.told, legend(),
      node("div", { class: "turns-split" }, node("div", { class: "turns-list" }, parts.scale, parts.list, parts.count), parts.aside));
  }

  let ticksOf = 0;
  const span = (ms) => (ms < 90e3 ? `${Math.round(ms / 1000)} s` : ms < 5400e3 ? `${Math.round(ms / 60e3)} min` : ms < 129600e3 ? `${Math.round(ms / 3600e3)} h` : counted(Math.round(ms / 864e5), "day"));

  function drawTicks() {
    const ticks = [0];

    if (ticksOf === scale) return;
    ticksOf = scale;
    for (let t = scale <= 6000 ? 1000 : 2000; t < 0.92 * scale; t += scale <= 6000 ? 1000 : Math.ceil(scale / 6000) * 1000) ticks.push(t);
    parts.ticks.replaceChildren(...ticks.map((t) => {
      // Where there is room for it, the word for what lies before.
      const e = node("i", { class: t ? null : "zero" }, t ? `${t / 1000} s` : scale <= 4 * before ? "speech" : "0 s");

      e.style.left = (100 * (t + before) / (scale + before)).toFixed(2) + "%";
      return e;
    }));
    parts.bars.scale(scale);
  }

  view.mount = (body) => {
    if (!root) view.root = build();
    body.replaceChildren(root);
    parts.list.scrollTop = kept;
    if (view.items.length && !view.shownOnce) {
      view.shownOnce = true;
      parts.timeline.reveal(view.items[0]);
    }
  };
  view.leave = () => { kept = parts.list?.scrollTop || 0; };

  view.update = () => {
    if (!root) return;
    const high = narrow.matches ? 52 : 28;

    if (high !== height || view.drawnScale !== scale) {
      height = high;
      view.drawnScale = scale;
      for (const row of rows.values()) row.id = null;
    }
    root.querySelector("#turns-guild").value = view.guild || "";
    offerPeople();
    drawTicks();
    parts.space.style.height = view.items.length * height + "px";
    const count = view.items.length ? `${counted(view.items.length, "turn")}${view.next ? ", more below" : ""}`
      : view.reason || view.person || view.since || view.before ? "No turn is like that." : "No turn is kept yet.";

    if (parts.count.textContent !== count) parts.count.textContent = count;
    for (const [index, row] of rows)
      if (index >= view.items.length) {
        rows.delete(index);
        row.el.hidden = true;
        pool.push(row);
      }
    if (view.items.length && !view.shownOnce) {
      view.shownOnce = true;
      parts.timeline.reveal(view.items[0]);
    }
    parts.timeline.set(view.items, view.chosen, view.guild);
    later();
  };

  // Nothing of what was read stays behind.
  view.forget = () => {
    Object.assign(view, { items: [], next: null, chosen: null, guild: null, reason: "", person: "", since: "", before: "", shownOnce: false });
    spoken.length = 0;
    people.clear();
    rows.clear();
    pool.length = 0;
    root = view.root = null;
    kept = ticksOf = 0;
  };

  // Sounds as they are made, also those that never become a turn.
  view.level = (ev) => {
    const now = Date.now(), speakers = [...Object.keys(ev.users), ...(ev.bot ? ["bot"] : [])];

    for (const s of spoken) if (s.open && s.guild === ev.guild && !speakers.includes(s.user)) s.open = false;
    for (const user of speakers) {
      const open = spoken.find((s) => s.open && s.guild === ev.guild && s.user === user);

      if (open) open.to = now;
      else spoken.push({ guild: ev.guild, user, name: state.rooms.find((r) => r.guild === ev.guild)?.people.find((p) => p.user === user)?.name, from: now, to: now, open: true });
    }
    if (spoken.length > 300) spoken.splice(0, spoken.length - 300);
    parts.timeline?.speak(spoken);
  };

  return view;
}
