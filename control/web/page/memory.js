// The memory: facts, who said them, summaries of conversations and writes; erasing a fact, or a person from all that is kept.

import { counted, when } from "/times.js";

export function makeMemory({ node, ask, state, may, ofAll, dirty, choose, page, older, table, section, muted, button, guildSelect, guildName, lasted }) {
  const said = (e) => (e.status ? e.message : "control does not answer.");
  const factQuery = (view) => ({ ...(view.search ? { q: view.search } : {}), ...(view.guild ? { guild: view.guild } : {}), ...(view.person ? { user: view.person.subject, guild: view.person.guild } : {}) });
  const of = (view) => (view.guild ? { guild: view.guild } : {});
  // Lists beside the facts, with the older rows behind a button each.
  const lists = {
    people: { path: "/api/memory/subjects", name: "subjects", title: "More people", query: (view) => ({ limit: "100", ...of(view), ...(view.name ? { q: view.name } : {}) }) },
    summaries: { path: "/api/memory/reflections", name: "reflections", title: "Older summaries", query: (view) => ({ limit: "20", ...of(view) }) },
    writes: { path: "/api/memory/writes", name: "writes", title: "Older writes", query: (view) => ({ limit: "100", ...of(view) }) },
  };
  const readList = (view, key, before) => page(lists[key].path, lists[key].name, lists[key].query(view), before);

  const memory = {
    id: "memory", title: "Memory", role: "operator", there: ofAll, search: "", guild: "", name: "", question: "", found: null, person: null, erasing: null, outcome: null,
    on: ["memory_written"],
    async load(view) {
      const [kept, people, summaries, writes] = await Promise.all([page("/api/memory/facts", "facts", factQuery(view)), ...Object.keys(lists).map((key) => readList(view, key))]);

      return { ...kept, people, summaries, writes };
    },
    forget() { Object.assign(memory, { person: null, found: null, erasing: null }); },
    draw(view) {
      return [guildSelect(view, "memory-guild"),
        field("memory-search", "Letters in a text", view.search, "Search", async (letters) => {
          view.search = letters;
          await choose(view);
        }, view.person && button(`Only what ${view.person.name || view.person.subject} said: show all`, () => showPerson(view, null))),
        view.outcome && node("p", { role: "status" }, view.outcome),
        drawFacts("What the memory keeps", view, view.data.rows, view.search ? "No fact has these letters." : "The memory is empty."),
        older(view, async (before) => ({ ...before, ...await page("/api/memory/facts", "facts", factQuery(view), before) })),
        drawQuestion(view), drawPeople(view), drawSummaries(view), drawWrites(view)];
    },
  };

  function field(id, label, value, name, take, ...more) {
    const find = node("input", { type: "search", id, autocomplete: "off", maxlength: "100" });
    const form = node("form", { class: "row tools", "data-key": id + "-form" }, node("label", { for: id }, label), find, node("button", { type: "submit" }, name), ...more);

    find.value = value;
    form.onsubmit = (e) => {
      e.preventDefault();
      take(e.target.querySelector("input").value.trim());
    };
    return form;
  }

  function drawFacts(caption, view, facts, none) {
    return table(caption, [["written", (f) => when(f.createdAt) + (f.saidAgainAt ? `, again ${when(f.saidAgainAt)}` : "")], ["server", (f) => guildName(f.guild)],
      ["whose", (f) => (f.private ? "a person's own" : "the server's")], ["said by", (f) => f.name],
      ["text", (f) => (f.private ? node("span", { class: "muted" }, "told to its person alone") : f.text)],
      ["tags", (f) => f.tags.join(", ")], ["valid", (f) => (f.validUntil ? `until ${when(f.validUntil)}${f.supersededBy ? ", replaced" : ""}` : "yes")],
      ...(may("admin") ? [["erase", (f) => button("Erase", () => erase(view, f), { "aria-label": `Erase fact ${f.id}` })]] : [])], facts, none);
  }

  // The rows that were drawn stay when the older ones cannot be read.
  function more(view, key) {
    if (!view.data[key].next) return null;
    return button(lists[key].title, async () => {
      const read = await readList(view, key, view.data[key]).catch((e) => ({ trouble: said(e) }));

      view.data = read.trouble ? { ...view.data, trouble: read.trouble } : { ...view.data, [key]: read };
      dirty();
    });
  }

  // ---- as models find it ----

  async function askMemory(view, question) {
    const guild = view.guild;

    view.question = question;
    view.found = null;
    if (question)
      view.found = { guild, ...await ask("GET", "/api/memory/search?" + new URLSearchParams({ guild, q: question, limit: "20" })).catch((e) => ({ results: [], trouble: said(e) })) };
    dirty();
  }

  function drawQuestion(view) {
    const title = "What a model would find";

    if (!view.guild) return section(title, muted("Choose a server above: a model finds what one server knows."));
    const found = view.found?.guild === view.guild ? view.found : null;

    return section(title, field("memory-question", "For the question", view.question, "Find", (question) => askMemory(view, question)),
      found?.trouble ? node("p", { class: "bad" }, found.trouble) : null,
      found && !found.trouble ? table(`Found for "${view.question}", the best first`, [["text", (f) => f.text], ["said by", (f) => f.name || f.user], ["written", (f) => when(f.at_ms)],
        ["score", (f) => (typeof f.score === "number" ? f.score.toFixed(3) : "–"), true]], found.results, "It would find nothing.") : null);
  }

  // ---- people ----

  async function showPerson(view, person) {
    view.person = person;
    await choose(view);
  }

  function drawPeople(view) {
    const { rows, next } = view.data.people;

    return section("Who said it", field("memory-name", "Letters in a name, or an id", view.name, "Find", async (name) => {
      view.name = name;
      await choose(view);
    }),
    table("People who said facts", [["person", (p) => p.name || p.subject], ["server", (p) => guildName(p.guild)],
      ["whose", (p) => (p.private ? "their own" : "the server's")], ["facts", (p) => p.facts, true], ["still valid", (p) => p.validFacts, true],
      ["last written", (p) => when(p.lastWrittenAt)], ["what they said", (p) => button("Show", () => showPerson(view, p), { "aria-label": `Show what ${p.name || p.subject} said` })],
      ...(may("admin") ? [["all of them", (p) => button("Erase the person", () => considerErasure(view, p.subject, p.name), { "aria-label": `Erase the person ${p.name || p.subject} from all that is kept` })]] : [])],
    rows, view.name ? "Nobody of this name or id has said a fact." : "Nobody has said a fact."),
    next ? muted(`The ${rows.length} who said something last.`) : null, more(view, "people"), may("admin") ? drawErasure(view) : null);
  }

  // Somebody who said no fact may have turns all the same.
  function drawErasure(view) {
    const wanted = view.erasing;

    return node("div", { "data-key": "erasure" }, field("memory-erase", "Erase a person by their id", "", "Erase …", (id) => considerErasure(view, id)),
      wanted && node("p", { role: "status" }, wanted.text),
      wanted && !wanted.done && !wanted.busy && drawSure(view));
  }

  function drawSure(view) {
    const form = field("memory-erase-sure", "Type the id again", "", "Erase for good", (id) => erasePerson(view, id), button("Keep", () => {
      view.erasing = null;
      dirty();
    }));

    form.querySelector("button").className = "danger";
    return form;
  }

  // As discord_is_account of control.
  const isAccount = (id) => /^[0-9]{17,19}$/.test(id);

  function considerErasure(view, id, name) {
    view.erasing = isAccount(id) ? { id, text: `${name ? `${name} (${id})` : id} goes from all that is kept, in every server: words, turns, facts, recordings, costs by name. `
      + "It cannot be taken back; conversations that know them begin anew." } : { done: true, text: "Type the id of a person, as Discord copies it: 17 to 19 digits." };
    dirty();
  }

  // The receipt counts rows; it names nobody.
  function tellReceipt({ erased, scan }) {
    const rows = Object.values(erased || {}).reduce((n, rows_) => n + rows_, 0), traces = scan?.traces || 0, where = Object.keys(scan?.found || {}).join(", ");

    return `Erased: ${counted(rows, "row")}. ${traces ? `▲ ${counted(traces, "trace")} ${traces === 1 ? "is" : "are"} left${where && `, in ${where}`}.` : "Nothing was found of them afterwards."}`
      + `${scan?.listed ? ` The settings still name them ${counted(scan.listed, "time")}.` : ""}`;
  }

  const receiptOf = (id) => ask("GET", `/api/memory/people/${id}/receipt`);

  // A proxy, or the network, may end a request before its answer comes. 503 of the DELETE is
  // control's own answer: busy, or not erased.
  const isCut = (e) => [undefined, 502, 504].includes(e.status);
  const isLost = (e) => isCut(e) || e.status === 503;

  async function awaitReceipt(id, before, e) {
    for (;;) {
      const { running, receipt } = await receiptOf(id).catch((lost) => {
        if (!isLost(lost)) throw lost;
        return { running: true };
      });

      if (receipt && receipt.at_ms !== before) return tellReceipt(receipt);
      if (!running) return said(e);
      await new Promise((done) => setTimeout(done, 2000));
    }
  }

  async function erasePerson(view, again) {
    const wanted = view.erasing;

    if (again !== wanted.id) {
      wanted.text = `This is not ${wanted.id}: nothing was erased.`;
      dirty();
      return;
    }
    Object.assign(wanted, { busy: true, text: "It is erased …" });
    dirty();
    try {
      const before = (await receiptOf(wanted.id)).receipt?.at_ms;
      const told = await ask("DELETE", `/api/memory/people/${wanted.id}`).then(tellReceipt, (e) => (isCut(e) ? awaitReceipt(wanted.id, before, e) : said(e)));

      view.erasing = { done: true, text: told };
      view.person = null;
    } catch (e) {
      view.erasing = { done: true, text: said(e) };
    }
    await choose(view);
  }

  // ---- summaries and writes ----

  function drawSummaries(view) {
    return section("Summaries of conversations", table("Summaries", [["session", (r) => when(r.sessionId)], ["server", (r) => guildName(r.guild)],
      ["summary", (r) => r.text || node("span", { class: "muted" }, "its words are not kept")]], view.data.summaries.rows, "No conversation was summed up yet."), more(view, "summaries"));
  }

  function drawWrites(view) {
    const { rows: writes, next } = view.data.writes;
    const sum = (name) => writes.reduce((n, w) => n + (w[name] || 0), 0);
    const all = sum("inserted") + sum("updated") + sum("duplicate") + sum("refused");
    const share = (n) => (all ? ` (${Math.round(100 * n / all)} %)` : "");
    const minutes = writes.length > 1 ? (Date.parse(writes[0].at) - Date.parse(writes.at(-1).at)) / 60e3 : 0;
    const rate = minutes >= 1 ? ` In ${lasted(minutes * 60e3)}, so ${(all / minutes).toFixed(all / minutes < 10 ? 1 : 0)} facts a minute.` : "";

    return section("Writes", writes.length ? muted(`Of ${counted(all, "fact")} in the last ${counted(writes.length, "write")}: ${sum("inserted")} inserted${share(sum("inserted"))}, `
      + `${sum("updated")} updated${share(sum("updated"))}, ${sum("duplicate")} left out as duplicates${share(sum("duplicate"))}, ${sum("refused")} refused${share(sum("refused"))}.${rate}`) : null,
    writes.length ? muted("A fact is a duplicate when a valid one says the same, by its words or by a likeness of at least 0.75 of the encoder; where a number, date, name or negation differs it is an update.") : null,
    table("Writes into the memory", [["at", (w) => when(w.at)], ["server", (w) => guildName(w.guild)],
      ["because", (w) => (w.source === "asked" ? "a person asked" : "extracted")], ["inserted", (w) => w.inserted, true], ["updated", (w) => w.updated, true],
      ["duplicate", (w) => w.duplicate, true], ["refused", (w) => w.refused, true]], writes, "Nothing was written in the last 30 days."),
    next ? muted(`The newest ${counted(writes.length, "write")}; the figures are of these.`) : null, more(view, "writes"));
  }

  async function erase(view, fact) {
    if (view.sure !== fact.id) {
      view.sure = fact.id;
      view.outcome = `Press Erase of fact ${fact.id} once more to erase it, with what rests on it.`;
      dirty();
      return;
    }
    view.sure = null;
    try {
      const { forgotten } = await ask("DELETE", `/api/memory/facts/${fact.id}?guild=${fact.guild}&user=${fact.saidBy}`);

      view.outcome = `Facts that were erased: ${forgotten}.`;
    } catch (e) {
      view.outcome = said(e);
    }
    await choose(view);
  }

  return memory;
}
