// Links to what this page shows: the scene and the settings, as the server says, and the camera of
// this browser. A page that was opened by one asks for it; what cannot be is said in a sentence.
(() => {
  "use strict";
  const WORDS = "data-tabi-link"; // of the button
  const asked = new URLSearchParams(location.search);

  function say(text, label, act) {
    document.querySelector("[data-tabi-message]")?.remove();
    const bar = document.createElement("div");
    bar.dataset.tabiMessage = "";
    bar.setAttribute("role", "alert");
    bar.style.cssText = "position:fixed;top:12px;left:50%;transform:translateX(-50%);" +
      "z-index:2000;max-width:min(90vw,40em);padding:10px 14px;background:#1a3385;color:#fff;" +
      "border-radius:4px;font:14px/1.4 sans-serif;box-shadow:0 2px 8px rgba(0,0,0,.3);" +
      "overflow-wrap:anywhere;user-select:text";
    bar.append(text);
    for (const [name, what] of [...(label ? [[label, act]] : []), ["Close", () => {}]]) {
      const button = document.createElement("button");
      button.textContent = name;
      button.style.cssText = "margin-left:12px;font:inherit;color:inherit;background:none;" +
        "border:1px solid #fff;border-radius:3px;cursor:pointer";
      button.addEventListener("click", () => { bar.remove(); what(); });
      bar.append(button);
    }
    document.body.append(bar);
  }

  const request = (query) => fetch(new URL(`link${query}`, document.baseURI), {
    headers: { "X-Tabi": "link" }, cache: "no-store",
  });

  function camera() {
    const now = window.tabiCamera.now();
    return now && [...now.position, ...now.target].map((x) => Number(x.toFixed(3))).join();
  }

  // once the world is there, and the server's own start of the camera has come
  function look(numbers) {
    const begin = performance.now();
    const timer = setInterval(() => {
      if (performance.now() - begin > 60000) clearInterval(timer);
      if (!window.tabiCamera.ready() || !opened()) return;
      clearInterval(timer);
      setTimeout(() => window.tabiCamera.look(numbers.slice(0, 3), numbers.slice(3)), 500);
    }, 200);
  }
  const opened = () => {
    const one = document.querySelector(`[${WORDS}]`);
    return one && (!asked.has("scene") || one.getAttribute(WORDS) === asked.get("scene"));
  };

  async function open() {
    asked.delete("elsewhere"); asked.delete("token");
    const reply = await request(`?${asked}`);
    const refusal = reply.ok ? await reply.text() : "This link cannot be opened here.";
    if (refusal) { say(refusal); return; }
    const numbers = (asked.get("camera") || "").split(",").map(Number);
    if (numbers.length === 6 && numbers.every((x) => Number.isFinite(x) && Math.abs(x) < 1e5)) {
      look(numbers);
    } else if (asked.has("camera")) {
      say("The camera of this link is not six numbers; the view is where the scene begins.");
    }
  }

  async function copy(button) {
    const query = new URLSearchParams(await (await request("")).text());
    if (camera()) query.set("camera", camera());
    const token = new URLSearchParams(location.search).get("token");
    if (token) query.set("token", token);
    const link = `${location.origin}${location.pathname}?${query}`;
    let done = true;
    try {
      await navigator.clipboard.writeText(link);
    } catch {
      const field = document.createElement("textarea");
      field.value = link;
      document.body.append(field);
      field.select();
      done = document.execCommand("copy");
      field.remove();
    }
    button.title = link;
    say(done ? `Copied: ${link}` : link);
  }

  window.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest(`[${WORDS}]`);
    if (button) copy(button).catch(() => say("The page's server does not answer."));
  });

  window.addEventListener("DOMContentLoaded", () => {
    const keys = [...asked.keys()].filter((key) => key !== "token");
    if (!keys.length) return;
    if (!asked.has("elsewhere")) { open(); return; }
    say("A link of another site asks for a scene and settings in this session.", "Open", open);
  });
})();
