"""HRP-2 is pushed at its chest, steps to stay on its feet, and walks on."""

import tabi

world = tabi.World()
world.add_ground(friction=0.8)
robot = world.add_robot(tabi.robots.hrp2(bush=True))
robot.stand_on_ground()

sim, walker = tabi.Simulator(world), tabi.walking.SteeredWalker(robot)
sim.set_controller(robot, walker, rate=200)
sim.run(1.0)

for push in ((0.0, 150.0, 0.0), (0.0, -250.0, 0.0), (500.0, 0.0, 0.0)):
    sim.apply_force(robot.body("chest"), force=push, duration=0.1)
    sim.run(0.15)
    margin = walker.margin
    sim.run(4.0)
    print(
        f"{push} N for 0.1 s: margin {1e3 * margin:.0f} mm just after it, "
        f"now at {sim.position(robot.base)[:2].round(2)} m, fallen: {sim.fallen(robot)}"
    )

walker.steer(forward=0.25)
sim.run(4.0)
walker.stop()
sim.run(3.0)
print(f"walked on to x = {sim.position(robot.base)[0]:.2f} m; stands: {walker.stands}")
