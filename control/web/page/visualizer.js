// The visualizer of music: draws what control tells of the sound that is heard now, up to 25 times a second, and asks for it only while
// somebody looks.

const modes = { cqt: "levels of tones", spectrum: "tones over time", waves: "waveform", vectorscope: "left against right", off: "off" };
const sizes = { bands: 64, wave: 128, scope: 256 };
const quietest = 10; // of 128: softer music is not drawn any larger

export function makeVisualizer({ node, own }) {
  const looks = new Map(); // by server
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const labelOf = (mode) => `Picture of the music: ${modes[mode]}`;
  const canvasOf = (guild) => document.getElementById(`visualizer-${guild}`);

  function read(text) {
    const event = JSON.parse(text), parts = {};

    for (const [name, size] of Object.entries(sizes)) {
      const bytes = Uint8Array.from(atob(event[name]), (c) => c.charCodeAt(0));

      if (bytes.length !== size) return null;
      parts[name] = name === "bands" ? bytes : new Int8Array(bytes.buffer);
    }
    return parts;
  }

  function close(look) {
    look.source?.close();
    look.source = null;
    clearInterval(look.timer);
  }

  // Nobody sees it: the tab is hidden, another view is shown, or nothing plays.
  const unseen = (look) => document.hidden || look.mode === "off" || !canvasOf(look.guild);

  function open(look) {
    if (look.source || unseen(look) || Date.now() - look.refusedAt < 10000) return;
    look.source = new EventSource(`/api/rooms/${look.guild}/visualizer`);
    look.timer = setInterval(() => unseen(look) && close(look), 1000);
    look.source.addEventListener("analysis", ({ data }) => {
      if (unseen(look)) {
        close(look);
        return;
      }
      const parts = read(data);

      if (!parts) return;
      look.parts.push(parts);
      if (look.parts.length > 50) look.parts.shift();
      later(look);
    });
    look.source.onerror = () => {
      if (look.source?.readyState !== EventSource.CLOSED) return;
      look.refusedAt = Date.now();
      close(look);
    };
  }

  // With the frames of the screen, or a still picture every two seconds where motion is to be reduced.
  function later(look) {
    if (look.wanted) return;
    look.wanted = true;
    if (calm.matches) setTimeout(paint, Math.max(0, look.paintedAt + 2000 - Date.now()), look);
    else requestAnimationFrame(() => paint(look));
  }

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);

  // Softer music is drawn larger, up to a limit; the scale falls at once and rises slowly.
  function scaleOf(look, values) {
    look.peak = Math.max(quietest, look.peak * 0.98, ...values.map(Math.abs));
    return 1 / look.peak;
  }

  const painters = {
    cqt(look, c, { width, height }, { bands }) {
      const step = width / sizes.bands;

      c.clearRect(0, 0, width, height);
      c.fillStyle = color("--answer");
      look.bars = [...bands].map((b, i) => (calm.matches ? b : Math.max(b, (look.bars[i] ?? 0) - 12)));
      look.bars.forEach((b, i) => c.fillRect(i * step + 1, height - (b / 255) * height, step - 2, (b / 255) * height));
    },
    // Scrolls to the left; low tones are at the bottom.
    spectrum(look, c, { width, height, canvas }, { bands }) {
      const step = 4, row = height / sizes.bands;

      c.globalCompositeOperation = "copy";
      c.drawImage(canvas, -step, 0);
      c.globalCompositeOperation = "source-over";
      c.fillStyle = color("--answer");
      bands.forEach((b, i) => {
        c.globalAlpha = b / 255;
        c.fillRect(width - step, height - (i + 1) * row, step, row);
      });
      c.globalAlpha = 1;
    },
    waves(look, c, { width, height }, { wave }) {
      const scale = scaleOf(look, [...wave]) * height * 0.45;

      c.clearRect(0, 0, width, height);
      c.strokeStyle = color("--speech");
      c.lineWidth = 2;
      c.beginPath();
      wave.forEach((y, i) => c.lineTo((i / (sizes.wave - 1)) * width, height / 2 - y * scale));
      c.stroke();
    },
    vectorscope(look, c, { width, height }, { scope }) {
      const scale = scaleOf(look, [...scope]) * height * 0.45;

      c.clearRect(0, 0, width, height);
      c.fillStyle = color("--tool");
      for (let i = 0; i < sizes.scope; i += 2) c.fillRect(width / 2 + scope[i] * scale - 2, height / 2 - scope[i + 1] * scale - 2, 4, 4);
    },
  };

  function paint(look) {
    const canvas = canvasOf(look.guild), context = canvas?.getContext("2d"), parts = look.parts.splice(0);

    look.wanted = false;
    look.paintedAt = Date.now();
    if (!context || !own(painters, look.mode)) return;
    // Of the course over time each moment counts.
    for (const p of look.mode === "spectrum" ? parts : parts.slice(-1)) painters[look.mode](look, context, { width: canvas.width, height: canvas.height, canvas }, p);
  }

  function choose(look, mode) {
    const canvas = canvasOf(look.guild);

    look.mode = mode;
    look.parts = [];
    look.bars = [];
    if (canvas) {
      canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
      canvas.hidden = mode === "off";
      canvas.setAttribute("aria-label", labelOf(mode));
    }
    if (unseen(look)) close(look);
    else open(look);
  }

  document.addEventListener("visibilitychange", () => {
    for (const look of looks.values()) if (document.hidden) close(look); else open(look);
  });

  return {
    // The nodes of a room in which music plays; redrawn ones take the place of those that are there.
    draw(room) {
      const { guild } = room;

      if (!looks.has(guild)) looks.set(guild, { guild, mode: own(modes, room.music.visualizer) ? room.music.visualizer : "cqt", parts: [], bars: [], peak: 0,
        refusedAt: 0, paintedAt: 0, wanted: false, source: null, timer: 0 });
      const look = looks.get(guild), id = `visualizer-mode-${guild}`;
      const select = node("select", { id }, ...Object.entries(modes).map(([value, name]) => node("option", { value }, name)));

      select.value = look.mode;
      select.onchange = ({ target }) => choose(looks.get(guild), target.value);
      queueMicrotask(() => open(look));
      return node("div", { class: "visualizer" }, node("div", { class: "row" }, node("label", { for: id }, "Picture"), select),
        node("canvas", { id: `visualizer-${guild}`, width: 960, height: 256, role: "img", hidden: look.mode === "off",
          "aria-label": labelOf(look.mode) }));
    },
  };
}
