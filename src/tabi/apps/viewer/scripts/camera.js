// The camera of this page, for the scripts after this one, and its way along with a robot: the node
// /followed is where it should look, while that is visible. What the user turns or shifts stays.
(() => {
  "use strict";
  const FOLLOWED = "/followed";
  const EASE = 0.12; // s until most of the way to the robot is gone
  const JUMP = 0.3; // m; who moves the camera by more than this without a hand sets it anew
  let known = null;

  // viser's own state of the page: the value of the context around its canvas
  function viewer() {
    const canvas = document.querySelector("canvas");
    if (known || !canvas) return known;
    const key = Object.keys(canvas).find((name) => name.startsWith("__reactFiber$"));
    for (let fiber = canvas[key]; fiber; fiber = fiber.return) {
      const value = fiber.memoizedProps && fiber.memoizedProps.value;
      if (value && value.mutable && value.mutable.current && value.useSceneTree) {
        return (known = value);
      }
    }
    return null;
  }
  const control = () => { const page = viewer(); return page && page.mutable.current.cameraControl; };
  const node = (name) => viewer().useSceneTree.get(name);

  // a vector turned by the root's quaternion, from the world to three.js, or back:
  // x + 2 w (n × x) + 2 n × (n × x)
  function turned(x, back) {
    const root = node("");
    const [w, ...n] = (root && root.wxyz) || [1, 0, 0, 0];
    const cross = (a, b) => [
      a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0],
    ];
    const once = cross(n, x), twice = cross(n, once), sign = back ? -2 : 2;
    return x.map((value, k) => value + sign * w * once[k] + 2 * twice[k]);
  }

  // where the camera is and what it looks at [m], in the world; null before it is there
  function now() {
    const camera = control();
    return camera && {
      position: turned(camera.getPosition().toArray(), true),
      target: turned(camera.getTarget().toArray(), true),
    };
  }

  function look(position, target) {
    control().setPosition(...turned(position), false);
    control().setTarget(...turned(target), false);
  }

  // whether the world has arrived
  const ready = () => Boolean(control() && node(FOLLOWED));
  window.tabiCamera = { now, look, ready, control };

  const hands = new Set();
  window.addEventListener("pointerdown", (event) => {
    if (event.target instanceof HTMLCanvasElement) hands.add(event.pointerId);
  }, true);
  for (const end of ["pointerup", "pointercancel"]) {
    window.addEventListener(end, (event) => hands.delete(event.pointerId), true);
  }

  let last = 0, mine = null, shift = [0, 0];
  function follow(time) {
    requestAnimationFrame(follow);
    const passed = Math.min((time - last) / 1000, 0.2);
    last = time;
    const followed = ready() && node(FOLLOWED);
    const pose = followed && viewer().mutable.current.nodePoseData[FOLLOWED];
    if (!pose || !followed.visibility) { mine = null; shift = [0, 0]; return; }
    const { target } = now();
    if (mine) {
      const moved = [target[0] - mine[0], target[1] - mine[1]];
      if (hands.size) shift = [shift[0] + moved[0], shift[1] + moved[1]];
      else if (Math.hypot(...moved) > JUMP) shift = [0, 0];
    }
    const part = 1 - Math.exp(-passed / EASE);
    mine = [0, 1].map((k) => target[k] + part * (pose.position[k] + shift[k] - target[k]));
    if (Math.hypot(mine[0] - target[0], mine[1] - target[1]) > 1e-4) {
      control().moveTo(...turned([...mine, target[2]]), false);
    }
  }
  requestAnimationFrame(follow);
})();
