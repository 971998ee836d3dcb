"""HRP-2 stands on exact contacts beside a crate, is pushed, and stays on its feet."""

import tabi

world = tabi.World()
world.add_ground(friction=0.8)
robot = world.add_robot(tabi.robots.hrp2())
crate = world.add_box(size=(0.3, 0.3, 0.3), mass=3.0, friction=0.4, position=(0.6, 0.0, 0.15))

robot.stand_on_ground()  # knees bent, soles on the floor
sim = tabi.Simulator(world, dt=1e-3, contact="coulomb")
sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
sim.apply_force(robot.body("chest"), force=(40, 0, 0), duration=0.1)
with sim.record("standing.h5", rate=100):
    sim.run(2.0)

weight = robot.mass * 9.81
borne = sum(sim.foot_wrench(foot).force[2] for foot in robot.feet.values())
print(f"{len(sim.contacts)} contacts; the feet bear {borne:.1f} N, the weight is {weight:.1f} N")
print(f"crate at {sim.position(crate).round(3) + 0.0} m; fallen: {sim.fallen(robot)}")
print(f"every step solved to {sim.tolerance:g} m/s: {sim.missed_count == 0}")

run = tabi.Recording("standing.h5")
waist = run.q[:, sim.model.q_index("hrp2")]
print(f"the push moved the waist by {1e3 * (waist.max() - waist[0]):.1f} mm")
