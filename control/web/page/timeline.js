// The canvas of the turns: a lane for each speaker, the model, the tools and Parley's voice, over a window of time that zooms.

import { day, clock, minute } from "/times.js";

const bar = 12, fades = 0.94, colourOf = { endpointing: "wait", playback: "answer" };
const lane = 24, axis = 24, side = 104, most = 8, gap = 6;
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 10800, 21600, 43200, 86400].map((s) => s * 1000);
const shortest = 2000, longest = 7 * 864e5;

export function makeTimeline({ canvas, calm, busy, changed, chosen, needOlder }) {
  const g = canvas.getContext("2d");
  let colours = null, width = 0, wanted = false, late = false, lanes = [], at = { from: Date.now() - 120e3, to: Date.now() }, follow = true;
  let turns = [], selected = null, spoken = [], guild = "";

  const px = (t) => side + (t - at.from) / (at.to - at.from) * (width - side);
  const timeAt = (x) => at.from + (x - side) / (width - side) * (at.to - at.from);

  function readColours() {
    const style = getComputedStyle(canvas), get = (name) => style.getPropertyValue("--" + name).trim();

    colours = Object.fromEntries(["text", "muted", "line", "surface", "bg", "speech", "answer", "model", "tool", "transcription", "bad", "bot"].map((n) => [n, get(n)]));
    colours.font = `12px ${style.fontFamily}`;
  }

  // The speakers of the window, and the fixed lanes below them. Those who speak most have lanes of their own, the others one together.
  function findLanes(inside) {
    const people = new Map();
    const add = ({ user, name, from, to }) => {
      const p = people.get(user) || people.set(user, { key: user, name: null, ms: 0 }).get(user);

      p.name ||= name;
      p.ms += Math.max(0, Math.min(to, at.to) - Math.max(from, at.from));
    };

    for (const t of inside) t.speech.forEach(add);
    for (const s of spoken) if (s.to >= at.from && s.user !== "bot" && (!guild || s.guild === guild)) add(s);
    const all = [...people.values()], many = all.length > most;
    const own = (many ? all.sort((a, b) => b.ms - a.ms || (a.key < b.key ? -1 : 1)).slice(0, most - 1) : all)
      .map(({ key, name }) => ({ key, name: name || "somebody" })).sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));

    return [...own, ...(many ? [{ key: "*others", name: `${all.length - own.length} others` }] : []), { key: "*model", name: "model" }, { key: "*tool", name: "tools" }, { key: "*bot", name: "Parley" }];
  }

  const top = (i) => axis + i * lane;

  // Pieces that would fall on pixels that are drawn already are left out, so that a day costs no more than a minute.
  function piece(seen, i, from, to, colour, words) {
    const x = Math.max(side, px(from)), end = Math.min(width, Math.max(px(to), px(from) + 2));

    if (i < 0 || end <= side || x >= width || (seen[i] >= Math.floor(end) && end - x < 3)) return;
    seen[i] = Math.floor(end);
    g.fillStyle = colour;
    g.fillRect(x, top(i) + 4, end - x, lane - 8);
    if (!words || end - x < 48) return;
    g.save();
    g.beginPath();
    g.rect(x, top(i), end - x - 4, lane);
    g.clip();
    g.fillStyle = colours.bg;
    g.fillText(words, x + 6, top(i) + 16);
    g.restore();
  }

  function drawAxis() {
    const step = steps.find((s) => s / (at.to - at.from) * (width - side) >= 76) || 864e5;
    const zone = new Date(at.from).getTimezoneOffset() * 60000;

    let free = side; // of words, from there on

    g.fillStyle = colours.muted;
    g.strokeStyle = colours.line;
    for (let t = Math.ceil((at.from - zone) / step) * step + zone; t < at.to; t += step) {
      const x = Math.round(px(t)) + 0.5, d = new Date(t), midnight = !d.getHours() && !d.getMinutes() && !d.getSeconds();

      g.beginPath();
      g.moveTo(x, axis - 4);
      g.lineTo(x, top(lanes.length));
      g.stroke();
      if (x < free || x + (midnight ? 80 : 56) > width) continue;
      g.fillText(midnight ? day(t) : step < 60000 ? clock(t) : minute(t), x + 4, 15);
      free = x + (midnight ? 76 : step < 60000 ? 56 : 40);
    }
    // The day of the left edge; a midnight within the window has its own.
    g.fillText(day(at.from), 0, 15);
    lanes.forEach((l, i) => {
      g.fillStyle = colours.line;
      g.fillRect(0, top(i), width, 1);
      g.fillStyle = l.key.startsWith("*") ? colours.muted : colours.text;
      g.fillText(l.name.length > 14 ? l.name.slice(0, 13) + "…" : l.name, 0, top(i) + 16);
    });
  }

  function drawTurn(t, seen, of) {
    const others = of.get("*others") ?? -1;

    for (const s of t.speech) piece(seen, of.get(s.user) ?? others, s.from, s.to, colours.speech, t.speech.length === 1 ? t.heard : null);
    if (t.model) piece(seen, of.get("*model"), t.model.from, t.model.to, colours.model, null);
    for (const c of t.tools) piece(seen, of.get("*tool"), c.from, c.to, colours.tool, c.name);
    if (t.answer) piece(seen, of.get("*bot"), t.answer.from, t.answer.to, colours.answer, t.said);
    // The decision: where the turn was asked, or ended without being asked.
    const x = px(t.decided);

    if (x < side || x > width || seen.decided === Math.floor(x)) return;
    seen.decided = Math.floor(x);
    g.fillStyle = t.reason === "answered" ? colours.bot : t.trouble ? colours.bad : colours.muted;
    g.fillRect(x - 1, axis - 6, 2, 6);
  }

  function drawSelected() {
    const t = turns.find((x) => x.id === selected);

    if (!t || t.to < at.from || t.from > at.to) return;
    g.strokeStyle = colours.text;
    g.lineWidth = 1;
    g.strokeRect(Math.max(side, px(t.from)) - 2.5, axis + 0.5, Math.min(width, px(t.to)) - Math.max(side, px(t.from)) + 5, top(lanes.length) - axis - 1);
  }

  function paint() {
    wanted = false;
    if (!canvas.isConnected || !canvas.clientWidth) return;
    if (follow) at = { from: Date.now() - (at.to - at.from), to: Date.now() };
    const inside = within(), scale = devicePixelRatio || 1;

    lanes = findLanes(inside);
    const height = top(lanes.length) + gap;

    width = canvas.clientWidth;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
      canvas.style.height = height + "px";
    }
    if (!colours) readColours();
    g.setTransform(scale, 0, 0, scale, 0, 0);
    g.clearRect(0, 0, width, height);
    g.font = colours.font;
    g.lineWidth = 1;
    drawAxis();
    const seen = lanes.map(() => -1), of = new Map(lanes.map((l, i) => [l.key, i]));

    for (const t of inside) drawTurn(t, seen, of);
    for (const s of spoken) {
      const i = of.get(s.user === "bot" ? "*bot" : s.user) ?? of.get("*others"), x = px(s.from);

      if (i === undefined || s.to < at.from || (guild && s.guild !== guild)) continue;
      g.strokeStyle = s.user === "bot" ? colours.answer : colours.speech;
      g.strokeRect(Math.max(side, x) + 0.5, top(i) + 2.5, Math.max(2, px(s.to) - Math.max(side, x)), lane - 5);
    }
    drawSelected();
  }

  // Turns come newest first; those of the window, oldest first.
  function within() {
    let low = 0, high = turns.length;

    while (low < high) {
      const mid = (low + high) >> 1;

      if (turns[mid].from > at.to) low = mid + 1;
      else high = mid;
    }
    const inside = [];

    for (let i = low; i < turns.length && turns[i].to > at.from - 600e3; i++) if (turns[i].to >= at.from) inside.push(turns[i]);
    if (turns.length && turns.at(-1).from > at.from) needOlder();
    return inside.reverse();
  }

  function later() {
    // The interval comes back to it.
    late = busy();
    if (wanted || late || document.hidden) return;
    wanted = true;
    requestAnimationFrame(paint);
  }

  function move(from, to) {
    const length = Math.max(shortest, Math.min(longest, to - from)), middle = (from + to) / 2, now = Date.now() + 1000;
    const end = Math.min(now, middle + length / 2);

    at = { from: end - length, to: end };
    follow = end >= now - 2000 && to >= now - 2000;
    changed(at, follow);
    later();
  }

  const zoom = (factor, x = width) => {
    // The place under the pointer stays where it is, also where the window gets no longer or shorter.
    const t = follow ? at.to : timeAt(x), k = (t - at.from) / (at.to - at.from), length = Math.max(shortest, Math.min(longest, (at.to - at.from) * factor));

    move(t - k * length, t + (1 - k) * length);
  };
  const pan = (share) => move(at.from + share * (at.to - at.from), at.to + share * (at.to - at.from));

  function pick(x, y) {
    const t = timeAt(x), slack = 4 * (at.to - at.from) / (width - side), row = lanes[Math.floor((y - axis) / lane)]?.key;
    const hits = within().filter((u) => u.from - slack <= t && t <= u.to + slack);
    const own = hits.filter((u) => (row === "*bot" ? u.answer : row === "*model" ? u.model : row === "*tool" ? u.tools.length
      : u.speech.some((s) => s.user === row || (row === "*others" && !lanes.some((l) => l.key === s.user)))));

    return (own.at(-1) || hits.at(-1))?.id ?? null;
  }

  // ---- pointers and wheel ----

  const down = new Map();
  let dragged = false;

  canvas.addEventListener("pointerdown", (e) => {
    canvas.setPointerCapture(e.pointerId);
    down.set(e.pointerId, e.offsetX);
    if (down.size === 1) dragged = false;
  });
  canvas.addEventListener("pointermove", (e) => {
    const before = down.get(e.pointerId);

    if (before === undefined) return;
    if (down.size === 2) {
      const other = [...down].find(([id]) => id !== e.pointerId)[1];

      zoom(Math.abs(before - other) / Math.max(8, Math.abs(e.offsetX - other)), other);
      dragged = true;
    } else if (dragged || Math.abs(e.offsetX - before) > 4) {
      pan((before - e.offsetX) / (width - side));
      dragged = true;
    } else {
      return;
    }
    down.set(e.pointerId, e.offsetX);
  });
  const up = (e) => {
    if (down.delete(e.pointerId) && !dragged && e.type === "pointerup") {
      const id = pick(e.offsetX, e.offsetY);

      if (id !== null) chosen(id);
    }
  };

  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey && Math.abs(e.deltaX) <= Math.abs(e.deltaY)) return;
    e.preventDefault();
    if (e.ctrlKey || e.metaKey) zoom(Math.exp(e.deltaY / 300), e.offsetX);
    else pan(e.deltaX / width);
  }, { passive: false });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    colours = null;
    later();
  });
  new ResizeObserver(later).observe(canvas);
  // A window that follows the present moves by itself.
  setInterval(() => canvas.isConnected && (follow || late) && later(), calm.matches ? 1000 : 250);

  return {
    later, zoom, pan,
    set(list, id, of) {
      turns = list;
      selected = id;
      guild = of;
      later();
    },
    speak(list) {
      spoken = list;
    },
    now() {
      move(Date.now() + 1000 - (at.to - at.from), Date.now() + 1000);
    },
    // Brings the turn into the window.
    reveal(t) {
      if (t.from < at.from || t.to > at.to) {
        const length = Math.max(at.to - at.from, 1.5 * (t.to - t.from));

        move((t.from + t.to - length) / 2, (t.from + t.to + length) / 2);
      }
      later();
    },
  };
}

// The bars of the list's rows, which are one canvas behind them: a node for each bar would have to be styled, laid out and painted with
// every frame of a fling. It lies in the space that scrolls, as the rows do, so that both move together.
export function makeBars({ canvas, own, before, later }) {
  const step = 8, g = canvas.getContext("2d"), gone = () => { drawn = null; };
  const names = ["text", "speech", "wait", "transcription", "classifier", "floor", "memory", "model", "answer", "tool"];
  let colours = null, width = 0, scale = 4000, drawn = null;

  function readColours() {
    const style = getComputedStyle(canvas);

    return Object.fromEntries(names.map((n) => [n, style.getPropertyValue("--" + n).trim()]));
  }

  // Pieces never overlap. One that is longer than the scale fades out at its end.
  function drawBar(pieces, y) {
    const at = (ms) => Math.max(0, Math.min(1, (ms + before) / (scale + before)));
    let end = 0;

    for (const { name, startMs, endMs } of pieces) {
      const from = Math.max(end, at(startMs)), to = Math.max(at(endMs), from), colour = own(colours, own(colourOf, name) || name);

      if (to === from || !colour) continue;
      end = to;
      g.fillStyle = colour;
      if (to === 1 && from < fades) {
        const fade = g.createLinearGradient(fades * width, 0, width, 0);

        fade.addColorStop(0, colour);
        fade.addColorStop(1, colour.replace(")", " / 0)")); // oklch(L C H), as page.css has all of them
        g.fillStyle = fade;
      }
      g.fillRect(from * width, y, (to - from) * width, bar);
    }
  }

  // The rows from first to last, each of this height, and some around them: a slow scroll does not draw anew with each row.
  function draw(items, from, to, height) {
    const first = from - from % step, last = Math.min(items.length, Math.ceil(to / step) * step);
    const now = [items, first, last, height, scale], ratio = devicePixelRatio || 1;

    if (!width || drawn?.every((v, i) => v === now[i])) return;
    const rows = last - first, zero = Math.round(before / (scale + before) * width), top = height > 40 ? 26 : 8;
    const size = [Math.round(width * ratio), Math.round(rows * height * ratio)];

    drawn = now;
    colours ||= readColours();
    if (canvas.width !== size[0] || canvas.height < size[1]) {
      canvas.width = size[0];
      canvas.height = size[1];
      canvas.style.height = size[1] / ratio + "px";
    }
    canvas.style.top = first * height + "px";
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, canvas.height / ratio);
    for (let i = first; i < last; i++) {
      const t = items[i];

      drawBar(t.before < 0 ? [{ name: "speech", startMs: t.before, endMs: 0 }, ...t.stages] : t.stages, (i - first) * height + top);
    }
    g.fillStyle = colours.text;
    // Where the words stand above the bars, the line is beside the bars alone.
    for (let i = 0; i < rows; i++) g.fillRect(zero, height > 40 ? i * height + top - 2 : i * height, 1, height > 40 ? bar + 4 : height);
  }

  new ResizeObserver(([entry]) => {
    width = Math.round(entry.contentRect.width);
    gone();
    later();
  }).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    colours = null;
    gone();
    later();
  });
  return {
    canvas, draw,
    scale(ms) {
      scale = ms;
      gone();
    },
  };
}
