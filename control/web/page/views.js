// The views beside the live room. Each is {id, title, role, load, draw}: load asks control, draw makes nodes of the answer. What a
// change did stands in the view itself. Text of people reaches the page by textContent alone.

import { makeAudit } from "/audit.js";
import { makeLatency } from "/latency.js";
import { makeMemory } from "/memory.js";
import { clock, counted, told, when } from "/times.js";
import { makeVisualizer } from "/visualizer.js";

export const ranks = { viewer: 1, operator: 2, admin: 3 };

export function makeViews({ node, ask, dollars, seconds, own, state, meaning, dirty, choose }) {
  const shown = (v) => (v === null || v === undefined ? "–" : typeof v === "object" ? JSON.stringify(v) : String(v));
  const may = (role) => ranks[state.who?.role] >= ranks[role];
  // Of all channels: not for those who see only the ones that everybody may enter.
  const ofAll = () => !state.who?.openOnly;
  const guildName = (id) => state.guilds?.find((g) => g.id === id)?.name || id || "–";
  // A person by the name that a room has for them; an id otherwise.
  const personName = (id) => {
    const name = state.rooms.flatMap((r) => r.people).find((p) => p.user === id)?.name;

    return name ? `${name} (${id})` : id;
  };
  const muted = (text) => node("p", { class: "muted" }, text);
  // Figures lead to their turns: to one, or to those of a server, a person and a time.
  const turnLink = (turn, id) => (id ? node("a", { href: "#turns/" + id, "aria-label": `Open turn ${turn}` }, turn) : turn);
  const turnsLink = (those, text, label) => node("a", { href: "#turns/" + new URLSearchParams(those), "aria-label": label }, text);
  const mark = (good, yes, no) => node("span", { class: good ? "yes" : "bad" }, good ? "✓ " + yes : "▲ " + no);

  // Columns: [name, cell of a row, is a number]. A row with an id of its own stays the same one when its cells change.
  function table(caption, columns, rows, none) {
    if (!rows.length) return muted(none);
    return node("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption }, node("table", { class: columns.length < 4 ? "few" : null },
      node("caption", { class: "quiet" }, caption),
      node("thead", null, node("tr", null, ...columns.map(([name, , number]) =>
        node("th", { scope: "col", class: number ? "number" : null }, name)))),
      node("tbody", null, ...rows.map((row) => node("tr", { "data-key": row.id ?? row.callId ?? row.userId }, ...columns.map(([, cell, number]) => {
        const made = cell(row);

        return node("td", { class: number ? "number" : null }, made === null || made === undefined ? "–" : made);
      }))))));
  }

  const section = (title, ...children) => node("section", null, node("h3", null, title), ...children);
  // A section of a call stays the same one, whatever its room is called.
  const sectionOf = (guild, title, ...children) => node("section", { "data-key": guild }, node("h3", null, title), ...children);

  function button(text, run, attributes) {
    const b = node("button", { type: "button", ...attributes }, text);

    b.onclick = run;
    return b;
  }

  function guildSelect(view, id) {
    const e = node("select", { id }, node("option", { value: "" }, "all"), ...(state.guilds || []).map((g) => node("option", { value: g.id }, g.name || g.id)));

    e.value = view.guild;
    e.onchange = ({ target }) => {
      view.guild = target.value;
      choose(view);
    };
    return node("div", { class: "row tools" }, node("label", { for: id }, "Server"), e);
  }

  // A list of pages: {rows, next}, with the older ones behind a button.
  async function page(path, name, query, before) {
    const q = new URLSearchParams({ limit: "50", ...query });

    if (before?.next) q.set("cursor", before.next);
    const answer = await ask("GET", `${path}?${q}`);

    return { rows: (before?.rows || []).concat(answer[name]), next: answer.next };
  }

  function older(view, load) {
    if (!view.data.next) return null;
    return button("Older", async () => {
      view.data = await load(view.data).catch((e) => ({ ...view.data, trouble: e.message }));
      dirty();
    });
  }

  const list = (path, name, query) => ({
    load: (view) => page(path, name, query?.(view) || {}),
    more: (view) => older(view, (before) => page(path, name, query?.(view) || {}, before)),
  });

  // ---- settings ----

  const longText = 200; // bytes that a text may have, from which on it gets several lines
  const effects = { applied: "at once", next_call: "on the next call", after_restart: "after a restart",
    applied_or_after_restart: "at once, or after a restart if it needs messages that Discord does not send now" };

  const settings = {
    id: "settings", title: "Settings", role: "viewer", search: "", part: "", guild: "", changes: new Map(), outcome: null, faults: [],
    on: ["setting_changed"],
    forget() { settings.faults = []; },
    async load(view) {
      const [schema, now, guild] = await Promise.all([ask("GET", "/api/settings/schema"), ask("GET", "/api/settings"),
        view.guild ? ask("GET", "/api/settings?guild=" + view.guild) : null]);
      if (view.guild) await readChannels([view.guild]);
      const history = may("admin") ? (await ask("GET", "/api/settings/history")).versions : [];

      return { schema, now, effective: (guild || now).effective, history };
    },
    draw: drawSettings,
  };

  const ownIntent = (intent) => (settings.guild ? intent.guilds?.[settings.guild] || {} : intent);

  // Changes are of a server, or of all (""): {guild, name, value, was, trouble}. trouble: why the value cannot be one.
  const changeOf = (name) => settings.changes.get(`${settings.guild} ${name}`);

  function dropChange(name) {
    settings.changes.delete(`${settings.guild} ${name}`);
    dirty();
  }

  function setChange(name, value, was, trouble) {
    settings.changes.set(`${settings.guild} ${name}`, { guild: settings.guild, name, value, was: changeOf(name)?.was ?? was, trouble });
    dirty();
  }

  // The intent as it would be with the changes; null takes a setting back to its default.
  function wantedIntent(intent) {
    const all = structuredClone(intent);

    for (const { guild, name, value } of settings.changes.values()) {
      const mine = guild ? ((all.guilds ||= {})[guild] ||= {}) : all;

      if (value === null) delete mine[name];
      else mine[name] = value;
    }
    for (const { guild } of settings.changes.values()) if (guild && !Object.keys(all.guilds[guild] || { left: 1 }).length) delete all.guilds[guild];
    if (all.guilds && !Object.keys(all.guilds).length) delete all.guilds;
    return all;
  }

  async function changeSettings(method, path, document) {
    try {
      const answer = await ask(method, path, null, document);

      settings.outcome = answer.outcomes?.length
        ? answer.outcomes.map((o) => `${o.key}: takes effect ${effects[o.outcome] || o.outcome}.`)
        : [`Saved as version ${answer._meta.version}.`];
      settings.faults = [];
      settings.changes.clear();
      settings.data = await settings.load(settings);
    } catch (e) {
      settings.outcome = [e.status ? e.message : "control does not answer."];
      settings.faults = e.body?.errors || [];
      // Somebody else's version is shown; the changes stay.
      if (e.status === 409) settings.data = await settings.load(settings).catch(() => settings.data);
    }
    dirty();
  }

  const version = () => ({ version: settings.data.now._meta.version, expectedUpdatedAt: settings.data.now._meta.updatedAt });

  function input(row, value, id) {
    const attributes = { id, "aria-describedby": id + "-text", disabled: !may("admin") };
    let e;

    if (row.kind === "switch") {
      e = node("select", attributes, node("option", { value: "true" }, "yes"), node("option", { value: "false" }, "no"));
      e.value = String(value);
    } else if (row.kind === "word") {
      const words = row.words.split(/[\s,|]+/).filter((w) => w && w !== "or");

      e = node("select", attributes, ...[...new Set([value, ...words])].map((w) => node("option", { value: w }, w)));
      e.value = value;
    } else if (row.kind === "text" && row.bytes > longText) {
      e = node("textarea", { ...attributes, rows: "4", maxlength: row.bytes, autocomplete: "off" });
      e.value = String(value);
    } else {
      e = node("input", { ...attributes, type: row.kind === "number" ? "number" : "text", min: row.min, max: row.max,
        maxlength: row.bytes, autocomplete: "off" });
      e.value = String(value);
    }
    // As it is typed, so that nothing moves under the pointer when somebody goes on to Save.
    e.oninput = ({ target }) => {
      const was = settings.data.effective[row.name];
      const typed = row.kind === "number" ? (target.value.trim() ? Number(target.value) : NaN) : row.kind === "switch" ? target.value === "true" : target.value;

      if (Number.isNaN(typed)) setChange(row.name, "", was, `Type a number from ${row.min} to ${row.max}.`);
      else if (typed === was) dropChange(row.name);
      else setChange(row.name, typed, was);
    };
    return e;
  }

  // What the ids of a list are called, as far as it is known, and, of voice channels, those of the server to choose from.
  function drawIds(row, value) {
    const ids = value.split(/[\s,]+/).filter(Boolean), names = ids.map((id) => (channelName(id) !== id ? channelName(id) : personName(id)));
    const known = names.filter((name, i) => name !== ids[i]);
    const offered = /^(allowed|blocked)_channels$/.test(row.name) && may("admin") ? (channelsOf.get(settings.guild) || []).filter((c) => !ids.includes(c.id)) : [];
    const add = offered.length ? node("select", { "aria-label": `Add a channel to ${row.name}`, "data-key": "add" }, node("option", { value: "" }, "Add a channel …"),
      ...offered.map((c) => node("option", { value: c.id }, c.name || c.id))) : null;

    if (add) add.onchange = ({ target }) => {
      if (!target.value) return;
      const typed = [...ids, target.value].join(","), was = effectiveOf(row.name);

      if (typed === was) dropChange(row.name);
      else setChange(row.name, typed, was);
    };
    return node("div", { class: "ids" }, known.length ? node("p", { class: "muted" }, known.join(", ")) : null, add);
  }

  const effectiveOf = (name) => settings.data.effective[name];

  function settingRow(row) {
    const { effective, now } = settings.data, id = "setting-" + row.name;
    const change = changeOf(row.name), changed = Boolean(change), kept = Object.hasOwn(ownIntent(now.intent), row.name);
    const wanted = changed ? change.value : effective[row.name];
    const fault = change?.trouble || settings.faults.find((f) => f.pointer.endsWith(settings.guild ? `/guilds/${settings.guild}/${row.name}` : "/" + row.name)
      && (settings.guild || !f.pointer.includes("/guilds/")))?.detail;

    return node("li", { class: changed ? "setting changed" : "setting", "data-key": `${settings.guild} ${row.name}` },
      node("div", null, node("label", { for: row.kind === "secret" || typeof effective[row.name] === "object" ? null : id }, row.name),
        node("p", { class: "muted", id: id + "-text" }, row.text, row.kind === "number" ? ` ${row.min} to ${row.max}${row.unit ? " " + row.unit : ""}.` : "",
          row.kind === "secret" ? "" : ` Takes effect ${effects[row.effect]}; the default is ${shown(row.default) || "empty"}.`),
        fault && node("p", { class: "bad" }, fault)),
      node("div", { class: "row" },
        row.kind === "secret" ? node("span", null, effective[row.name]?.set ? "set outside of this page" : "not set")
          : typeof effective[row.name] === "object" ? node("span", { class: "muted" }, effective[row.name]?.set ? "set; for admins to see" : "not set")
          : input(row, wanted === null ? row.default : wanted, id),
        row.kind === "ids" && typeof effective[row.name] !== "object" && drawIds(row, String(wanted === null ? row.default : wanted)),
        kept && may("admin") && !changed && button("Take back", () => setChange(row.name, null, effective[row.name]), { "aria-label": `Take back ${row.name} to what is below it` }),
        kept ? node("span", { class: "muted" }, settings.guild ? "of this server" : "changed here") : null));
  }

  const presetNow = () => ownIntent(settings.data.now.intent).preset || "";

  // What a preset changes: what is set by itself goes before it.
  function ofPreset(name) {
    const preset = settings.data.schema.presets.find((p) => p.name === name), { effective, now } = settings.data;

    return Object.entries(preset?.intent || {}).filter(([key, value]) =>
      !Object.hasOwn(ownIntent(now.intent), key) && !changeOf(key) && JSON.stringify(effective[key]) !== JSON.stringify(value));
  }

  function drawPreset() {
    const { presets } = settings.data.schema, change = changeOf("preset"), wanted = change ? change.value || "" : presetNow();
    const e = node("select", { id: "setting-preset", "aria-describedby": "setting-preset-text", disabled: !may("admin") }, node("option", { value: "" }, "none"),
      ...presets.map((p) => node("option", { value: p.name }, p.name)));

    e.value = wanted;
    e.onchange = ({ target }) => (target.value === presetNow() ? dropChange("preset") : setChange("preset", target.value || null, presetNow()));
    return section("Preset", node("ul", { class: "settings" }, node("li", { class: change ? "setting changed" : "setting", "data-key": settings.guild + " preset" },
      node("div", null, node("label", { for: "setting-preset" }, "preset"), node("p", { class: "muted", id: "setting-preset-text" },
        "A named set of settings to begin with. What is set below goes before it. ", ...presets.map((p) => `${p.name}: ${p.text} `))),
      node("div", { class: "row" }, e))));
  }

  // What a change would replace: as it is now, and as it was if somebody else has changed it meanwhile.
  function nowOf({ guild, name, was }) {
    if (guild !== settings.guild) return shown(was) || "none";
    const value = name === "preset" ? presetNow() : settings.data.effective[name];

    return JSON.stringify(value) === JSON.stringify(was) ? shown(value) || "none"
      : node("span", null, shown(value), node("span", { class: "bad" }, ` ▲ was ${shown(was)} before somebody else changed it `),
        button("Take theirs", () => dropChange(name), { "aria-label": `Take theirs: ${name}` }));
  }

  function drawChanges() {
    if (!settings.changes.size) return null;
    const { effective, now } = settings.data, all = [...settings.changes.values()], wrong = all.filter((c) => c.trouble).length;
    const rows = all.flatMap((c) => [c, ...(c.name === "preset" && c.guild === settings.guild
      ? ofPreset(c.value).map(([name, value]) => ({ guild: c.guild, name, value, was: effective[name] })) : [])]);
    const scopes = all.some((c) => c.guild) ? [["for", (c) => (c.guild ? guildName(c.guild) : "all servers")]] : [];

    return node("section", { class: "changes", "data-key": "changes" }, node("h3", null, "Not saved yet"),
      table("Changes before saving", [["setting", (c) => c.name], ...scopes, ["now", nowOf],
        ["then", (c) => (c.trouble ? node("span", { class: "bad" }, "▲ no number") : c.value === null ? (c.name === "preset" ? "none" : "what is below it") : shown(c.value))]],
      rows, ""),
      node("div", { class: "row" },
        button("Save", () => changeSettings("PUT", "/api/settings", { intent: wantedIntent(settings.data.now.intent), _meta: version() }), { disabled: wrong > 0 }),
        button("Check", () => ask("POST", "/api/settings/check", null, { intent: wantedIntent(now.intent) }).then(() => {
          settings.outcome = ["These settings can be saved."];
          settings.faults = [];
        }, (e) => {
          settings.outcome = [e.message];
          settings.faults = e.body?.errors || [];
        }).then(dirty), { disabled: wrong > 0 }),
        button("Discard", () => {
          settings.changes.clear();
          settings.outcome = null;
          settings.faults = [];
          dirty();
        })));
  }

  // The settings of a version become changes, which are looked over and saved like all others.
  async function takeUp(number) {
    const { effective, now } = settings.data;

    try {
      for (const { key, before, after } of (await ask("GET", `/api/settings/diff?from=${number}&to=${now._meta.version}`)).changes) {
        const [name, guild] = key.split("/").reverse(), here = (guild || "") === settings.guild;

        settings.changes.set(`${guild || ""} ${name}`, { guild: guild || "", name, value: before ?? null,
          was: !here ? after : name === "preset" ? presetNow() : effective[name] });
      }
      settings.outcome = [`The settings of version ${number} stand under "Not saved yet".`];
    } catch (e) {
      settings.outcome = [e.status ? e.message : "control does not answer."];
    }
    dirty();
  }

  function drawHistory() {
    const { history } = settings.data;

    if (!may("admin")) return null;
    return section("History",
      table("Versions of the settings", [["version", (v) => v.version, true], ["saved", (v) => when(v.updatedAt)], ["by", (v) => v.author],
        ["as they were", (v) => (v.version === settings.data.now._meta.version ? "these" : button("Take up again",
          () => takeUp(v.version), { "aria-label": `Take up again the settings of version ${v.version}` }))],
        ["change", (v) => (v.version < 2 ? "" : button("What changed", async () => {
          const { changes } = await ask("GET", `/api/settings/diff?from=${v.version - 1}&to=${v.version}`).catch((e) => ({ changes: [{ key: e.message }] }));

          settings.diff = { version: v.version, changes };
          dirty();
        }))]], history, "Nothing was changed here yet."),
      settings.diff && section(`What version ${settings.diff.version} changed`,
        table("What changed", [["setting", (c) => c.key], ["before", (c) => shown(c.before)], ["after", (c) => shown(c.after)]],
          settings.diff.changes, "Nothing.")),
      history.length > 1 ? button("Undo the last change", () => changeSettings("POST", "/api/settings/undo", { _meta: version() })) : null);
  }

  // Changes of other servers stay beside those of this one. What is shown is of the scope that stands above it, or is not shown.
  async function chooseScope(view, guild) {
    const before = view.guild;

    view.guild = guild;
    try {
      const data = await view.load(view);

      if (view.guild !== guild) return;
      Object.assign(view, { data, outcome: null, faults: [] });
    } catch (e) {
      if (view.guild !== guild) return;
      Object.assign(view, { guild: before, outcome: [e.status ? e.message : "control does not answer."] });
    }
    dirty();
  }

  function drawSettings(view) {
    const find = node("input", { type: "search", id: "setting-search", autocomplete: "off" });
    const scope = node("select", { id: "setting-scope" }, node("option", { value: "" }, "all servers"),
      ...(state.guilds || []).map((g) => node("option", { value: g.id }, g.name || g.id)));
    const names = [...new Set(view.data.schema.settings.map((r) => r.group))], groups = new Map();
    const part = node("select", { id: "setting-part" }, node("option", { value: "" }, "all"), ...names.map((g) => node("option", { value: g }, g)));
    const hit = (r) => !view.search || (r.name + " " + r.text).toLowerCase().includes(view.search.toLowerCase());

    find.value = view.search;
    scope.value = view.guild;
    part.value = view.part;
    part.onchange = ({ target }) => {
      view.part = target.value;
      dirty();
    };
    find.oninput = ({ target }) => {
      view.search = target.value;
      dirty();
    };
    scope.onchange = ({ target }) => chooseScope(view, target.value);
    for (const row of view.data.schema.settings.filter((r) => hit(r) && (!view.part || r.group === view.part) && (!view.guild || r.perServer !== false))) groups.set(row.group, (groups.get(row.group) || []).concat(row));
    return [
      node("div", { class: "row tools" }, node("label", { for: "setting-search" }, "Search"), find, node("label", { for: "setting-part" }, "in"), part,
        node("label", { for: "setting-scope" }, "for"), scope),
      may("admin") ? null : muted("Admins may change settings."),
      view.outcome && node("ul", { class: "outcomes" }, ...view.outcome.map((o) => node("li", null, o)),
        ...view.faults.map((f) => node("li", { class: "bad" }, `${f.pointer}: ${f.detail}`))),
      drawChanges(),
      view.search || view.part ? null : drawPreset(),
      ...[...groups].map(([name, rows]) => section(name, node("ul", { class: "settings" }, ...rows.map(settingRow)))),
      groups.size ? null : muted("No setting has these words."),
      view.search ? null : drawHistory(),
    ];
  }

  // ---- speech-to-text ----

  const closed = { idle_ttl: "closed: nobody spoke for a while", user_left: "closed: the person left", error: "closed: it found no words, or failed" };

  const asrErrors = { empty: "sound without words" };

  function describeAsr(s) {
    if (!s.connected) return node("span", { class: "muted" }, "○ " + (own(closed, s.closedReason) || "closed"));
    const left = s.idleTimerEndsAt ? Math.max(0, Math.ceil((Date.parse(s.idleTimerEndsAt) - Date.now()) / 1000)) : null;

    return node("span", { class: "yes" }, left === null ? "● in use" : `● idle, closes in ${left} s`);
  }

  const transcription = {
    id: "transcription", title: "Speech-to-text", role: "viewer", live: true, ticks: true, on: ["asr_session", "utterance", "session_over"],
    load: async () => ({ sessions: (await ask("GET", "/api/voice/state")).sessions }),
    draw: ({ data }) => (data.sessions.length ? data.sessions.map((s) => sectionOf(s.guildId,
      `${state.rooms.find((r) => r.guild === s.guildId)?.channelName || s.voiceChannelId} · ${guildName(s.guildId)}`,
      table("Speech-to-text of each person", [["person", (a) => a.displayName || a.userId], ["session", describeAsr],
        ["opened", (a) => a.createdAt && told(a.createdAt)], ["last transcript", (a) => a.lastTranscriptAt && told(a.lastTranscriptAt)],
        ["transcripts", (a) => a.transcripts, true], ["speech", (a) => seconds(a.audioMs), true],
        ["last trouble", (a) => (a.lastError ? node("span", { class: "bad" }, "▲ " + (own(asrErrors, a.lastError) || a.lastError)) : "none")]],
      s.asrSessions, "Nobody has spoken yet."))) : [muted("The bot is in no voice channel.")]),
  };

  // ---- music ----

  const visualizer = makeVisualizer({ node, own });
  const length = (ms) => (ms === null ? "–" : `${Math.floor(ms / 60000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`);
  const music = {
    id: "music", title: "Music", role: "viewer", outcomes: {}, live: true, on: ["tool_called"],
    async load() {
      const [rooms, calls_] = await Promise.all([ask("GET", "/api/rooms"), ask("GET", "/api/voice/tool-events?limit=100")]);

      return { rooms: rooms.rooms, calls: calls_.events.filter((c) => /^(music_|play_music)/.test(c.toolName)) };
    },
    draw: (view) => (view.data.rooms.length ? view.data.rooms.map((r) => drawMusic(view, r)) : [muted("The bot is in no voice channel.")]),
  };

  // What people asked for by voice, of the last calls of all tools.
  function drawMusicCalls(view, room) {
    return table("What was asked for by voice", [["at", (c) => when(c.startedAt)], ["what", (c) => c.toolName], ["turn", (c) => turnLink(c.turn, c.turnId), true],
      ["took", (c) => seconds(c.runtimeMs), true], ["outcome", (c) => (c.state === "running" ? "runs" : mark(c.success, c.state, c.state))], ["output", (c) => output(c) || ""]],
    view.data.calls.filter((c) => c.guild === room.guild).slice(0, 20), "Nothing was asked for by voice lately.");
  }

  function drawMusic(view, room) {
    const m = room.music, title = `${room.channelName || room.channel} · ${room.guildName || room.guild}`;
    const give = (action) => async () => {
      try {
        await ask("POST", `/api/rooms/${room.guild}/music`, null, { action });
        view.outcomes[room.guild] = `${action}: the bot has the order (${clock(Date.now())}).`;
      } catch (e) {
        view.outcomes[room.guild] = `${action}: ${e.message}`;
      }
      await choose(view);
    };

    if (!m) return sectionOf(room.guild, title, muted("No music was asked for in this call."));
    const phase = m.nowPlayingIndex === null ? "nothing plays" : m.halted ? "halted: the last tracks failed" : m.isPaused ? "paused" : "plays";

    return sectionOf(room.guild, title,
      node("p", null, `${phase} · at ${length(m.positionMs)} · volume ${Math.round(m.volume * 100)} % · repeat ${m.loop}`,
        m.streamTitle ? ` · ${m.streamTitle}` : ""),
      may("operator") && m.nowPlayingIndex !== null
        ? node("div", { class: "row" }, button(m.isPaused ? "Resume" : "Pause", give(m.isPaused ? "resume" : "pause"), { "data-key": "pause" }),
          button("Skip", give("skip")), button("Stop music", give("stop"))) : null,
      node("p", { class: "muted", role: "status" }, view.outcomes[room.guild] || ""),
      m.nowPlayingIndex !== null ? visualizer.draw(room) : null,
      table("Queue", [["state", (t) => (t === m.tracks[0] && m.nowPlayingIndex === 0 ? "▶ now" : "waits")], ["title", (t) => t.title],
        ["requested by", (t) => room.people.find((p) => p.user === t.requester)?.name || (t.requester ? "somebody who left" : "–")],
        ["source", (t) => t.source], ["length", (t) => length(t.durationMs), true]], m.tracks, "The queue is empty."),
      m.trackCount > m.tracks.length ? muted(`${m.trackCount - m.tracks.length} more wait.`) : null, drawMusicCalls(view, room));
  }

  // ---- providers, costs, tools, faults ----

  // Among the faults, which may be many more.
  async function readFailovers() {
    let read = null, found = [];

    for (let i = 0; i < 5 && found.length < 50 && (!read || read.next); i++) {
      read = await page("/api/errors", "errors", { limit: "100" }, read && { rows: [], next: read.next });
      found = found.concat(read.rows.filter((e) => e.kind !== "fault"));
    }
    return found;
  }

  const providers = {
    id: "providers", title: "Providers", role: "viewer", live: true,
    async load() {
      // Those who see one server alone get no figures of all.
      const [now, rooms, errors, ready, health] = await Promise.all([ask("GET", "/api/settings"), ask("GET", "/api/rooms"),
        readFailovers(), fetch("/readyz").then((r) => r.json()), ask("GET", "/api/providers").catch(() => ({ providers: [] }))]);

      return { bindings: now.bindings, rooms: rooms.rooms, errors, ready, health: health.providers };
    },
    draw({ data }) {
      const roles = Object.entries(data.bindings.roles || {}).flatMap(([role, served]) => served.map((p, i) => ({ role, ...p, place: i + 1 })));

      return [
        section("Parts of control", table("Parts", [["part", ([name]) => name],
          ["state", ([, s]) => (s === "unused" ? node("span", { class: "muted" }, "○ unused") : mark(s === "up", s, s))]], Object.entries(data.ready.parts), "")),
        section("In the calls now", table("Engines", [["room", (r) => r.channelName || r.channel], ["engine", (r) => r.brain?.name],
          ["state", (r) => r.brain && mark(r.brain.up && !r.brain.silent, "up", r.brain.up ? "does not answer" : "down")],
          ["serves now", (r) => r.brain?.serving]], data.rooms, "The bot is in no voice channel.")),
        section("Requests, failures and delays since control started", table("Providers", [["provider", (p) => p.provider], ["role", (p) => p.role],
          ["state", (p) => (p.up === null ? "–" : mark(p.up, "up", "down"))], ["requests", (p) => p.requests, true], ["of the last hour", (p) => p.requestsLastHour, true],
          ["failures", (p) => p.failures, true], ["of the last hour", (p) => p.failuresLastHour, true], ["first sound, p50", (p) => seconds(p.delays.p50Ms), true],
          ["p95", (p) => seconds(p.delays.p95Ms), true],
          ["last failure", (p) => (p.lastFailureAt ? `${when(p.lastFailureAt)}${p.lastFailure ? `: ${p.lastFailure}` : ""}` : "none")]], data.health,
        "No provider was asked yet.")),
        section("Who serves which role, in order", table("Roles", [["role", (p) => p.role], ["place", (p) => p.place, true],
          ["provider", (p) => p.provider], ["dialect", (p) => p.dialect], ["model", (p) => p.model], ["address", (p) => p.url]], roles,
        "No provider is configured.")),
        section("Failovers and refused settings", may("operator")
          ? table("Failovers", [["at", (e) => (e.guild ? turnsLink({ guild: e.guild, since: Date.parse(e.at) - 300e3, before: Date.parse(e.at) + 300e3 }, when(e.at), `Turns around ${when(e.at)}`) : when(e.at))], ["what", (e) => e.kind], ["role", (e) => e.event?.role],
            ["what happened", (e) => (e.kind === "failover" ? `${e.event?.from} gave way to ${e.event?.to}` : `${e.event?.provider}: ${e.event?.why}`)]],
          data.errors, "None is kept.") : muted("Failovers are for operators.")),
      ];
    },
  };

  // Of a server: what it spent today, and the cap that holds for it, its own before that of all.
  const todayOf = (data, guild) => data.today.find((c) => c.guild === guild)?.usd || 0;
  const capOf = (data, guild) => data.own[guild]?.cost_guild_cents ?? data.s.cost_guild_cents;

  function shareOf(usd, cents, warn) {
    const percent = cents ? Math.round(10000 * usd / cents) : 0;

    return !cents ? "–" : percent < warn ? `${percent} %` : node("span", { class: "bad" }, `▲ ${percent} %`);
  }

  const costs = {
    id: "costs", title: "Costs", role: "operator", there: ofAll, days: "1", on: ["turn"],
    async load(view) {
      const since = new Date(Math.floor(Date.now() / 864e5) * 864e5 - (Number(view.days) - 1) * 864e5);
      const midnight = Math.floor(Date.now() / 864e5) * 864e5;
      const [spent, now, today] = await Promise.all([ask("GET", "/api/costs?since=" + since.getTime()), ask("GET", "/api/settings"),
        view.days === "1" ? null : ask("GET", "/api/costs?since=" + midnight)]);

      return { ...spent, s: now.effective, own: now.intent?.guilds || {}, today: (today || spent).servers };
    },
    draw(view) {
      const { data } = view, select = node("select", { id: "cost-days" }, ...[["1", "today"], ["7", "7 days"], ["30", "30 days"]].map(([v, t]) =>
        node("option", { value: v }, t)));
      const cap = (cents) => (cents ? dollars(cents / 100) : "none");

      select.value = view.days;
      select.onchange = async ({ target }) => {
        view.days = target.value;
        await choose(view);
      };
      return [
        node("div", { class: "row tools" }, node("label", { for: "cost-days" }, "Days of UTC"), select),
        node("p", { class: "sum" }, dollars(data.usd)),
        muted(`A day's cap for all servers: ${cap(data.s.cost_day_cents)}; for each: ${cap(data.s.cost_guild_cents)}. `
          + `People are told at ${data.s.cost_warn_percent} %; at the cap: ${data.s.cost_at_limit}.`),
        section("By server", table("What each server spent", [["server", (c) => guildName(c.guild)], ["cost", (c) => dollars(c.usd), true],
          ["today", (c) => dollars(todayOf(data, c.guild)), true], ["its cap of a day", (c) => cap(capOf(data, c.guild)), true],
          ["of its cap", (c) => shareOf(todayOf(data, c.guild), capOf(data, c.guild), data.s.cost_warn_percent), true]], data.servers, "Nothing was spent.")),
        section("By speaker", table("What each speaker's words cost", [["speaker", (c) => (c.user ? data.costs.find((r) => r.user === c.user && r.name)?.name || personName(c.user) : "nobody: the bot's own work")],
          ["cost", (c) => `${c.estimated ? "about " : ""}${dollars(c.usd)}`, true]], data.speakers.slice(0, 25), "Nothing was spent."),
        data.speakers.some((c) => c.estimated) ? muted("Speech-to-text is paid for a whole session: it is divided by how long each person spoke.") : null,
        data.speakers.length > 25 ? muted(`${data.speakers.length - 25} more spent less.`) : null),
        section("By provider", table("What each provider was paid", [["provider", (c) => c.provider], ["role", (c) => c.role], ["cost", (c) => dollars(c.usd), true]],
          data.providers, "Nothing was spent.")),
        section("By day and all of these", table("What was spent", [["day", (c) => c.day], ["server", (c) => guildName(c.guild)], ["speaker", (c) => c.name], ["provider", (c) => c.provider],
          ["model", (c) => c.model], ["role", (c) => c.role], ["turns", (c) => (c.turns ? turnsLink({ guild: c.guild, ...(c.user ? { user: c.user } : {}), since: Date.parse(c.day), before: Date.parse(c.day) + 864e5 },
            c.turns, `${counted(c.turns, "turn")} of ${c.name || "all"} on ${c.day}`) : c.turns), true],
          ["cost", (c) => `${c.priced ? "" : "at least "}${c.estimated ? "about " : ""}${dollars(c.usd)}`, true]], data.costs, "Nothing was spent.")),
        data.truncated ? muted("More rows are left out; the sum has them.") : null,
      ];
    },
  };

  const calls = list("/api/voice/tool-events", "events");
  const output = (c) => (c.outputSummary?.startsWith(c.toolName + ": ") ? c.outputSummary.slice(c.toolName.length + 2) : c.outputSummary);
  const tools = {
    id: "tools", title: "Tools", role: "viewer", on: ["tool_began", "tool_called"],
    async load(view) {
      const [page, mcp, rooms] = await Promise.all([calls.load(view), ask("GET", "/api/mcp/status"), ask("GET", "/api/rooms")]);

      return { ...page, servers: mcp.servers, rooms: rooms.rooms };
    },
    draw(view) {
      const servers = view.data.servers || [];

      return [
        section("Calls", table("Calls of tools", [["at", (c) => when(c.startedAt)], ["tool", (c) => c.toolName], ["kind", (c) => c.toolType],
          ["turn", (c) => turnLink(c.turn, c.turnId), true], ["took", (c) => seconds(c.runtimeMs), true],
          ["outcome", (c) => (c.state === "running" ? "runs" : mark(c.success, c.state, c.state))],
          ["output", (c) => output(c) || (c.error !== c.state ? c.error : "") || ""]], view.data.rows, "No tool was called."),
        older(view, async (before) => ({ ...before, ...await page("/api/voice/tool-events", "events", {}, before) }))),
        section("Tools offered to models", ...(view.data.rooms || []).map((r) => node("p", { class: "words" },
          node("b", null, `${r.channelName || r.channel}: `), (r.brainTools || []).length
            ? r.brainTools.map((t) => t.name).sort().join(", ") : "none")),
        view.data.rooms?.length ? null : muted("The bot is in no voice channel.")),
        section("MCP servers", ...(servers.length ? servers.map((s) => node("div", { class: "server" },
          node("p", null, node("b", null, s.serverName), " ", mark(s.connected, "connected", "not connected"),
            node("span", { class: "muted" }, `${s.since ? ` since ${when(s.since)}` : ""} · protocol ${shown(s.protocolVersion)} · calls ${shown(s.calls)}, failed ${shown(s.failures)}`
              + (s.changedLists ? ` · its list of tools changed ${counted(s.changedLists, "time")}` : ""))),
          s.lastError ? node("p", { class: "bad" }, s.lastError) : null,
          table(`Tools of ${s.serverName}`, [["tool", (t) => t.name], ["what its server says", (t) => t.description]], s.tools || [], "It lists no tools.")))
          : [muted("The settings name no server.")])),
      ];
    },
  };

  const faultOf = (e) => own(state.meanings.faults || {}, e.event?.fault) || {};
  const errors = list("/api/errors", "errors", (view) => (view.guild ? { guild: view.guild } : {}));
  const lasted = (ms) => (ms < 90e3 ? `${Math.round(ms / 1000)} s` : ms < 5400e3 ? `${Math.round(ms / 60e3)} min` : `${Math.round(ms / 3600e3)} h`);

  // A fault that began and one that is over are two rows; rows come newest first. A fault that is over without having begun happened once.
  function describeFault(e, rows) {
    if (e.event.ended) return `over, after ${lasted(e.event.lasted_ms)}`;
    const at = rows.indexOf(e), same = (o) => o.kind === "fault" && o.guild === e.guild && o.event?.fault === e.event.fault;

    if (e.event.there) return rows.slice(0, at).some(same) ? "began" : node("span", { class: "bad" }, "▲ began, not over yet");
    const before = rows.slice(at + 1).find(same);

    // Of a control that tells ends, what did not end happened once.
    if (e.event.ended === false) return "happened once";
    if (before?.event.there) return `over, after ${lasted(Date.parse(e.at) - Date.parse(before.at))}`;
    return before ? "happened once" : "over, or happened once";
  }

  const faults = {
    id: "faults", title: "Faults", role: "viewer", there: ofAll, guild: "", on: ["fault", "failover"], load: errors.load,
    draw: (view) => [guildSelect(view, "faults-guild"), table("Faults", [["at", (e) => (e.guild ? turnsLink({ guild: e.guild, since: Date.parse(e.at) - 300e3, before: Date.parse(e.at) + 300e3 }, when(e.at),
      `Turns around ${when(e.at)}`) : when(e.at))], ["server", (e) => guildName(e.guild)], ["kind", (e) => e.kind],
      ["what", (e) => (e.event?.fault ? node("span", null, faultOf(e).text || e.event.fault, node("code", { class: "under" }, e.event.fault)) : e.event?.role || "–")],
      ["what happened", (e) => (e.kind !== "fault" ? e.event?.why || `${e.event?.from} to ${e.event?.to}` : describeFault(e, view.data.rows))],
      ["times in this server", (e) => e.event?.count, true], ["what the room is told", (e) => (e.event?.fault ? faultOf(e).report || "nothing" : "")]], view.data.rows, "No fault is kept."), errors.more(view), exported()],
  };

  // ---- an incident for somebody else ----

  const incident = { hours: "24", guild: "", outcome: null, busy: false };

  async function exportIncident(e) {
    e.preventDefault();
    incident.busy = true;
    incident.outcome = ["It is exported …"];
    dirty();
    try {
      const { folder, command } = await ask("POST", "/api/incidents", null, { hours: Number(incident.hours), ...(incident.guild ? { guild: incident.guild } : {}) });

      incident.outcome = ["It lies in ", node("code", null, folder), " on the machine of control. Who gets a copy opens it by ", node("code", null, command), "."];
    } catch (x) {
      incident.outcome = [x.status ? x.message : "control does not answer."];
    }
    incident.busy = false;
    dirty();
  }

  function exported() {
    if (!may("admin")) return null;
    const select = (name, label, options) => {
      const e = node("select", { id: "incident-" + name }, ...options.map(([v, t]) => node("option", { value: v }, t)));

      e.value = incident[name];
      e.onchange = ({ target }) => { incident[name] = target.value; };
      return [node("label", { for: e.id }, label), e];
    };
    const form = node("form", { class: "row" },
      ...select("hours", "The last", [["1", "hour"], ["24", "24 hours"], ["168", "7 days"]]),
      ...select("guild", "of", [["", "all servers"], ...(state.guilds || []).map((g) => [g.id, g.name || g.id])]),
      node("button", { type: "submit", disabled: incident.busy }, "Export the incident"));

    form.onsubmit = exportIncident;
    return section("An incident for others", muted("Turns with their decisions, times, calls of tools, costs, faults and settings, without words, names, ids of people or keys."),
      form, incident.outcome && node("p", { role: "status" }, ...incident.outcome));
  }

  // ---- encryption, sessions, audit ----

  const encryption = {
    id: "encryption", title: "Encryption", role: "viewer", live: true, load: async () => ({ rooms: (await ask("GET", "/api/rooms")).rooms }),
    draw: ({ data }) => (data.rooms.length ? data.rooms.map((r) => sectionOf(r.guild, `${r.channelName || r.channel} · ${r.guildName || r.guild}`,
      !r.secure ? muted("mediad has not told yet.") : node("dl", { class: "facts" }, ...[
        ["state", !r.secure.version ? "transport only" : r.secure.ready ? "✓ end to end" : "▲ not ready"], ["protocol version", r.secure.version],
        ["epoch", r.secure.epoch], ["members", r.secure.members], ["undecryptable packets", r.secure.undecryptable], ["recoveries", r.secure.recovers],
      ].map(([name, value]) => node("div", null, node("dt", null, name), node("dd", null, value)))),
      r.secure?.code ? node("p", null, "Privacy code: ", node("code", { class: "code" }, r.secure.code)) : null,
      r.secure?.code ? muted("People of the call see the same code in Discord's client, if nobody sits between.")
        : may("operator") ? null : muted("The privacy code is for operators."))) : [muted("The bot is in no voice channel.")]),
  };

  const channelNames = new Map(), channelsOf = new Map(); // of the servers that were asked
  const channelName = (id) => own(state.rooms.find((r) => r.channel === id) || {}, "channelName") || channelNames.get(id) || id;

  async function readChannels(guilds) {
    const unknown = [...new Set(guilds)].filter((g) => g && !channelNames.has("of " + g));

    await Promise.all(unknown.map(async (g) => {
      const { channels } = await ask("GET", `/api/guilds/${g}/channels`).catch(() => ({ channels: [] }));

      channelNames.set("of " + g, g);
      channelsOf.set(g, channels);
      for (const c of channels) channelNames.set(c.id, c.name);
    }));
  }

  async function readSessions(view, before) {
    const read = await page("/api/voice/history/sessions", "sessions", {}, before);

    await readChannels(read.rows.map((s) => s.guild));
    return read;
  }

  const actionNames = {
    voice_turn_out: "answered a turn", reply_skipped: "did not answer a turn", llm_tool_call: "called a tool", voice_session_start: "joined the call", voice_session_end: "left the call",
    command: "took a command", fault: "fault", failover: "failover", engine_refused: "settings refused", memory_written: "wrote into the memory",
    sent_reply: "replied to a message", sent_message: "answered a message", reacted: "reacted to a message",
  };
  const actionName = (a) => (a.kind === "reply_skipped" && a.messageId ? "did not answer a message" : own(actionNames, a.kind) || a.kind);

  function actionDetail(a) {
    const m = a.metadata || {};
    const text = [m.tool || (a.kind === "command" && m.kind && "/" + m.kind), m.fault && (faultOf({ event: m }).text || m.fault), m.reason || m.state || m.why,
      a.kind === "memory_written" && `${m.inserted ?? 0} inserted, ${m.updated ?? 0} updated, ${m.duplicate ?? 0} duplicate, ${m.refused ?? 0} refused`,
      m.firstAudioMs !== undefined && m.firstAudioMs !== null && `first sound ${seconds(m.firstAudioMs)}`];

    const words = text.filter((p) => typeof p === "string" && p).join(" · ");

    return m.turn ? node("span", null, m.turnId ? turnLink(`turn ${m.turn}`, m.turnId) : `turn ${m.turn}`, words && " · " + words) : words;
  }

  async function openSession(view, s) {
    const path = `/api/voice/history/sessions/${s.id}/events`;

    try {
      view.opened = { session: s, ...await page(path, "actions", {}) };
    } catch (e) {
      view.opened = { session: s, rows: [], trouble: e.message };
    }
    dirty();
  }

  function drawSession(view, { session: s, rows: actions, next, trouble }) {
    return section(`${channelName(s.channel)} · ${guildName(s.guild)}, from ${when(s.startedAt)}`, trouble ? node("p", { class: "bad" }, trouble) : null,
      table("What the bot did in this session", [["at", (a) => when(a.createdAt)], ["what", actionName],
        ["for", (a) => (a.userId ? personName(a.userId) : "–")], ["details", actionDetail], ["words", (a) => a.content || ""]], actions, "Nothing is kept of it."),
      next ? button("Older actions", async () => {
        view.opened = { session: s, ...await page(`/api/voice/history/sessions/${s.id}/events`, "actions", {}, { rows: actions, next })
          .catch((e) => ({ rows: actions, next, trouble: e.message })) };
        dirty();
      }) : null);
  }

  const sessions = {
    id: "sessions", title: "Sessions", role: "viewer", opened: null, on: ["session_started", "session_over", "turn"], load: (view) => readSessions(view),
    forget() { sessions.opened = null; },
    draw: (view) => [table("Voice sessions", [["began", (s) => when(s.startedAt)], ["ended", (s) => (s.endedAt ? when(s.endedAt) : "goes on")],
      ["server", (s) => guildName(s.guild)], ["channel", (s) => channelName(s.channel)], ["turns", (s) => (s.turns ? turnsLink({ guild: s.guild, since: Date.parse(s.startedAt), ...(s.endedAt ? { before: Date.parse(s.endedAt) + 1 } : {}) },
        s.turns, `${counted(s.turns, "turn")} of the session from ${when(s.startedAt)}`) : s.turns), true], ["cost", (s) => dollars(s.usd), true],
      ["why it ended", (s) => s.why || ""],
      ["details", (s) => button("What happened", () => openSession(view, s), { "aria-label": `What happened in the session from ${when(s.startedAt)}` })]],
    view.data.rows, "No session is kept."),
    older(view, (before) => readSessions(view, before)), view.opened && drawSession(view, view.opened)],
  };

  const audit = makeAudit({ node, ask, own, state, dirty, choose, page, older, table, section, muted, mark, button, personName, guildName });

  // A page of another program of this machine, which makes each tab a member of a voice channel.
  const talk = {
    id: "talk", title: "Talk", role: "operator", there: () => Boolean(state.who?.talk), load: async () => ({}), update() {},
    mount(body) {
      talk.root = node("iframe", { class: "talk", title: "Speak with the bot", src: state.who.talk, allow: "microphone; autoplay", sandbox: "allow-scripts allow-same-origin" });
      body.replaceChildren(talk.root);
    },
    leave() { talk.root = null; },
    forget() { talk.root = null; },
  };

  const memory = makeMemory({ node, ask, state, may, ofAll, dirty, choose, page, older, table, section, muted, button, guildSelect, guildName, lasted });
  const latency = makeLatency({ node, ask, seconds, state, meaning, table, section, muted, choose });

  return [latency, talk, transcription, tools, memory, music, providers, costs, faults, encryption, sessions, audit, settings];
}
