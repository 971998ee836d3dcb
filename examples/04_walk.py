"""HRP-2 walks along an arc and stands: each foot lands where it was planned."""

import numpy as np

import tabi
from tabi import walking

world = tabi.World()
world.add_ground(friction=0.8)
robot = world.add_robot(tabi.robots.hrp2(bush=True))  # rubber in its ankles

steps = walking.arc(walking.Biped(robot).stance, radius=1.5, angle=np.radians(40))
pattern = walking.walking_pattern(robot, steps)
walker = walking.Walker(pattern, walking.Stabiliser())

sim = tabi.Simulator(world)
sim.set_controller(robot, walker, rate=200)
sim.run(pattern.duration)

for side in ("left", "right"):
    planned = [step for step in steps if step.foot == side][-1].pose
    off = sim.pose(robot.feet[side]).p - planned.p
    print(f"{side} foot {1e3 * np.linalg.norm(off):.1f} mm from its place")
print(f"walked {pattern.duration:.1f} s; finished {walker.finished}, fallen {sim.fallen(robot)}")
# a robot from a file walks from one line: tabi.load("my_robot.urdf").walk(steps=10)
