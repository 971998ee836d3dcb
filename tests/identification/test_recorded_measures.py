"""Measures taken from recordings of tabi (``tabi.identification.recorded_measures``)."""

import numpy as np
import pytest
from tests.step.forces.test_motor_lines import twin

import tabi
from tabi._errors import ModelError
from tabi.identification.damped_oscillation import IdentificationError
from tabi.identification.recorded_measures import friction_of, log_of
from tabi.recording.recorded import read


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two guides that move, and a box that is pushed but stays where it is."""
    world, robot = twin()
    world.add_ground(height=-1.0, friction=0.8)
    box = world.add_box((0.2, 0.2, 0.2), 4.0, position=(3, 0, -0.9), friction=0.5, name="crate")
    sim = tabi.Simulator(world)
    sim.prescribe(robot)
    sim.set_controller(robot, lambda t, m: tabi.Command(position=[0.5 * t * t, 0.0]))
    sim.apply_force(box, force=(10.0, 0, 0), duration=0.2)
    path = tmp_path_factory.mktemp("measures") / "run.h5"
    with sim.record(path):
        sim.run(0.2)
    return read(path)


def test_a_joints_log_is_its_motion_and_what_it_was_told(run):
    log, slides = log_of(run, "first_guide")
    assert slides
    # at the end of a step a joint that follows exactly is where it was told when that began
    np.testing.assert_allclose(log.position, 0.5 * (log.time - 1e-3) ** 2, atol=1e-12)
    np.testing.assert_allclose(log.command, log.position, atol=1e-12)
    # 3 kg along the first guide at 1 m/s², from the third step on
    np.testing.assert_allclose(log.torque[2:], 3.0, rtol=1e-6)
    np.testing.assert_allclose(log.command_velocity[1:-1], log.time[1:-1] - 1e-3, atol=1e-9)


def test_which_joint_has_to_be_said_where_there_are_several(run):
    with pytest.raises(IdentificationError, match="has 2 joints; name one: --joint first_guide"):
        log_of(run, None)
    with pytest.raises(ModelError, match="joint 'third' not found in the recording"):
        log_of(run, "third")


def test_what_does_not_slide_tells_no_friction(run):
    with pytest.raises(IdentificationError, match="'crate' slides in 0 of 201 rows"):
        friction_of(run, "crate")
    with pytest.raises(ModelError, match="body 'box' not found in the recording"):
        friction_of(run, "box")
