"""A recording that several tests look at: HRP-2 beside a crate, pushed."""

import pytest
from simulation.soft import block

import tabi
from tabi.recording.recorded import read


def pushed_recording(path, force=90.0):
    """0.4 s at 500 Hz, pushed from 0.1 s on."""
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(tabi.robots.hrp2())
    world.add_box(
        size=(0.3, 0.3, 0.3), mass=3.0, friction=0.4, position=(0.6, 0.0, 0.15), name="crate"
    )
    robot.stand_on_ground()
    sim = tabi.Simulator(world)
    with sim.record(path, rate=500, scene="a: 1\n", meta={"seed": 3}):
        sim.run(0.1)
        sim.apply_force(robot.body("chest"), force=(force, 30.0, 0.0), duration=0.05)
        sim.run(0.3)
    return path


@pytest.fixture(scope="session")
def pushed(tmp_path_factory):
    return pushed_recording(tmp_path_factory.mktemp("pushed") / "pushed.hdf5")


@pytest.fixture(scope="session")
def harder(tmp_path_factory):
    return pushed_recording(tmp_path_factory.mktemp("harder") / "harder.hdf5", 91.0)


@pytest.fixture(scope="session")
def run(pushed):
    return read(pushed)


def soft_recording(path):
    """0.3 s at 250 Hz of a box that lands on its pad, pushed down in front of its middle."""
    world, box = block(viscosity=0.004, poisson_ratio=0.4, above=0.003)
    sim = tabi.Simulator(world)
    sim.apply_force(box, (0, 0, -5.0), duration=2.0, point=(0.03, 0, 0))
    with sim.record(path, rate=250):
        sim.run(0.3)
    return path


@pytest.fixture(scope="session")
def soft(tmp_path_factory):
    return read(soft_recording(tmp_path_factory.mktemp("soft") / "soft.hdf5"))
