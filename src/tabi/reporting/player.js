"use strict";
// Plays a recording in WebGL: bodies as triangles, ground, shadow, arrows of contact forces, marks; an orbit camera; a time bar.

(function () {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent), frames = data.frames;

  // ---- numbers ------------------------------------------------------------------------------

  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;

  function unpacked(part) {
    const whole = new Uint16Array(bytes(part.data)), out = new Float32Array(whole.length);
    for (let i = 0; i < whole.length; i++) out[i] = whole[i] * part.step[i % 3] + part.low[i % 3];
    return out;
  }

  const positions = unpacked(frames.position), turns = new Int16Array(bytes(frames.quaternion));
  const points = unpacked(frames.point), forces = unpacked(frames.force);
  const marks = unpacked(frames.marks), there = new Uint8Array(bytes(frames.there));
  const firstArrow = [0];
  for (const n of frames.arrows) firstArrow.push(firstArrow[firstArrow.length - 1] + n);

  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
  const unit = (a) => { const n = Math.hypot(a[0], a[1], a[2]) || 1; return [a[0] / n, a[1] / n, a[2] / n]; };

  // matrices of 16 numbers, column by column
  function product(a, b) {
    const out = new Float32Array(16);
    for (let c = 0; c < 4; c++) for (let r = 0; r < 4; r++) {
      let sum = 0;
      for (let k = 0; k < 4; k++) sum += a[4 * k + r] * b[4 * c + k];
      out[4 * c + r] = sum;
    }
    return out;
  }

  function placement(w, x, y, z, p, scale) {
    const s = scale || 1;
    return new Float32Array([
      s * (1 - 2 * (y * y + z * z)), s * 2 * (x * y + w * z), s * 2 * (x * z - w * y), 0,
      s * 2 * (x * y - w * z), s * (1 - 2 * (x * x + z * z)), s * 2 * (y * z + w * x), 0,
      s * 2 * (x * z + w * y), s * 2 * (y * z - w * x), s * (1 - 2 * (x * x + y * y)), 0, p[0], p[1], p[2], 1]);
  }

  function bodyAt(frame, body) {
    const i = frame * frames.bodies + body, q = turns.subarray(4 * i, 4 * i + 4);
    const n = Math.hypot(q[0], q[1], q[2], q[3]) || 1;
    return placement(q[0] / n, q[1] / n, q[2] / n, q[3] / n, positions.subarray(3 * i, 3 * i + 3));
  }

  // ---- pictures -----------------------------------------------------------------------------

  const canvas = byId("view");
  const gl = canvas.getContext("webgl", { alpha: false, antialias: true, stencil: true, preserveDrawingBuffer: true });
  if (!gl) { byId("fault").textContent = "This browser shows no WebGL, so the run cannot be drawn."; return; }
  const wide = gl.getExtension("OES_element_index_uint");

  const VERTEX = `
    attribute vec3 place; attribute vec3 normal; uniform mat4 body, view; varying vec3 n, at;
    void main() { vec4 p = body * vec4(place, 1.0); at = p.xyz; n = mat3(body[0].xyz, body[1].xyz, body[2].xyz) * normal; gl_Position = view * p; }`;
  const FRAGMENT = `
    precision highp float; varying vec3 n, at; uniform vec4 color; uniform vec3 eye; uniform float mode;
    float lines(vec2 p, float cell, float width) {
      vec2 d = abs(fract(p / cell - 0.5) - 0.5) * cell;
      return 1.0 - smoothstep(0.5 * width, 1.5 * width, min(d.x, d.y));
    }
    void main() {
      float far = length(at - eye);
      if (mode > 1.5) { gl_FragColor = color; return; }
      if (mode > 0.5) {
        float fade = exp(-far * 0.12);
        vec3 c = mix(vec3(0.91, 0.92, 0.94), vec3(0.77, 0.79, 0.83), fade * lines(at.xy, 0.1, 0.0006 * far));
        c = mix(c, vec3(0.59, 0.63, 0.70), fade * lines(at.xy, 1.0, 0.0012 * far));
        gl_FragColor = vec4(mix(vec3(0.91, 0.92, 0.94), c, fade), 1.0); return;
      }
      vec3 m = normalize(n), toEye = normalize(eye - at);
      if (dot(m, toEye) < 0.0) m = -m;
      float sky = 0.5 + 0.5 * m.z, sun = max(dot(m, normalize(vec3(0.5, 0.25, 0.8))), 0.0), rim = max(dot(m, normalize(vec3(-0.6, -0.5, 0.3))), 0.0);
      float shine = pow(max(dot(m, normalize(toEye + normalize(vec3(0.5, 0.25, 0.8)))), 0.0), 40.0);
      vec3 light = mix(vec3(0.42, 0.44, 0.48), vec3(0.62, 0.64, 0.66), sky) + sun * vec3(0.50, 0.48, 0.45) + rim * vec3(0.10, 0.12, 0.16);
      gl_FragColor = vec4(min(color.rgb * light + 0.12 * shine, 1.0), color.a);
    }`;

  function compiled(kind, source) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    return shader;
  }

  const program = gl.createProgram();
  gl.attachShader(program, compiled(gl.VERTEX_SHADER, VERTEX));
  gl.attachShader(program, compiled(gl.FRAGMENT_SHADER, FRAGMENT));
  gl.bindAttribLocation(program, 0, "place");
  gl.bindAttribLocation(program, 1, "normal");
  gl.linkProgram(program);
  gl.useProgram(program);
  const at = {};
  for (const name of ["body", "view", "color", "eye", "mode"]) at[name] = gl.getUniformLocation(program, name);
  gl.enableVertexAttribArray(0);
  gl.enableVertexAttribArray(1);

  function buffered(target, values) {
    const buffer = gl.createBuffer();
    gl.bindBuffer(target, buffer);
    gl.bufferData(target, values, gl.STATIC_DRAW);
    return buffer;
  }

  // normals are averaged over shared corners: round things look round, edges are sharp where corners are repeated
  function mesh(vertices, triangles) {
    const normals = new Float32Array(vertices.length);
    for (let t = 0; t < triangles.length; t += 3) {
      const corner = [0, 1, 2].map((k) => vertices.subarray(3 * triangles[t + k], 3 * triangles[t + k] + 3));
      const n = cross(sub(corner[1], corner[0]), sub(corner[2], corner[0]));
      for (let k = 0; k < 3; k++) for (let c = 0; c < 3; c++) normals[3 * triangles[t + k] + c] += n[c];
    }
    for (let i = 0; i < normals.length; i += 3) normals.set(unit(normals.subarray(i, i + 3)), i);
    const big = triangles instanceof Uint32Array;
    return { vertices: buffered(gl.ARRAY_BUFFER, vertices), normals: buffered(gl.ARRAY_BUFFER, normals),
      triangles: buffered(gl.ELEMENT_ARRAY_BUFFER, triangles), count: triangles.length, kind: big ? gl.UNSIGNED_INT : gl.UNSIGNED_SHORT };
  }

  // a profile of radius and height turned about z
  function turned(profile, sides) {
    const vertices = [], triangles = [];
    for (const [r, z] of profile) for (let k = 0; k < sides; k++) {
      const a = 2 * Math.PI * k / sides;
      vertices.push(r * Math.cos(a), r * Math.sin(a), z);
    }
    for (let i = 0; i + 1 < profile.length; i++) for (let k = 0; k < sides; k++) {
      const a = i * sides + k, b = i * sides + (k + 1) % sides;
      triangles.push(a, b, b + sides, a, b + sides, a + sides);
    }
    return mesh(new Float32Array(vertices), new Uint16Array(triangles));
  }

  const pieces = data.pieces.filter((piece) => wide || !piece.wide).map((piece) => ({ body: piece.body, color: piece.color,
    mesh: mesh(unpacked(piece.vertices), new (piece.wide ? Uint32Array : Uint16Array)(bytes(piece.triangles))) }));
  pieces.sort((a, b) => b.color[3] - a.color[3]);
  const shaft = turned([[0, 0], [1, 0], [1, 1]], 12), head = turned([[0, 0], [1, 0], [0, 1]], 16);
  const ball = turned(Array.from({ length: 13 }, (_, k) => [Math.cos((k / 12 - 0.5) * Math.PI), Math.sin((k / 12 - 0.5) * Math.PI)]), 20);
  const sheet = mesh(new Float32Array([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0]), new Uint16Array([0, 1, 2, 0, 2, 3]));
  const outlines = data.feet.map((foot) => ({ body: foot.body, count: foot.outline.length, buffer: buffered(gl.ARRAY_BUFFER, new Float32Array(foot.outline.flat())) }));
  const IDENTITY = placement(1, 0, 0, 0, [0, 0, 0]);

  function draw(shape, body, color, mode) {
    gl.bindBuffer(gl.ARRAY_BUFFER, shape.vertices);
    gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
    gl.bindBuffer(gl.ARRAY_BUFFER, shape.normals);
    gl.vertexAttribPointer(1, 3, gl.FLOAT, false, 0, 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, shape.triangles);
    gl.uniformMatrix4fv(at.body, false, body);
    gl.uniform4fv(at.color, color);
    gl.uniform1f(at.mode, mode || 0);
    gl.drawElements(gl.TRIANGLES, shape.count, shape.kind, 0);
  }

  // ---- camera -------------------------------------------------------------------------------

  const camera = { azimuth: 0.61, elevation: 0.21, distance: 3.4 * data.view.radius, target: data.view.centre.slice() };

  function looking() {
    const ca = Math.cos(camera.azimuth), sa = Math.sin(camera.azimuth), ce = Math.cos(camera.elevation), se = Math.sin(camera.elevation);
    const back = [ca * ce, sa * ce, se], right = [-sa, ca, 0], up = cross(back, right);
    const eye = camera.target.map((c, k) => c + camera.distance * back[k]);
    const turn = new Float32Array([right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
      -dot(right, eye), -dot(up, eye), -dot(back, eye), 1]);
    const f = 1 / Math.tan(0.5 * 35 * Math.PI / 180), near = 0.02 * camera.distance, far = 60 * camera.distance + 40;
    const lens = new Float32Array([f * canvas.height / canvas.width, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0]);
    return { matrix: product(lens, turn), eye, right, up };
  }

  const fingers = new Map();
  canvas.addEventListener("pointerdown", (e) => { canvas.setPointerCapture(e.pointerId); fingers.set(e.pointerId, [e.clientX, e.clientY]); });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (e) => fingers.delete(e.pointerId));
  canvas.addEventListener("pointermove", (e) => {
    const before = fingers.get(e.pointerId);
    if (!before) return;
    const dx = e.clientX - before[0], dy = e.clientY - before[1];
    fingers.set(e.pointerId, [e.clientX, e.clientY]);
    if (fingers.size > 1 || e.shiftKey || (e.buttons & 2)) {
      const { right, up } = looking(), s = camera.distance / canvas.clientHeight * 0.63;
      camera.target = camera.target.map((c, k) => c - s * dx * right[k] + s * dy * up[k]);
    } else {
      camera.azimuth -= 0.006 * dx;
      camera.elevation = Math.min(1.55, Math.max(-0.3, camera.elevation + 0.006 * dy));
    }
    dirty = true;
  });
  canvas.addEventListener("contextmenu", (e) => e.preventDefault());
  canvas.addEventListener("wheel", (e) => { e.preventDefault(); camera.distance *= Math.exp(0.001 * e.deltaY); dirty = true; }, { passive: false });

  // ---- one frame ----------------------------------------------------------------------------

  let dirty = true, shown = 0;
  const SUN = [0.5, 0.25, 0.8];

  // everything on the plane through p with normal n, along the sun's rays
  function flattened(p, n) {
    const d = -dot(n, p), l = dot(n, SUN), out = new Float32Array(16);
    for (let c = 0; c < 4; c++) for (let r = 0; r < 4; r++) out[4 * c + r] = (c === r ? l : 0) - (r < 3 ? SUN[r] : 0) * (c < 3 ? n[c] : d);
    return out;
  }

  function upright(p, to, thick, long) {
    const z = unit(to), x = unit(cross(Math.abs(z[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0], z)), y = cross(z, x);
    return new Float32Array([thick * x[0], thick * x[1], thick * x[2], 0, thick * y[0], thick * y[1], thick * y[2], 0,
      long * z[0], long * z[1], long * z[2], 0, p[0], p[1], p[2], 1]);
  }

  function ground(camera, bodies) {
    for (const [p, n] of data.planes) {
      const size = 60 + 10 * data.view.radius, eye = camera.eye, high = dot(sub(eye, p), n);
      const middle = eye.map((c, k) => c - high * n[k]);
      draw(sheet, upright(middle, n, size, 1), [1, 1, 1, 1], 1);
      if (dot(n, SUN) <= 0.1) continue;
      // once for every point of the ground, however many bodies stand in the sun's way
      gl.enable(gl.STENCIL_TEST);
      gl.stencilFunc(gl.EQUAL, 0, 255);
      gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
      gl.disable(gl.DEPTH_TEST);
      const flat = flattened(p, n);
      for (const piece of pieces) if (piece.body) draw(piece.mesh, product(flat, bodies[piece.body]), [0.12, 0.15, 0.22, 0.25], 2);
      gl.enable(gl.DEPTH_TEST);
      gl.disable(gl.STENCIL_TEST);
    }
  }

  function arrows(frame) {
    for (let i = firstArrow[frame]; i < firstArrow[frame + 1]; i++) {
      const f = forces.subarray(3 * i, 3 * i + 3), p = points.subarray(3 * i, 3 * i + 3);
      const long = data.arrow * Math.hypot(f[0], f[1], f[2]), tip = Math.min(0.025, long), z = unit(f);
      if (!(long > 1e-4)) continue;
      const neck = [0, 1, 2].map((k) => p[k] + (long - tip) * z[k]);
      draw(shaft, upright(p, f, 0.004, long - tip), [0.84, 0.24, 0.16, 1]);
      draw(head, upright(neck, f, 0.010, tip), [0.84, 0.24, 0.16, 1]);
    }
  }

  function spots(frame) {
    const per = 2 * frames.robots + frames.feet;
    for (let k = 0; k < per; k++) {
      const i = frame * per + k;
      if (!there[i]) continue;
      const color = k < frames.robots ? [0.95, 0.70, 0.10, 1] : k < 2 * frames.robots ? [0.10, 0.35, 0.85, 1] : [0.10, 0.62, 0.35, 1];
      draw(ball, placement(1, 0, 0, 0, marks.subarray(3 * i, 3 * i + 3), k < frames.robots ? 0.022 : 0.012), color);
    }
    gl.disableVertexAttribArray(1);
    for (const foot of outlines) {
      gl.bindBuffer(gl.ARRAY_BUFFER, foot.buffer);
      gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
      gl.uniformMatrix4fv(at.body, false, bodyAt(frame, foot.body));
      gl.uniform4fv(at.color, [0.10, 0.62, 0.35, 1]);
      gl.uniform1f(at.mode, 2);
      gl.drawArrays(gl.LINE_LOOP, 0, foot.count);
    }
    gl.enableVertexAttribArray(1);
  }

  function picture(frame) {
    const ratio = window.devicePixelRatio || 1, w = Math.round(canvas.clientWidth * ratio), h = Math.round(canvas.clientHeight * ratio);
    if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
    gl.viewport(0, 0, w, h);
    gl.clearColor(0.91, 0.92, 0.94, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    const camera = looking(), bodies = [];
    for (let b = 0; b < frames.bodies; b++) bodies.push(b ? bodyAt(frame, b) : IDENTITY);
    gl.uniformMatrix4fv(at.view, false, camera.matrix);
    gl.uniform3fv(at.eye, camera.eye);
    ground(camera, bodies);
    for (const piece of pieces) draw(piece.mesh, bodies[piece.body], piece.color);
    if (byId("forces").checked) arrows(frame);
    if (byId("marks").checked) { gl.disable(gl.DEPTH_TEST); spots(frame); }
  }

  // ---- time ---------------------------------------------------------------------------------

  const seek = byId("seek"), play = byId("play"), speed = byId("speed"), last = frames.count - 1;
  seek.max = last;
  let playing = false, now = frames.time[0], before = 0;

  function show(frame) {
    shown = Math.max(0, Math.min(last, frame));
    seek.value = shown;
    byId("clock").textContent = frames.time[shown].toFixed(3) + " / " + frames.time[last].toFixed(3) + " s";
    dirty = true;
  }

  function go(frame) { show(frame); now = frames.time[shown]; }

  function setPlaying(on) {
    playing = on;
    if (on && shown === last) go(0);
    play.textContent = on ? "▮▮" : "▶";
  }

  seek.addEventListener("input", () => { setPlaying(false); go(Number(seek.value)); });
  play.addEventListener("click", () => setPlaying(!playing));
  byId("back").addEventListener("click", () => { setPlaying(false); go(shown - 1); });
  byId("forth").addEventListener("click", () => { setPlaying(false); go(shown + 1); });
  for (const id of ["forces", "marks"]) byId(id).addEventListener("change", () => { dirty = true; });
  window.addEventListener("resize", () => { dirty = true; });
  window.addEventListener("keydown", (e) => {
    const act = { " ": () => setPlaying(!playing), ArrowLeft: () => byId("back").click(), ArrowRight: () => byId("forth").click() }[e.key];
    if (act) { e.preventDefault(); act(); }
  });

  function tick(clock) {
    const passed = Math.min(0.1, (clock - before) / 1000);
    before = clock;
    if (playing) {
      now += passed * Number(speed.value);
      // time may run backwards in a recording that was set back: frames follow each other all the same
      let next = shown;
      while (next < last && frames.time[next + 1] <= now && frames.time[next + 1] > frames.time[next]) next++;
      if (next < last && frames.time[next + 1] <= frames.time[next]) { next++; now = frames.time[next]; }
      if (next !== shown) show(next);
      if (shown === last) setPlaying(false);
    }
    if (dirty) { dirty = false; picture(shown); }
    window.requestAnimationFrame(tick);
  }

  // 2026-11-16T08:21:05+00:00 as people write it; what is no date stays as it is
  function when(text) {
    const date = new Date(text);
    return isNaN(date) ? text : date.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  }

  const about = data.about;
  byId("name").textContent = about.title || about.robots.join(", ") || "tabi";
  const episode = about.episode ? about.episode + " · " : "";
  byId("facts").textContent = episode + when(about.created) + " · steps of " + 1000 * about.dt + " ms · worst residual " + about.residual.toExponential(1) + " m/s · " + about.missed + " missed";
  go(0);
  setPlaying(last > 0);
  window.requestAnimationFrame(tick);
  window.tabi = { count: frames.count, seek: go, play: () => setPlaying(true), frame: () => shown, pieces: pieces.length };
})();
