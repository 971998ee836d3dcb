"""HRP-2 on rubber soles of two stiffnesses: how far it sinks, and where the soles press."""

import tabi

for young_modulus in (5e5, 2e6):
    robot = tabi.robots.hrp2()
    robot.add_soles(thickness=0.02, young_modulus=young_modulus, poisson_ratio=0.45, viscosity=3e-3)
    robot.stand_on_ground()
    world = tabi.World()
    world.add_ground(friction=0.8)
    world.add_robot(robot)

    sim = tabi.Simulator(world)
    sim.run(1.0)
    print(f"rubber of {1e-6 * young_modulus:g} MPa")
    for side in ("left", "right"):
        sole = sim.pads[side]
        print(
            f"  {side}: {sole.normal_force:.0f} N, sinks {1e3 * sole.sink:.3f} mm, "
            f"at most {1e-3 * sole.pressure.max():.0f} kPa"
        )
    certificate = sim.certificate
    print(
        f"  converged: {certificate.converged}; sole law off by {certificate.sole_residual:.0e} m/s"
    )
