"""A robot from a file stands, is pushed, and reports what its feet bear.

Yours (URDF, MJCF, OpenHRP or Choreonoid): python 02_your_robot.py my_robot.urdf
"""

import sys
from pathlib import Path

import tabi

LINK = (
    '<link name="{0}"><inertial><origin xyz="{1}"/><mass value="{3}"/><inertia ixx="{4}" iyy="{4}" '
    'izz="{4}" ixy="0" ixz="0" iyz="0"/></inertial><collision><origin xyz="{1}"/><geometry>'
    '<box size="{2}"/></geometry></collision></link>'
)
JOINT = (
    '<joint name="{2}_joint" type="revolute"><parent link="{1}"/><child link="{2}"/>'
    '<origin xyz="0 {0}"/><axis xyz="0 1 0"/>'
    '<limit lower="-2" upper="2" effort="100" velocity="10"/></joint>'
)
parts = [LINK.format("trunk", "0 0 .15", ".15 .3 .3", 5, 0.05)]
for side, y in (("left", 0.1), ("right", -0.1)):
    thigh, shank, foot = f"{side}_thigh", f"{side}_shank", f"{side}_foot"
    parts += [LINK.format(name, "0 0 -.1", ".06 .06 .2", 2, 0.008) for name in (thigh, shank)]
    parts += [LINK.format(foot, ".02 0 -.05", ".2 .1 .02", 0.4, 0.001)]
    tree = (f"{y} 0", "trunk", thigh), ("0 -.2", thigh, shank), ("0 -.2", shank, foot)
    parts += [JOINT.format(*link) for link in tree]
Path("stilts.urdf").write_text(f'<robot name="stilts">{"".join(parts)}</robot>', encoding="utf-8")

world = tabi.World()
world.add_ground(friction=0.8)
robot = world.add_robot(sys.argv[1] if len(sys.argv) > 1 else "stilts.urdf")
robot.stand_on_ground()
sim = tabi.Simulator(world)
sim.apply_force(robot.base, (0.2 * robot.mass * 9.81, 0.0, 0.0), duration=0.1)
sim.run(3.0)
borne = sum(sim.foot_wrench(foot).force[2] for foot in robot.feet.values())
print(
    f"{robot.name}: fallen {sim.fallen(robot)}; feet bear {borne:.2f} N of {9.81 * robot.mass:.2f}"
)
