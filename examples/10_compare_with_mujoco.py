"""One world in two engines: tabi's accelerations and MuJoCo's, in the same state."""

import numpy as np

import tabi
from tabi.model.mujoco_state import mujoco_state, velocity_from_mujoco

try:
    import mujoco
except ImportError:
    raise SystemExit('this example needs MuJoCo: pip install "tabi[mjcf]"') from None

world = tabi.World()
world.add_robot(tabi.robots.hrp2()).place((0, 0, 5))
world.add_box(size=(0.3, 0.3, 0.3), mass=3.0, position=(0.6, 0.0, 2.0))
model, theirs = world.compile(), tabi.to_mujoco(world)
data = mujoco.MjData(theirs)

rng = np.random.default_rng(0)
q, v = model.initial(), rng.normal(size=model.v_count)
data.qpos[:], data.qvel[:] = mujoco_state(model, theirs, q, v)
mujoco.mj_forward(theirs, data)
ours = tabi.dynamics.forward_dynamics(model, q, v, np.zeros(model.v_count))
difference = ours - velocity_from_mujoco(model, theirs, data.qpos, data.qacc)
print("accelerations differ by", np.linalg.norm(difference) / np.linalg.norm(ours), "of their size")
