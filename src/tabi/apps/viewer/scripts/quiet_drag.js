// A drag in the view begins without a complaint of the browser: viser forbids the default action of
// a press in a listener that has promised not to, which does nothing but write an error.
(() => {
  "use strict";
  window.addEventListener("pointerdown", (event) => {
    if (!(event.target instanceof HTMLCanvasElement)) return;
    Object.defineProperty(event, "preventDefault", { value: () => {} });
  }, true);
})();
