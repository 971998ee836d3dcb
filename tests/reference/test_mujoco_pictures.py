"""Depth against MuJoCo's own renderer, where the machine has one that needs no window."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

SCRIPT = """
import mujoco, numpy as np, tabi
world = tabi.World()
world.add_ground()
world.add_robot(tabi.robots.hrp2()).stand_on_ground()
world.add_box(size=(0.3, 0.3, 0.3), mass=3.0, position=(0.6, 0.0, 0.15))
sim, other = tabi.Simulator(world), tabi.to_mujoco(world)
data = mujoco.MjData(other)
mujoco.mj_resetDataKeyframe(other, data, 0)
mujoco.mj_forward(other, data)
place, target = np.array([2.3, -1.7, 1.2]), np.array([0.15, 0.0, 0.62])
ours = tabi.Camera(place, target, field_of_view=40.0, size=(320, 240))
other.vis.global_.fovy = 40.0
try:
    renderer = mujoco.Renderer(other, 240, 320)
except Exception as fault:
    print("no renderer:", fault)
    raise SystemExit
camera, way = mujoco.MjvCamera(), target - place
camera.lookat[:], camera.distance = target, np.linalg.norm(way)
camera.azimuth = np.degrees(np.arctan2(way[1], way[0]))
camera.elevation = np.degrees(np.arcsin(way[2] / camera.distance))
renderer.enable_depth_rendering()
renderer.update_scene(data, camera)
depth, theirs = sim.render(ours, kind="depth"), renderer.render()
near = depth < 6.0
print(near.sum(), np.quantile(np.abs(depth - theirs)[near], 0.95))
"""


@pytest.mark.slow
def test_depth_of_a_humanoid_is_that_of_mujocos_renderer(monkeypatch):
    pytest.importorskip("mujoco")
    monkeypatch.setenv("MUJOCO_GL", "egl")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300
    )
    if done.returncode or done.stdout.startswith("no renderer"):
        pytest.skip("MuJoCo cannot draw here: " + (done.stdout + done.stderr)[-200:])
    count, off = done.stdout.split()[-2:]
    assert int(count) > 30_000
    # both have the same flat faces; a depth buffer of 24 bits, and outlines aside
    assert float(off) < 1e-4
