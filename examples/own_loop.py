"""A page that follows your own loop, and a picture of what the robot sees, without a browser.

Open the address that is printed while it runs; hold Ctrl and drag the robot.
"""

import sys

import numpy as np

import tabi

world = tabi.World()
world.add_ground(friction=0.8)
robot = world.add_robot(tabi.robots.hrp2())
crate = world.add_box(size=(0.3, 0.3, 0.3), mass=3.0, position=(1.2, 0.0, 0.15), name="crate")
# a camera looks along −z of its frame: turned to look forwards and 30° down
robot.add_sensor(
    "eye", "camera", "head", position=(0.15, 0, 0.05), quaternion=(0.6124, 0.3536, -0.3536, -0.6124)
)
robot.stand_on_ground()
sim = tabi.Simulator(world, dt=1e-3)

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
with tabi.show(sim, real_time=True) as page:
    while sim.time < seconds:
        # your controller, your learning, your experiment
        if sim.data.steps % 500 == 0:
            sim.apply_force("chest", force=(40.0, 0.0, 0.0), duration=0.1)
        sim.step()

names = list(sim.model.links)
colour = sim.render("eye", size=(320, 240), field_of_view=60)
depth = sim.render("eye", kind="depth", size=(320, 240), field_of_view=60)
seen = sim.render("eye", kind="segmentation", size=(320, 240), field_of_view=60)
on_crate = seen == names.index("crate")
print(f"{sim.time:.1f} s; a picture of {colour.shape}, {np.isinf(depth).mean():.0%} of it sky")
print(f"the crate fills {on_crate.sum()} pixels, the nearest {depth[on_crate].min():.2f} m away")
