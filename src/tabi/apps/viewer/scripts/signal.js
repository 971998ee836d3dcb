// A click on the name of a signal asks the page's server for its plot, or for its end.
(() => {
  "use strict";
  window.addEventListener("click", (event) => {
    const name = event.target instanceof Element && event.target.closest("[data-tabi-signal]");
    if (!name) return;
    const where = new URL("signal", document.baseURI);
    where.search = new URLSearchParams({ name: name.dataset.tabiSignal });
    fetch(where, { headers: { "X-Tabi": "signal" }, cache: "no-store" }).catch(() => {});
  });
})();
