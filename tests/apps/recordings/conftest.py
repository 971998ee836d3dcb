"""A recording that several tests look at: HRP-2 beside a crate, pushed."""

import pytest

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
