// The events of control, in one stream for all tabs of a browser, which opens six connections to an origin and no more. The tab that was
// looked at last holds a lock, reads the stream and passes the events on.

export function makeStream({ path, names, take, linked, refused, elsewhere }) {
  // Without them, outside of a secure context, each tab reads for itself.
  const channel = navigator.locks && typeof BroadcastChannel === "function" ? new BroadcastChannel("parley") : null;
  let source = null, on = false, request = null, resign = null, link = "connecting";

  function tell(now) {
    link = now;
    channel?.postMessage({ link });
    linked(link);
  }

  function read() {
    source?.close();
    source = new EventSource(path);
    const pass = ({ type, data }) => {
      channel?.postMessage({ type, data });
      take(type, data);
    };

    for (const name of [...names, "gap"]) source.addEventListener(name, pass);
    source.onopen = () => tell("live");
    source.onerror = () => {
      tell("reconnecting");
      // After a refusal a browser does not try again by itself.
      if (source.readyState === EventSource.CLOSED) refused();
    };
  }

  function stop() {
    source?.close();
    source = null;
    resign = null;
  }

  // Reads while it has the lock. A tab that somebody looks at takes it from the others, whose timers a browser may have stopped.
  async function lead(now) {
    request?.abort();
    const mine = request = new AbortController();

    try {
      await navigator.locks.request("parley-events", now ? { steal: true } : { signal: mine.signal }, () => new Promise((done) => {
        resign = done;
        read();
      }));
    } catch {
      // Another tab has taken it, or this one asks again.
    }
    if (request !== mine) return;
    stop();
    if (on) lead(false);
  }

  if (channel) channel.onmessage = ({ data: m }) => {
    if (m.session) elsewhere();
    else if (!on) return;
    else if (m.asks) resign && channel.postMessage({ link });
    else if (resign) return;
    else if (m.link) linked(m.link);
    else take(m.type, m.data);
  };
  document.addEventListener("visibilitychange", () => {
    if (on && channel && !document.hidden && !resign) lead(true);
  });

  return {
    open() {
      on = true;
      if (!channel || resign) {
        read();
        return;
      }
      channel.postMessage({ asks: true });
      lead(!document.hidden);
    },
    close() {
      const done = resign;

      on = false;
      request?.abort();
      request = null;
      stop();
      done?.();
    },
    // Somebody has signed in or out here, which holds for all tabs.
    signed() {
      channel?.postMessage({ session: true });
    },
  };
}
