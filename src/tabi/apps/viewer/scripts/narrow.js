// In a window of less than 600 pixels the controls are a bar below the scene; a tap opens them.
(() => {
  "use strict";
  const MOST = 599.98; // pixels of a narrow window; viser's own border is 36em
  const BAR = "3.5em";
  const ask = window.matchMedia.bind(window);
  const narrow = ask(`(max-width: ${MOST}px)`);
  // one border for viser and for this script
  window.matchMedia = (query) => ask(query.replace("(max-width: 36em)", `(max-width: ${MOST}px)`));

  const style = document.createElement("style");
  style.textContent = `
    @media (max-width: ${MOST}px) {
      #root { height: calc(100% - ${BAR}) !important; }
      .tabi-bar, .tabi-bar div[style*="width: 20em"] { width: 100% !important; }
      .tabi-bar { max-height: 70% !important; }
      .tabi-handle::after { content: "▴"; margin-left: auto; padding-left: 0.5em; opacity: 0.6; }
      .tabi-handle.tabi-open::after { content: "▾"; }
    }`;
  document.head.append(style);

  function find() {
    // the only press area of this height, in a sheet that is fixed to the window
    const all = document.querySelectorAll(`div[style*="cursor: pointer"][style*="height: ${BAR}"]`);
    const one = [...all].find((handle) => !handle.classList.contains("tabi-handle"));
    let sheet = one;
    while (sheet && sheet.style.position !== "fixed") sheet = sheet.parentElement;
    if (!sheet) return;
    sheet.classList.add("tabi-bar");
    one.classList.add("tabi-handle", "tabi-open");
    one.setAttribute("role", "button");
    one.setAttribute("aria-label", "Controls");
    one.setAttribute("aria-expanded", "true");
    one.addEventListener("click", (event) => {
      // the symbols in the bar are buttons of their own
      if (event.target instanceof Element && event.target.closest("button")) return;
      const open = one.classList.toggle("tabi-open");
      one.setAttribute("aria-expanded", String(open));
    });
    one.click();
  }

  let waiting = false;
  const look = () => {
    if (waiting || !narrow.matches) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; find(); });
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true });
})();
