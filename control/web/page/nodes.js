// Nodes: making them, and changing what is there into what shall be there. Text of people reaches the page by textContent alone.

export function node(tag, attributes, ...children) {
  const e = document.createElement(tag);

  for (const [name, value] of Object.entries(attributes || {}))
    if (value !== null && value !== undefined && value !== false) e.setAttribute(name, value === true ? "" : value);
  e.append(...children.filter((c) => c !== null && c !== undefined && c !== false).map((c) => (c instanceof Node ? c : String(c))));
  return e;
}

// Keeps the nodes of a list whose key and content are the same, so that focus stays where it is.
const made = new WeakMap();

export function keep(list, items, keyOf, make) {
  const old = new Map([...list.children].map((e) => [made.get(e)?.key, e]));
  const wanted = items.map((item) => {
    const key = String(keyOf(item)), text = JSON.stringify(item), there = old.get(key);

    if (there && made.get(there).text === text) return there;
    const fresh = make(item);

    made.set(fresh, { key, text });
    if (there && there.contains(document.activeElement)) queueMicrotask(() => fresh.querySelector("button")?.focus());
    return fresh;
  });
  const same = wanted.length === list.children.length && wanted.every((e, i) => e === list.children[i]);

  if (!same) list.replaceChildren(...wanted);
}

// ---- the same nodes with other content ----

const handlers = ["onclick", "onchange", "oninput", "onsubmit", "onkeydown"];
const drawn = new WeakMap(); // fields: the value that was drawn last
const valueOf = (e) => (e.matches("input, select, textarea") ? e.value : undefined);

// What a node stands for among its siblings. A row or a button that stands for something else is another node, so that a click never
// lands on what has moved under it.
function nameOf(e) {
  if (e.nodeType !== Node.ELEMENT_NODE) return "#" + e.nodeType;
  const name = e.dataset.key || e.id || {
    TR: () => e.textContent, LI: () => e.textContent, SECTION: () => e.querySelector("h3")?.textContent,
    BUTTON: () => e.getAttribute("aria-label") || e.textContent, A: () => e.getAttribute("href"), OPTION: () => e.value,
  }[e.tagName]?.();

  return e.tagName + " " + (name ?? "");
}

function become(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !(old.tagName === "DETAILS" && name === "open")) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes)
    if (old.getAttribute(name) === value) continue;
    else if (name === "style") old.style.cssText = value; // as an attribute the policy refuses it
    else old.setAttribute(name, value);
  for (const name of handlers) if (old[name] !== fresh[name]) old[name] = fresh[name];
  const value = valueOf(fresh);

  become.children(old, [...fresh.childNodes]);
  // What somebody types stays as long as the same value is drawn.
  if (value !== undefined && (old.tagName === "SELECT" || !drawn.has(old) || drawn.get(old) !== value) && old.value !== value) old.value = value;
  if (value !== undefined) drawn.set(old, value);
}

// Focus, selection, scrolled places and the button under a pointer stay: a node is moved or made only where none stands for the same.
become.children = (parent, wanted) => {
  const there = new Map();

  for (const e of parent.childNodes) {
    const name = nameOf(e);

    there.set(name, (there.get(name) || []).concat(e));
  }
  const all = wanted.map((fresh) => {
    const old = there.get(nameOf(fresh))?.shift();

    if (old) become(old, fresh);
    else if (fresh.querySelectorAll) for (const e of [fresh, ...fresh.querySelectorAll("input, select, textarea")]) if (valueOf(e) !== undefined) drawn.set(e, e.value);
    return old || fresh;
  });

  for (const left of there.values()) for (const e of left) e.remove();
  all.forEach((e, i) => {
    if (parent.childNodes[i] !== e) parent.insertBefore(e, parent.childNodes[i] || null);
  });
};

// Changes the children of a node into these, which are of nobody else. Their handlers (onclick and its like) take what they need from the
// event: the node that they were made for may never be seen.
export function redraw(parent, ...children) {
  become.children(parent, children.map((c) => (c instanceof Node ? c : document.createTextNode(String(c)))));
}
