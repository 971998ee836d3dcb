"""Things that roll, slide and turn, for tests of steps of second order; and slopes of their errors.

slope = log₂(error of a step / error of half of it)                                       (1)
"""

import numpy as np

import tabi
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.spatial.inertia import solid_box, solid_sphere
from tabi.spatial.transform import about, translation


def started(world, order, dt, v):
    """A simulator of a world whose first body has the velocity v; others are at rest."""
    sim = tabi.Simulator(world, dt=dt, order=order)
    velocity = np.zeros(sim.model.v_count)
    velocity[: len(v)] = v
    sim.set_state(sim.q, velocity)
    return sim


def rattleback(order=2, dt=1e-3, friction=3.0, heading=0.0):
    """An ellipsoid whose axes of inertia are turned by 0.15 rad; it rolls, and spins against its
    sense, tilted by 0.02 rad.
    """
    mass, radii = 0.3, np.array([0.1, 0.02, 0.015])
    a, b, c = radii
    turn = about((0, 0, 1), 0.15).R
    tensor = mass / 5 * turn @ np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) @ turn.T
    X = about((0, 0, 1), heading) @ about((0, 1, 0), 0.02)
    down = X.R[2] * radii**2
    height = np.sqrt(down @ X.R[2])
    omega = about((0, 0, 1), heading).R @ (0.3, 0.0, -10.0)
    world = tabi.World()
    world.add_ground(friction=friction)
    world.add_object(
        tabi.Ellipsoid(tuple(radii)),
        tabi.Inertia(mass=mass, tensor=tensor),
        position=(0, 0, height),
        quaternion=X.quaternion,
        friction=friction,
    )
    return started(world, order, dt, (*np.cross(omega, X.R @ down / height), *omega))


def tippe(order=2, dt=1e-3, spin=40.0):
    """A ball whose centre of mass is 5 mm off, spinning and sliding on one point."""
    ball = solid_sphere(0.1, 0.03)
    world = tabi.World()
    world.add_ground(friction=0.3)
    world.add_object(
        tabi.Sphere(0.03),
        tabi.Inertia(0.1, np.array([0, 0, -0.005]), ball.tensor * np.diag([1, 1, 0.9])),
        position=(0, 0, 0.03),
        quaternion=about((0, 1, 0), 0.3).quaternion,
        friction=0.3,
    )
    return started(world, order, dt, (0, 0, 0, 0, 0, spin))


def ball_on_ball(order=2, dt=1e-3):
    """A ball that rolls down from another one, which rolls away."""
    world = tabi.World()
    world.add_ground(friction=1.0)
    world.add_sphere(0.2, 2.0, position=(0, 0, 0.2), friction=1.0)
    x, y = 0.03, 0.02
    above = 0.2 + np.sqrt(0.09 - x * x - y * y)
    world.add_sphere(0.1, 1.0, position=(x, y, above), friction=1.0)
    return started(world, order, dt, ())


def arm(order=2, dt=1e-3, links=2, kp=0.0, kd=0.0, **joint):
    """A chain of boxes that hangs from a fixed place, let go from a pose beside it."""
    robot = Robot("arm")
    robot.add_body("link", Joint("root", "fixed"))
    for k, axis in enumerate(((0, 1, 0), (1, 0, 0), (0, 1, 0.3))[:links]):
        place = translation((0, 0, 2 if k == 0 else -0.4))
        own = Joint(f"joint{k}", "revolute", place, axis, **joint)
        body = solid_box(1.0, (0.1, 0.05, 0.4)).transformed(translation((0, 0, -0.2)))
        robot.add_body("link" + "-" * (k + 1), own, "link" + "-" * k, body)
    world = tabi.World()
    world.add_robot(robot)
    sim = started(world, order, dt, ())
    sim.set_gains(np.full(links, kp), np.full(links, kd))
    sim.set_state(np.linspace(1.2, 0.8, links), np.linspace(1.0, -2.0, links))
    return sim


def bonded(order=2, dt=1e-3):
    """Two boxes, one on a ball joint that is a bond, the other on a hinge that is one."""
    world = tabi.World()
    upper = world.add_box((0.1, 0.05, 0.4), 1.0, position=(0, 0, 2.0))
    lower = world.add_box((0.1, 0.05, 0.4), 1.0, position=(0, 0, 1.6))
    omega = np.array([0.5, 3.0, 0.0])
    first, second = (np.cross(omega, (0, 0, -arm)) for arm in (0.2, 0.6))
    sim = started(world, order, dt, (*first, *omega, *second, *omega))
    sim.bond("ball", upper, world.fixed, point=(0, 0, 2.2))
    sim.bond("hinge", lower, upper, point=(0, 0, 1.8), axis=(0, 1, 0))
    return sim


def slopes(scene, duration, dt, **options):
    """(1) of configurations and of velocities, against steps of dt/16."""
    ends = []
    for step in (dt / 16, dt, dt / 2):
        sim = scene(dt=step, **options)
        sim.run(duration)
        ends.append((sim.q, sim.v))
    fine, *coarse = ends
    errors = np.array(
        [[np.linalg.norm(x - y) for x, y in zip(e, fine, strict=True)] for e in coarse]
    )
    return np.log2(errors[0] / errors[1])
