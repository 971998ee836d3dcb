// Sticks and arrow keys that steer robots: what a hand does becomes a request to the page's server,
// at once, again while it is held, and once more when it lets go.
(() => {
  "use strict";
  const HELD = 250; // ms between two words of a hand that holds still
  const KEYS = 0.7; // of the fastest
  const me = Math.random().toString(36).slice(2);
  const keys = new Set();
  const stick = { forward: 0, sideways: 0, turn: 0 };
  let robot = null, number = 0, busy = false, again = false, sent = "0,0,0";

  const panels = () => document.querySelectorAll("[data-tabi-steer]");
  const panel = () => {
    const all = [...panels()];
    return all.find((one) => one.dataset.tabiSteer === robot) || all[0] || null;
  };
  const within = (x) => Math.max(-1, Math.min(1, x));

  function wanted() {
    const on = (name) => (keys.has(name) ? KEYS : 0);
    const across = on("ArrowLeft") - on("ArrowRight"), beside = keys.has("Shift");
    return [
      within(stick.forward + on("ArrowUp") - on("ArrowDown")),
      within(stick.sideways + (beside ? across : 0)),
      within(stick.turn + (beside ? 0 : across)),
    ].map((x) => Math.round(1000 * x) / 1000);
  }

  async function tell() {
    const one = panel();
    if (!one) return;
    if (busy) { again = true; return; }
    busy = true;
    const values = wanted();
    sent = values.join();
    number += 1;
    const where = new URL("steer", document.baseURI);
    where.search = new URLSearchParams({
      robot: one.dataset.tabiSteer, page: me, number,
      forward: values[0], sideways: values[1], turn: values[2],
    });
    try {
      await fetch(where, { headers: { "X-Tabi": "steer" }, cache: "no-store", keepalive: true });
    } catch { /* the server is gone, or comes back */ }
    busy = false;
    if (again) { again = false; tell(); }
  }

  const changed = () => { draw(); if (wanted().join() !== sent) tell(); };
  setInterval(() => { if (wanted().some((x) => x !== 0)) tell(); }, HELD);

  // where the knobs are
  function draw() {
    const [forward, sideways, turn] = wanted();
    const one = panel();
    if (!one) return;
    const walk = one.querySelector("[data-tabi-pad=walk] [data-tabi-knob]");
    const bar = one.querySelector("[data-tabi-pad=turn] [data-tabi-knob]");
    if (walk) walk.style.transform = `translate(${-36 * sideways}px, ${-36 * forward}px)`;
    if (bar) bar.style.transform = `translate(${-44 * turn}px, 0)`;
  }

  function moved(pad, event) {
    const box = pad.getBoundingClientRect();
    const x = within((event.clientX - box.left - box.width / 2) / (box.width / 2 - 14));
    const y = within((event.clientY - box.top - box.height / 2) / (box.height / 2 - 14));
    if (pad.dataset.tabiPad === "turn") {
      stick.turn = -x;
    } else {
      // a round stick: not faster along its diagonals
      const far = Math.max(1, Math.hypot(x, y));
      stick.forward = -y / far; stick.sideways = -x / far;
    }
    changed();
  }

  window.addEventListener("pointerdown", (event) => {
    const pad = event.target instanceof Element && event.target.closest("[data-tabi-pad]");
    if (!pad || event.button !== 0) return;
    event.preventDefault(); event.stopPropagation();
    robot = pad.closest("[data-tabi-steer]").dataset.tabiSteer;
    pad.setPointerCapture(event.pointerId);
    const move = (e) => moved(pad, e);
    const end = () => {
      pad.removeEventListener("pointermove", move);
      stick.forward = stick.sideways = stick.turn = 0;
      changed();
    };
    pad.addEventListener("pointermove", move);
    pad.addEventListener("pointerup", end, { once: true });
    pad.addEventListener("lostpointercapture", end, { once: true });
    moved(pad, event);
  }, true);

  const writes = () => {
    const at = document.activeElement;
    return at && at.matches("input, textarea, [contenteditable], [role=slider]");
  };
  window.addEventListener("keydown", (event) => {
    if (!panel() || event.ctrlKey || event.metaKey || event.altKey || writes()) return;
    if (event.key === "Shift") keys.add("Shift");
    else if (event.key.startsWith("Arrow")) {
      keys.add(event.key);
      // these keys would turn the view
      event.preventDefault(); event.stopImmediatePropagation();
    } else return;
    changed();
  }, true);
  window.addEventListener("keyup", (event) => { if (keys.delete(event.key)) changed(); }, true);

  // a hand that is no longer seen has let go
  const gone = () => { keys.clear(); stick.forward = stick.sideways = stick.turn = 0; changed(); };
  window.addEventListener("blur", gone);
  window.addEventListener("pagehide", gone);
  document.addEventListener("visibilitychange", () => { if (document.hidden) gone(); });
})();
