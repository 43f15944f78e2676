// The audit: who did what and what it changed, whether its chain is whole, and the browsers that are signed in.

import { counted, told, when } from "/times.js";

// What differs between two texts; those of documents member by member, as [name, before, after].
export function differences(before, after) {
  const parse = (t) => {
    try {
      return JSON.parse(t ?? "null");
    } catch {
      return undefined; // a plain text, or the beginning of a long document
    }
  };
  const isObject = (v) => v && typeof v === "object" && !Array.isArray(v);
  const a = parse(before), b = parse(after), list = [];
  const walk = (x, y, path) => {
    for (const name of new Set([...Object.keys(x), ...Object.keys(y)])) {
      const was = Object.hasOwn(x, name) ? x[name] : undefined, is = Object.hasOwn(y, name) ? y[name] : undefined, to = path ? `${path}.${name}` : name;

      if (JSON.stringify(was) === JSON.stringify(is)) continue;
      if ((isObject(was) || was === undefined) && (isObject(is) || is === undefined) && path.split(".").length < 3) walk(was || {}, is || {}, to);
      else list.push([to, was, is]);
    }
  };

  if ((isObject(a) || a === null) && (isObject(b) || b === null) && (a || b)) walk(a || {}, b || {}, "");
  else if (before || after) list.push(["", before ?? undefined, after ?? undefined]);
  return list;
}

export function makeAudit({ node, ask, own, state, dirty, choose, page, older, table, section, muted, mark, button, personName, guildName }) {
  const view = { id: "audit", title: "Audit", role: "admin", kind: "", chain: null, outcome: null, on: ["operator_action", "order_ended", "setting_changed"], draw };
  const query = () => (view.kind ? { kind: view.kind } : {});

  const read = (before) => page("/api/audit", "audit", query(), before);
  const meaning = (kind) => own(state.meanings.audit || {}, kind);

  view.load = async () => {
    const [list, who] = await Promise.all([read(), ask("GET", "/api/auth/session")]);

    return { ...list, sessions: who.sessions || [] };
  };
  view.forget = () => {
    view.chain = view.outcome = null;
  };

  const short = (v) => {
    const text = v === undefined ? "nothing" : typeof v === "string" ? v : JSON.stringify(v);

    return text.length > 200 ? text.slice(0, 200) + " …" : text;
  };
  const about = (target) => target?.replace(/^(guild:|server )(\d+)/, (whole, kind, id) => (guildName(id) === id ? whole : `server ${guildName(id)}`));

  function changes(a) {
    const list = differences(a.before, a.after);

    if (!list.length) return "";
    return node("ul", { class: "diff" }, ...list.slice(0, 12).map(([name, was, is]) => node("li", null, name ? node("code", null, name) : null, name ? ": " : null,
      short(was), " → ", short(is))), list.length > 12 ? node("li", { class: "muted" }, `and ${list.length - 12} more`) : null);
  }

  // ---- the chain ----

  const faults = { gap: "rows before it are missing", changed: "it is not the row that was written", cut: "rows after it are missing",
    disguised: "its actor was erased, but no erasure names it" };

  async function check() {
    view.chain = "The chain is walked …";
    dirty();
    try {
      view.chain = await ask("GET", "/api/audit/chain");
    } catch (e) {
      view.chain = e.status ? e.message : "control does not answer.";
    }
    dirty();
  }

  function chain() {
    const c = view.chain;

    if (typeof c === "string") return node("p", { role: "status" }, c);
    if (!c) return null;
    return node("div", { role: "status", class: "outcomes" },
      node("p", null, c.whole ? mark(true, `The audit is whole: ${counted(c.rows, "row")}, ${c.erased} of them of erased people.`)
        : mark(false, "", `The audit was changed at row ${c.row}: ${faults[c.fault] || c.fault}.`)),
      c.head ? node("p", null, "Its head now: ", node("code", null, c.head)) : null,
      muted("Whoever can write the file can make a chain of their own. Keep a head elsewhere, and compare it with control --audit-check=HEAD; control --audit-export writes all rows."));
  }

  // ---- browsers ----

  async function signOut(s) {
    try {
      await ask("DELETE", `/api/auth/sessions/${s.id}`);
      view.outcome = `Session ${s.id} is signed out.`;
      view.data = await view.load();
    } catch (e) {
      view.outcome = e.status ? e.message : "control does not answer.";
    }
    dirty();
  }

  const browsers = () => section("Browsers that are signed in", table("Sessions", [["session", (s) => s.id, true], ["role", (s) => s.role],
    ["who", (s) => (s.user ? personName(s.user) : "by token or code")], ["sees", (s) => (s.server ? guildName(s.server) : "all servers")],
    ["since", (s) => when(s.createdAt)], ["until", (s) => told(s.expiresAt)],
    ["sign out", (s) => (s.current ? "this browser" : button("Sign out", () => signOut(s), { "aria-label": `Sign out session ${s.id}` }))]], view.data.sessions, "None is."),
  view.outcome && node("p", { role: "status" }, view.outcome));

  function draw() {
    const kind = node("select", { id: "audit-kind" }, node("option", { value: "" }, "all"), ...Object.keys(state.meanings.audit || {}).sort().map((k) =>
      node("option", { value: k }, k)));

    kind.value = view.kind;
    kind.onchange = ({ target }) => {
      view.kind = target.value;
      choose(view);
    };
    return [
      node("div", { class: "row tools" }, node("label", { for: "audit-kind" }, "What"), kind, button("Check the chain", check)), chain(),
      table("Audit", [["row", (a) => a.id, true], ["at", (a) => when(a.at)], ["who", (a) => personName(a.actor)], ["how", (a) => a.via], ["what", (a) => node("div", { class: "rule" }, meaning(a.kind), node("code", null, a.kind))],
        ["about", (a) => about(a.target)], ["change", changes], ["result", (a) => a.result]], view.data.rows, "Nothing is kept."),
      older(view, async (before) => ({ ...before, ...await read(before) })),
      browsers(),
    ];
  }

  return view;
}
