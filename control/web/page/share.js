// Shows a screen to the bot: a picture whenever it has changed, and a word every few seconds otherwise.
const token = location.pathname.split("/")[2];
const base = `/api/voice/share-session/${token}`;
const WORD_MS = 5000; // between two words of a page that has nothing new
const FINE = 0.85; // quality of pictures that the bot encodes once more
// A screen that is more than so many times as large as its picture has small text that nobody can read there.
const SMALL = 2;
// In a block of so many pixels each way, so many differ by more than so many levels: the screen has changed.
const BLOCK = 16, BLOCK_DIFFERS = 3, LEVELS = 24;
// The bot looks again once this is over.
const AWAY = ["watch_not_active", "requester_not_in_same_vc", "target_user_not_in_same_vc"];
const $ = (id) => document.getElementById(id);

const share = {
  state: "idle", // idle, showing, paused, ended
  watched: true,
  sees: false, // it has a picture, as it said last
  blind: false, // no model gets the pictures
  stream: null,
  frame: null, // the newest one of the track, where the browser tells them
  timer: 0,
  looked: 0, // ms; when the page last looked for a change
  looking: false,
  told: 0, // ms; when the bot last heard of us
  pixels: null, // of the last picture that was sent
  next: null, // of the one that was looked at last
  sent: 0,
  side: 0, // pixels of the longer side of the screen, once it is known
  chosen: new Set(), // the settings that its person has set
  fine: true, // pictures are sent finer than the bot keeps them
  settings: {frameMs: 1200, width: 960, quality: 0.6, bytes: 350000},
};

const STATES = {
  idle: "Nothing is shown",
  showing: "The bot sees this screen",
  blind: "The bot gets this screen, but has no model that takes pictures: it does not see it",
  unseen: "The bot has no picture of this screen now",
  stale: "The browser takes no new pictures: keep this page visible",
  waiting: "Shared; the bot does not watch now",
  paused: "Paused: the bot gets nothing",
  ended: "Ended: the pictures are wiped",
  unused: "This link shows nothing any more",
};

function showState() {
  const shown = !share.watched ? "waiting" : isStale() ? "stale" : !share.sees ? "unseen" : share.blind ? "blind" : "showing";
  const last = share.state === "ended" && !share.sent ? "unused" : share.state;
  const name = share.state === "showing" ? shown : last;
  $("state").textContent = STATES[name];
  $("state").dataset.state = name === "blind" ? name : share.state;
  $("start").hidden = share.state === "showing" || share.state === "paused" || share.state === "ended";
  $("pause").hidden = $("stop").hidden = !(share.state === "showing" || share.state === "paused");
  $("pause").textContent = share.state === "paused" ? "Go on" : "Pause";
  $("stage").hidden = !share.stream;
  $("preview").classList.toggle("paused", share.state === "paused");
  $("sent").textContent = share.sent ? `${share.sent} ${share.sent === 1 ? "picture" : "pictures"} sent` : "";
}

function say(text) {
  $("outcome").textContent = text;
}

function showSettings() {
  $("rate-value").textContent = `${(share.settings.frameMs / 1000).toFixed(1)} s`;
  $("quality-value").textContent = `${Math.round(share.settings.quality * 100)} %`;
  const small = share.side > SMALL * share.settings.width;
  $("width-value").textContent = `${share.settings.width} px${share.side > share.settings.width ? ` of ${share.side}` : ""}`;
  $("scale").textContent = small ? "The bot cannot read small text of so large a screen. Share a window or a tab of it instead." : "";
}

// What the server has for pictures is the most that it keeps of them, so it ends the choice; what was chosen before stays.
function takeLimits(settings) {
  $("quality").max = Math.round(settings.quality * 100);
  $("width").max = settings.width;
  takeSettings({
    bytes: settings.bytes,
    frameMs: share.chosen.has("frameMs") ? share.settings.frameMs : settings.frameMs,
    quality: share.chosen.has("quality") ? Math.min(share.settings.quality, settings.quality) : settings.quality,
    width: share.chosen.has("width") ? Math.min(share.settings.width, settings.width) : settings.width,
  });
}

function takeSettings(settings) {
  share.settings = {...share.settings, ...settings};
  $("rate").value = share.settings.frameMs;
  $("quality").value = Math.round(share.settings.quality * 100);
  $("width").value = share.settings.width;
  showSettings();
}

// The answer, or null: the share is over, or the server cannot be reached, and the page says so.
async function post(path, body, type) {
  const headers = type ? {"Content-Type": type} : {};
  let answer;
  if (path === "/frame") {
    headers["X-Screen-Side"] = String(share.side);
  }
  try {
    answer = await fetch(base + path, {method: "POST", body, headers, keepalive: path === "/stop"});
  } catch {
    share.sees = false;
    say("The bot cannot be reached. Trying again.");
    return null;
  }
  const json = await answer.json().catch(() => ({}));
  share.told = performance.now();
  if (answer.ok) {
    share.watched = json.watched !== false;
    share.blind = json.blind === true;
    share.sees = json.state === "showing" && !json.wants && !json.problem;
    // What the bot had is wiped: it gets the screen again, though nothing has changed.
    if (json.wants) {
      share.pixels = null;
    }
    say(json.problem ?? "");
    return json;
  }
  if (AWAY.includes(json.error)) {
    share.watched = false;
  }
  if (json.error !== "watch_not_active") {
    say(json.title ?? "The bot refused this.");
  }
  if (json.error === "share_session_not_found" || json.error === "share_session_taken") {
    end();
  }
  if (json.error === "frame_too_large" || json.error === "invalid_mime_type") {
    share.sees = false;
  }
  if (json.error === "frame_too_large" && share.fine) {
    share.fine = false;
  } else if (json.error === "frame_too_large") {
    takeSettings({quality: Math.max(0.5, share.settings.quality - 0.1), width: Math.max(640, share.settings.width - 160)});
  }
  return null;
}

function end() {
  for (const track of share.stream?.getTracks() ?? []) {
    track.stop();
  }
  clearTimeout(share.timer);
  share.stream = null;
  $("preview").srcObject = null;
  share.state = "ended";
  showState();
}

// True if the picture differs from the one that was sent last. A still screen is captured the same, bit for bit, and a digit of small text is few
// pixels here: so all of them are compared.
function hasChanged(context) {
  const {width, height} = context.canvas;
  const now = context.getImageData(0, 0, width, height);
  const before = share.pixels;
  share.next = now;
  if (!before || before.width !== width || before.height !== height) {
    return true;
  }
  const columns = Math.ceil(width / BLOCK);
  const differ = new Uint8Array(columns * Math.ceil(height / BLOCK));
  const whole = new Uint32Array(now.data.buffer), wholeBefore = new Uint32Array(before.data.buffer);
  for (let i = 0; i < whole.length; i++) {
    if (whole[i] !== wholeBefore[i] && pixelDiffers(now.data, before.data, 4 * i)) {
      const x = i % width, y = (i - x) / width;
      if (++differ[Math.floor(y / BLOCK) * columns + Math.floor(x / BLOCK)] >= BLOCK_DIFFERS) {
        return true;
      }
    }
  }
  return false;
}

function pixelDiffers(a, b, at) {
  return Math.abs(a[at] - b[at]) > LEVELS || Math.abs(a[at + 1] - b[at + 1]) > LEVELS || Math.abs(a[at + 2] - b[at + 2]) > LEVELS;
}

// A page that is behind what it shows draws no video, but its track goes on. Its timers are slowed down to one a minute after a while,
// so frames set off looks as well. Ends with the track.
async function keepNewest(track) {
  const reader = new MediaStreamTrackProcessor({track, maxBufferSize: 1}).readable.getReader();
  for (let read = {}; !read.done;) {
    read = await reader.read();
    share.frame?.close();
    share.frame = read.value ?? null;
    if (share.state === "showing" && !share.looking && performance.now() - share.looked > share.settings.frameMs) {
      clearTimeout(share.timer);
      look();
    }
  }
}

// True if nobody knows what the screen looks like: its window is minimised, or this page is behind another one in a browser that draws video
// only where it is seen.
function isStale() {
  const [track] = share.stream?.getVideoTracks() ?? [];
  return !track || track.muted || (!window.MediaStreamTrackProcessor && document.hidden);
}

function tellState(told) {
  return post("/state", JSON.stringify(told), "application/json");
}

async function sendPicture() {
  // What stands still must not be told as the screen of now.
  if (isStale()) {
    if (performance.now() - share.told > WORD_MS) {
      await tellState({paused: false, stale: true});
    }
    return;
  }
  const video = $("preview");
  const from = share.frame ?? video;
  const [width, height] = share.frame ? [from.displayWidth, from.displayHeight] : [video.videoWidth, video.videoHeight];
  const scale = Math.min(1, share.settings.width / Math.max(width, height));
  if (!width) {
    return;
  }
  if (share.side !== Math.max(width, height)) {
    share.side = Math.max(width, height);
    showSettings();
  }
  const canvas = new OffscreenCanvas(Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)));
  const context = canvas.getContext("2d", {willReadFrequently: true});
  // Of each pixel of the screen something is left, so that small text stays legible, and a change of it is seen.
  context.imageSmoothingQuality = "high";
  context.drawImage(from, 0, 0, canvas.width, canvas.height);
  if (!hasChanged(context)) {
    if (performance.now() - share.told > WORD_MS) {
      await tellState({paused: false});
    }
    return;
  }
  // A bot that does not watch is asked again now and then.
  if (!share.watched) {
    if (performance.now() - share.told < WORD_MS) {
      return;
    }
    await tellState({paused: false});
  }
  // The bot encodes it once more: of what is coarse already letters get a second seam.
  const quality = share.fine && !share.chosen.has("quality") ? Math.max(FINE, share.settings.quality) : share.settings.quality;
  const blob = await canvas.convertToBlob({type: "image/jpeg", quality});
  // Pause and Stop were there meanwhile.
  if (share.state !== "showing" || !share.watched) {
    return;
  }
  if (await post("/frame", blob, "image/jpeg")) {
    share.pixels = share.next;
    share.sent++;
  }
}

async function look() {
  const begun = (share.looked = performance.now());
  const before = share.state;
  share.looking = true;
  try {
    if (share.state === "showing") {
      await sendPicture();
    } else if (performance.now() - share.told > WORD_MS) {
      await tellState({paused: true});
    }
  } catch (error) {
    // The browser could not read or write this picture; it may the next one.
    share.sees = false;
    say(`The screen cannot be read: ${error.message}`);
  } finally {
    share.looking = false;
  }
  // A word that was under way may have come after that of the pause: it is said again.
  if (before === "showing" && share.state === "paused") {
    share.told = -WORD_MS;
  }
  if (share.state === "showing" || share.state === "paused") {
    showState();
    share.timer = setTimeout(look, Math.max(50, share.settings.frameMs - (performance.now() - begun)));
  }
}

async function start() {
  $("start").disabled = true;
  say("");
  try {
    const opened = await post("/open");
    if (!opened) {
      return;
    }
    takeLimits(opened.settings);
    share.stream = await navigator.mediaDevices.getDisplayMedia({video: {frameRate: 5}, audio: false});
  } catch (error) {
    say(error.name === "NotAllowedError" ? "Nothing was chosen, so nothing is shown." : `The screen cannot be shown: ${error.message}`);
    return;
  } finally {
    $("start").disabled = false;
  }
  const [track] = share.stream.getVideoTracks();
  track.addEventListener("ended", stop);
  $("preview").srcObject = share.stream;
  share.state = "showing";
  share.sees = false;
  share.looked = performance.now();
  if (window.MediaStreamTrackProcessor) {
    // Without frames the picture is that of the video.
    keepNewest(track).catch(() => {
      share.frame?.close();
      share.frame = null;
    });
  }
  showState();
  share.timer = setTimeout(look, 300);
}

async function pause() {
  const paused = share.state !== "paused";
  share.pixels = null;
  if (paused) {
    share.state = "paused";
    showState();
  }
  // A picture is taken by a bot that knows that the pause is over.
  const told = await tellState({paused});
  if (!paused && told && share.state === "paused") {
    share.state = "showing";
    showState();
  }
}

async function stop() {
  if (share.state === "ended") {
    return;
  }
  end();
  await post("/stop");
  say("");
}

for (const [id, name, factor] of [["rate", "frameMs", 1], ["quality", "quality", 0.01], ["width", "width", 1]]) {
  $(id).addEventListener("input", () => {
    share.chosen.add(name);
    share.settings[name] = Number($(id).value) * factor;
    share.pixels = null;
    showSettings();
  });
}
$("start").addEventListener("click", start);
$("pause").addEventListener("click", pause);
$("stop").addEventListener("click", stop);
addEventListener("pagehide", () => {
  if (share.state === "showing" || share.state === "paused") {
    stop();
  }
});
takeSettings({});
showState();
if (!isSecureContext || !navigator.mediaDevices?.getDisplayMedia) {
  $("start").disabled = true;
  say(
    isSecureContext
      ? "This browser cannot show a screen. Open the link in Chromium, Firefox or Safari on a computer."
      : "Browsers show a screen to pages with TLS only. Whoever runs the bot sets web_share_origin to an https address, as docs/eyes.md says.",
  );
}
