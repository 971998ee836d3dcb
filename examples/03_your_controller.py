"""A controller of your own: a function of the time and of what the robot's sensors read.

It turns both ankles, slowly, until the load is where it is wanted under the soles.
"""

import tabi

world = tabi.World()
world.add_ground(friction=0.8)
robot = world.add_robot(tabi.robots.hrp2())
robot.stand_on_ground()
sim = tabi.Simulator(world)
PERIOD_S, GAIN = 0.005, 0.5  # s, rad/(m·s)
ankles = 0.0


def balance(time: float, measurement: tabi.Measurement) -> tabi.Command:
    global ankles
    left, right = (measurement.sensors[f"{side}_foot_force"] for side in ("left", "right"))
    load = left[2] + right[2]
    ahead = -(left[4] + right[4]) / max(load, 1.0)  # of the ankles [m]; force, then torque
    wanted = 0.03 if time < 4.0 else 0.06
    ankles += GAIN * (ahead - wanted) * PERIOD_S
    pose = dict(robot.half_sitting)
    for joint in ("LLEG_ANKLE_P", "RLEG_ANKLE_P"):
        pose[joint] += ankles
    return tabi.Command(position=pose)


sim.set_controller(robot, balance, rate=1 / PERIOD_S)
for _ in range(8):
    sim.run(1.0)
    ahead = sim.zmp(robot)[0] - sim.position(robot.feet["left"])[0]
    print(f"{sim.time:.0f} s: ZMP {1e3 * ahead:.1f} mm ahead of the ankles")
print(f"fallen: {sim.fallen(robot)}; {sim.missed_count} steps not converged")
