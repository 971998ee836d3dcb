// Fingers on the view. One that rests on a body for a moment takes hold of it, and pulls it from
// then on as the mouse does with Ctrl. One that moves at once turns the view; two turn it as well,
// and come closer or go away with the distance between them; three shift it.
(() => {
  "use strict";
  const REST = 400; // ms a finger rests before it takes hold
  const STILL = 8; // pixels it may move meanwhile
  const down = new Map(); // fingers on the view: where each was put down
  let pulls = null, rests = null, ring = null;

  const on = (event) => event.pointerType === "touch" && event.isTrusted;
  const camera = () => window.tabiCamera && window.tabiCamera.control();

  // the same finger, for viser: with Ctrl, or lifted
  function say(canvas, kind, { id, x, y }, ctrlKey) {
    canvas.dispatchEvent(new PointerEvent(kind, {
      pointerId: id, pointerType: "touch", isPrimary: true, clientX: x, clientY: y, ctrlKey,
      button: 0, buttons: kind === "pointerdown" ? 1 : 0,
      bubbles: true, cancelable: true, composed: true,
    }));
  }

  function mark(x, y) {
    if (!ring) {
      ring = document.createElement("div");
      ring.dataset.tabiRing = "";
      ring.style.cssText = "position:fixed;width:64px;height:64px;margin:-32px 0 0 -32px;" +
        "border:3px solid #e2841c;border-radius:50%;pointer-events:none;z-index:1000";
      document.body.append(ring);
    }
    ring.style.left = `${x}px`;
    ring.style.top = `${y}px`;
  }

  function take(canvas, finger) {
    if (rests !== finger) return;
    rests = null;
    // the view is let go of first
    say(canvas, "pointerup", finger, false);
    pulls = finger.id;
    say(canvas, "pointerdown", finger, true);
    // who has hold of a body has locked the view
    if (camera() && !camera().enabled) {
      mark(finger.x, finger.y);
      if (navigator.vibrate) navigator.vibrate(20);
    }
  }

  window.addEventListener("pointerdown", (event) => {
    if (!on(event) || !(event.target instanceof HTMLCanvasElement)) return;
    const canvas = event.target;
    const finger = { id: event.pointerId, x: event.clientX, y: event.clientY };
    down.set(event.pointerId, finger);
    rests = down.size === 1 ? finger : null;
    const touches = camera() && camera().touches;
    if (touches) touches.two = camera().constructor.ACTION.TOUCH_DOLLY_ROTATE;
    // a busy page hears first of what has moved meanwhile, just before it draws
    setTimeout(() => requestAnimationFrame(() => take(canvas, finger)), REST);
  }, true);

  window.addEventListener("pointermove", (event) => {
    if (!on(event)) return;
    if (event.pointerId === pulls) {
      Object.defineProperty(event, "ctrlKey", { value: true });
      if (ring) mark(event.clientX, event.clientY);
      return;
    }
    const finger = down.get(event.pointerId);
    if (finger && Math.hypot(event.clientX - finger.x, event.clientY - finger.y) > STILL) {
      rests = null;
    }
  }, true);

  for (const end of ["pointerup", "pointercancel"]) {
    window.addEventListener(end, (event) => {
      if (!on(event)) return;
      down.delete(event.pointerId);
      rests = null;
      if (event.pointerId !== pulls) return;
      pulls = null;
      if (ring) ring.remove();
      ring = null;
    }, true);
  }

  // a finger that rests asks for no menu
  window.addEventListener("contextmenu", (event) => {
    if (down.size && event.target instanceof HTMLCanvasElement) event.preventDefault();
  }, true);
})();
