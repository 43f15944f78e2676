// One turn, opened: words, times, why, tools, costs, context, recordings, and the same turn asked again with other settings.

import { clock, counted, day } from "/times.js";

export const stageNames = {
  endpointing: "waiting for silence", transcription: "transcription and decision", classifier: "classifier", floor: "waiting for the floor",
  memory: "memory", model: "model", playback: "playback",
};

export function makeTurn({ node, ask, dollars, seconds, own, state, meaning }) {
  const label = (x) => (x.kind === "answer" ? "Parley" : x.name || "somebody");
  const heading = (text) => node("h3", null, text);
  const note = (text) => node("p", { class: "muted" }, text);

  // Units whose value is the number of one, and those of which one has another name.
  const numbered = ["turn", "utterance", "fact", "option", "question"];
  const ones = { chars: "char", bytes: "byte", times: "time", lines: "line", people: "person", others: "other" };

  function numbers(d, rule) {
    const unit = rule.unit === "1/1000" ? "‰" : rule.unit;

    if (!d.value && !d.limit) return "";
    if (numbered.includes(unit)) return `${unit} ${d.value}`;
    return `${d.value}${d.limit ? " / " + d.limit : ""}${unit ? " " + ((d.limit || d.value) === 1 && ones[unit] || unit) : ""}`;
  }

  // What a rule found, in words that are true, and what followed from it: "" if the next rule was looked at.
  const found = (d, rule) => (d.yes ? rule.text : rule.otherwise) || d.text || d.rule;
  const follows = (d, rule) => (d.yes ? rule.then : rule.thenOtherwise) || d.then || "";

  function decisions(why) {
    if (!why.length) return null;
    const rows = why.map((d) => {
      const rule = own(state.meanings.rules, d.rule) || {};

      return node("tr", null,
        node("td", { class: "rule" }, found(d, rule), node("code", null, d.rule)),
        node("td", { class: "number" }, numbers(d, rule)),
        node("td", { class: "then" }, follows(d, rule)));
    });

    return node("table", null,
      node("thead", null, node("tr", null, node("th", { scope: "col" }, "what was found"),
        node("th", { scope: "col", class: "number" }, "value / limit"), node("th", { scope: "col", class: "then" }, "then"))),
      node("tbody", null, ...rows));
  }

  function lane(name, pieces, from, to) {
    const track = node("div", { class: "track" }), scale = 100 / (to - from);

    for (const { kind, start, end } of pieces) {
      if (start === null || start === undefined) continue;
      const piece = node("i", { class: kind });

      piece.style.left = ((start - from) * scale).toFixed(2) + "%";
      piece.style.width = (Math.max(0, (end ?? to) - start) * scale).toFixed(2) + "%";
      track.append(piece);
    }
    const zero = node("b");

    zero.style.left = (-from * scale).toFixed(2) + "%";
    track.append(zero);
    return node("div", { class: "lane" }, node("span", { class: "name", title: name }, name), track);
  }

  function times(turn) {
    const list = turn.timeline, stages = turn.stages || [];
    const all = [...list, ...stages].flatMap((x) => [x.startMs, x.endMs]).filter((v) => v !== null && v !== undefined);

    if (!all.length) return [];
    const from = Math.min(0, ...all), to = Math.max(1, ...all);
    const row = (kind, name, x) => node("tr", null, node("td", null, kind && node("i", { class: "key " + kind, "aria-hidden": "true" }), name),
      node("td", { class: "number" }, seconds(x.startMs)), node("td", { class: "number" }, seconds(x.endMs)));

    return [
      heading("Times from the end of speech"),
      node("div", { "aria-hidden": "true" },
        ...list.map((x) => lane(label(x), [{ kind: x.kind, start: x.startMs, end: x.endMs }], from, to)),
        stages.length ? lane("stages", stages.map((s) => ({ kind: s.name, start: s.startMs, end: s.endMs })), from, to) : null),
      node("table", null, node("thead", null, node("tr", null, node("th", { scope: "col" }, "stage"),
        node("th", { scope: "col", class: "number" }, "from"), node("th", { scope: "col", class: "number" }, "to"))),
      node("tbody", null,
        ...list.map((x) => row(x.kind, x.kind === "answer" ? "Parley, playback" : `${label(x)}, ${x.kind}`, x)),
        ...stages.filter((s) => s.name !== "playback").map((s) => row(s.name, own(stageNames, s.name) || s.name, s)))),
    ];
  }

  function costs(turn) {
    if (!turn.costs.length) return [];
    const sum = turn.costs.reduce((n, c) => n + c.usd, 0);

    return [
      heading(`Costs: ${dollars(sum)}`),
      node("table", null, node("tbody", null, ...turn.costs.map((c) => node("tr", null, node("td", null, c.role),
        node("td", null, `${c.provider} ${c.model}`),
        node("td", { class: "number" }, `${c.priced ? "" : "at least "}${c.estimated ? "about " : ""}${dollars(c.usd)}`))))),
    ];
  }

  function tools(turn) {
    const calls = turn.timeline.filter((x) => x.kind === "tool");

    if (!calls.length) return [];
    return [
      heading("Tools"),
      node("table", null, node("tbody", null, ...calls.map((c) => node("tr", null, node("td", null, c.name), node("td", null, c.state),
        node("td", null, c.text || ""), node("td", { class: "number" }, c.usd ? dollars(c.usd) : ""))))),
    ];
  }

  // What the model was told, as far as the setting keep_contexts had it kept.
  function context(turn) {
    if (!state.who?.words) return [];
    const title = heading("What the model was told");

    if (!turn.context) return [title, note("Not kept. The setting keep_contexts keeps it.")];
    const { instructions, messages } = turn.context;

    return [
      title,
      node("details", null, node("summary", null, `Instructions, prompts ${turn.context.prompts}`),
        node("pre", { class: "told", tabindex: "0" }, instructions || "")),
      node("ol", { class: "told" }, ...(messages || []).map((m) => node("li", null,
        node("span", { class: m.role === "assistant" ? "speaker bot" : "speaker" }, m.speaker || m.role), ": ",
        typeof m.text === "string" ? m.text : node("span", { class: "muted" }, "left out: its speaker has not agreed, or no words are kept")))),
    ];
  }

  // Nothing is fetched before somebody presses play: each time is a row of the audit.
  function recordings(turn) {
    if (!state.who?.words) return [];
    if (!turn.recordings?.length) return [heading("Recordings"), note("None is kept. The setting keep_audio_hours keeps those of people who agreed to be remembered.")];
    return [heading("Recordings"), ...turn.recordings.map((r) => node("div", { class: "recording" },
      node("span", { class: "name" }, r.name || "somebody"), node("span", { class: "muted" }, seconds(r.ms)),
      node("audio", { controls: true, preload: "none", src: `/api/turns/${turn.id}/audio?utterance=${r.utterance}`,
        "aria-label": `What ${r.name || "somebody"} said` })))];
  }

  // ---- the room, asked again ----

  const difference = (d, rule) => (d ? [[found(d, rule), numbers(d, rule)].filter(Boolean).join(", "), follows(d, rule)].filter(Boolean).join(": ") : "not asked");

  function outcome(answer) {
    const { was, is, rules } = answer;
    const same = is && is.reason === was.reason && !rules.length;
    const others = [[answer.changed - (is && !same ? 1 : 0), "decided otherwise"], [answer.gone - (is ? 0 : 1), "no more"], [answer.new, "new"]]
      .filter(([n]) => n > 0).map(([n, what]) => `${n} ${what}`);

    return [
      answer.approximate && note("The journal was written by another version of Parley; the comparison is approximate."),
      Object.keys(answer.clamped).length ? note(`Out of range, so the nearest value was used: ${Object.keys(answer.clamped).join(", ")}.`) : null,
      node("p", null, !is ? `There would be no such turn: ${was.reason} before.`
        : same ? `The room would decide the same: ${was.reason}.`
          : is.reason === was.reason ? `It would end the same (${was.reason}), by other decisions.`
            : ["It would end as ", node("b", null, is.reason), ` instead of ${was.reason}: ${meaning(is.reason)}.`]),
      rules.length ? node("table", null, node("thead", null, node("tr", null, ...["rule", "was", "would be"].map((t) => node("th", { scope: "col" }, t)))),
        node("tbody", null, ...rules.map((r) => {
          const rule = own(state.meanings.rules, r.rule) || {};

          return node("tr", null, node("td", { class: "rule" }, node("code", null, r.rule)),
            node("td", null, difference(r.was, rule)), node("td", null, difference(r.is, rule)));
        }))) : null,
      note(others.length ? `Of ${counted(answer.turns, "turn")} until then: ${others.join(", ")}.` : `No other of ${counted(answer.turns, "turn")} until then would differ.`),
    ].flat();
  }

  function field(names, row) {
    const name = node("input", { list: "again-names", "aria-label": "Setting", placeholder: "setting", autocomplete: "off", spellcheck: "false", value: row?.[0] ?? "" });
    const value = node("input", { "aria-label": "Value", placeholder: "value", autocomplete: "off", spellcheck: "false", value: row?.[1] ?? "" });

    name.onchange = () => {
      const known = names.find((s) => s.name === name.value);

      if (known && !value.value) value.placeholder = `now ${own(state.effective || {}, known.name) ?? known.default}`;
    };
    return node("div", { class: "row again-row" }, name, value);
  }

  // Its rows stay while another turn is looked at.
  let tried = [["", ""]];

  function again(turn) {
    if (!state.who?.words || !turn.sessionId) return [];
    const rows = node("div", null), answer = node("div", { role: "status" }), list = node("datalist", { id: "again-names" });
    const form = node("form", { class: "again" }, rows, list,
      node("div", { class: "row" }, node("button", { type: "submit" }, "Ask again"), node("button", { type: "button" }, "One more setting")), answer);
    let names = [];

    rows.append(...tried.map((row) => field(names, row)));
    ask("GET", "/api/settings/schema").then(({ settings }) => {
      names.push(...settings.filter((s) => !["secret", "text", "ids"].includes(s.kind)));
      list.replaceChildren(...names.map((s) => node("option", { value: s.name }, s.text.slice(0, 80))));
    }, () => {});
    form.querySelector("button[type=button]").onclick = () => {
      if (rows.children.length < 16) rows.append(field(names));
      rows.lastElementChild.firstElementChild.focus();
    };
    form.onsubmit = async (e) => {
      e.preventDefault();
      tried = [...rows.children].map((r) => [...r.querySelectorAll("input")].map((i) => i.value.trim()));
      const settings = Object.fromEntries(tried.filter(([name]) => name));

      if (!Object.keys(settings).length) {
        answer.replaceChildren(note("Name a setting and a value."));
        return;
      }
      answer.replaceChildren(note("The room runs again …"));
      try {
        answer.replaceChildren(...outcome(await ask("POST", `/api/voice/history/sessions/${turn.sessionId}/again`, null, { turn: turn.turn, settings })).filter(Boolean));
      } catch (x) {
        const at = x.body?.errors?.[0]?.pointer?.split("/").pop();

        answer.replaceChildren(node("p", { class: "bad" }, at ? `${at}: ${x.message}` : x.status ? x.message : "control does not answer."));
      }
    };
    return [heading("Ask the room again with other settings"),
      note("Runs the recorded room up to this turn in a process of its own. Nothing in the live room changes."), form];
  }

  function whole(turn) {
    return [
      node("p", null, node("b", null, turn.reason), ": ", meaning(turn.reason)),
      turn.mergedInto ? node("p", null, node("a", { href: "#turns/" + turn.mergedInto }, "Open the turn that has its words")) : null,
      note(`${day(turn.at)}, ${clock(turn.at)} · first sound ${seconds(turn.firstAudioMs)}`),
      turn.heard && node("p", { class: "words" }, node("span", { class: "speaker" }, turn.name || "somebody"), ": ", turn.heard),
      turn.said && node("p", { class: "words" }, node("span", { class: "speaker bot" }, "Parley"), ": ", turn.said),
      !turn.heard && !turn.said ? note(state.who?.words ? "No words are kept." : "Words are for operators.") : null,
      ...times(turn), heading("Why"), decisions(turn.why) || note("No decision is recorded."),
      ...tools(turn), ...costs(turn), ...recordings(turn), ...context(turn), ...again(turn),
    ].filter(Boolean);
  }

  return { decisions, whole };
}
