// The view of delays: percentiles of the last turns by stage, how many turns had which delay, and how turns ended. Figures lead to turns.

import { counted } from "/times.js";
import { stageNames } from "/turn.js";

const edges = [300, 500, 800, 1000, 1500, 2000, 3000, 5000, Infinity]; // ms
const newest = 16;

const lasted = (pieces) => pieces.reduce((n, p) => n + Math.max(0, (p.endMs ?? p.startMs) - p.startMs), 0);

// Each: [what it is, its time in a turn in ms, or null where the turn has none].
export function delaysOf() {
  const stages = Object.keys(stageNames).filter((name) => name !== "playback");

  return [
    ["end of speech to first sound", (t) => t.firstAudioMs],
    ...stages.map((name) => [stageNames[name], (t) => {
      const of = t.stages.filter((s) => s.name === name);

      return of.length ? lasted(of) : null;
    }]),
    ["tools", (t) => {
      const of = t.timeline.filter((x) => x.kind === "tool" && x.startMs !== null);

      return of.length ? lasted(of) : null;
    }],
  ];
}

// By the nearest rank; list is sorted and not empty.
const percentile = (list, share) => list[Math.max(0, Math.ceil(share * list.length) - 1)];

export function makeLatency({ node, ask, seconds, state, meaning, table, section, muted, choose }) {
  const view = { id: "latency", title: "Latency", role: "viewer", guild: "", most: "500", on: ["turn"], draw };

  view.wants = (ev) => !view.guild || ev.guild === view.guild;

  function path(limit, cursor) {
    const query = new URLSearchParams({ limit: String(limit), timeline: "1" });

    if (view.guild) query.set("guild", view.guild);
    if (cursor) query.set("cursor", cursor);
    return "/api/turns?" + query;
  }

  async function readAll(most) {
    const turns = [];
    let cursor = null;

    do {
      const read = await ask("GET", path(100, cursor));

      turns.push(...read.turns);
      cursor = read.next;
    } while (cursor && turns.length < most);
    return turns.slice(0, most);
  }

  // The newest turns alone, as long as they join those that are there.
  view.load = async () => {
    const { guild } = view, most = Number(view.most), before = view.data?.guild === guild && view.data.most === most ? view.data.turns : [];
    const read = before.length ? await ask("GET", path(newest)) : null;
    const known = read ? read.turns.findIndex((t) => t.id === before[0].id) : -1;
    const turns = known < 0 ? await readAll(most) : read.turns.slice(0, known).concat(before).slice(0, most);

    return guild === view.guild && most === Number(view.most) ? { guild, most, turns } : view.load();
  };

  const link = (to, text, label) => node("a", { href: `#turns/${to}`, "aria-label": label }, text);

  function figures([name, time], turns) {
    const with_ = turns.map((t) => [time(t), t]).filter(([ms]) => ms !== null && ms !== undefined).sort((a, b) => a[0] - b[0]);
    const [longest, turn] = with_.at(-1) || [];

    return { name, count: with_.length, p: with_.length ? [0.5, 0.9, 0.99].map((share) => percentile(with_, share)) : [], longest, turn };
  }

  function bars(turns) {
    const list = turns.filter((t) => t.firstAudioMs !== null), most = Math.max(1, ...edges.map((_, i) => inside(list, i).length));

    return node("ol", { class: "bars" }, ...edges.map((edge, i) => {
      const those = inside(list, i), n = those.length, bar = node("i", { "aria-hidden": "true" }), from = i ? edges[i - 1] / 1000 : 0;

      bar.style.width = (100 * n / most).toFixed(1) + "%";
      return node("li", null, node("span", { class: "muted" }, edge === Infinity ? `over ${from} s` : `${from} to ${edge / 1000} s`),
        node("span", { class: "track" }, n ? bar : null),
        node("span", { class: "number" }, n ? link(those[0].id, n, `${counted(n, "turn")}: open the newest, turn ${those[0].turn}`) : n));
    }));
  }

  const inside = (turns, i) => turns.filter(({ firstAudioMs: ms }) => ms >= (i ? edges[i - 1] : 0) && ms < edges[i]);

  // By the nearest rank, a percentile is the delay of one turn.
  const reached = (row, i, name) => (row.p[i] ? link(row.p[i][1].id, seconds(row.p[i][0]), `${name} ${seconds(row.p[i][0])}: open turn ${row.p[i][1].turn}`) : "–");

  function ends(turns) {
    const counts = new Map();

    for (const t of turns) counts.set(t.reason, (counts.get(t.reason) || 0) + 1);
    return [...counts].sort((a, b) => b[1] - a[1]);
  }

  function select(id, label, options, name) {
    const e = node("select", { id }, ...options.map(([value, text]) => node("option", { value }, text)));

    e.value = view[name];
    e.onchange = async (ev) => {
      view[name] = ev.target.value;
      await choose(view);
    };
    return [node("label", { for: id }, label), e];
  }

  function draw() {
    // A turn that was merged into another one, or speculative and not used, is part of that one.
    const turns = view.data.turns.filter((t) => !t.part), parts = ends(view.data.turns.filter((t) => t.part));

    return [
      node("div", { class: "row tools" },
        ...select("latency-guild", "Server", [["", "all"], ...(state.guilds || []).map((g) => [g.id, g.name || g.id])], "guild"),
        ...select("latency-most", "of the last", [["100", "100 turns"], ["500", "500 turns"], ["2000", "2000 turns"]], "most")),
      muted(turns.length ? `${counted(turns.length, "turn")}. Half of the turns with a stage took its p50 at most, nine of ten its p90.` : "No turn is kept yet."),
      parts.length ? node("p", { class: "muted" }, "Not among them, because they are part of other turns: ", ...parts.flatMap(([reason, n], i) => [i ? ", " : "", `${n} `, link(reason, reason)]), ".") : null,
      turns.length ? table("Delays by stage", [["stage", (r) => r.name], ["turns", (r) => r.count, true], ["p50", (r) => reached(r, 0, "p50"), true],
        ["p90", (r) => reached(r, 1, "p90"), true], ["p99", (r) => reached(r, 2, "p99"), true],
        ["longest", (r) => (r.turn ? link(r.turn.id, seconds(r.longest), `${seconds(r.longest)}: open turn ${r.turn.turn}`) : "–"), true]],
      delaysOf().map((row) => figures(row, turns)), "") : null,
      turns.length ? section("From the end of speech to the first sound", bars(turns)) : null,
      turns.length ? section("How they ended", table("Turns by reason", [["reason", ([reason]) => link(reason, reason)],
        ["turns", ([, n]) => n, true], ["share", ([, n]) => `${Math.round(100 * n / turns.length)} %`, true], ["what it means", ([reason]) => meaning(reason)]],
      ends(turns), "")) : null,
    ];
  }

  return view;
}
