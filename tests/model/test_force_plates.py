"""Force plates (``tabi.model.force_plates``): what may be one, and what is refused."""

import pytest

import tabi
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.model.shape import Box, Shape
from tabi.spatial import inertia
from tabi.spatial.transform import translation


def test_the_bolted_body_of_a_robot_is_a_plate():
    robot = Robot("table")
    body = robot.add_body("base", Joint("root", "fixed"), None, inertia.solid_box(1.0, (1, 1, 1)))
    top = Joint("top", "fixed", translation((0.0, 0.0, 0.5)))
    robot.add_body(
        "top", top, "base", inertia.solid_box(1.0, (1, 1, 0.1)), [Shape(Box((1, 1, 0.1)))]
    )
    arm = Joint("arm", "revolute", translation((0.0, 0.0, -1.0)))
    robot.add_body("arm", arm, "base", inertia.solid_box(1.0, (0.1, 0.1, 0.1)))
    world = tabi.World()
    world.add_robot(robot)
    plate = world.measure_force("top")
    world.add_box((0.2, 0.2, 0.2), 3.0, position=(0.3, -0.2, 0.65))
    sim = tabi.Simulator(world)
    sim.run(0.2)
    reading = sim.sensor(plate)
    assert reading.force[2] == pytest.approx(3.0 * 9.81, rel=1e-6)
    # 5 cm below the face, about the origin of the body
    assert reading.centre_of_pressure == pytest.approx([0.3, -0.2], abs=1e-6)
    with pytest.raises(tabi.ModelError, match="'arm' moves with joint 'arm'; expected a body that"):
        world.measure_force("arm")
    assert body is robot.base


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"size": (0.0, 0.4)}, "has length 0; expected a positive one"),
        ({"thickness": -1.0}, "has thickness -1; expected a positive one"),
        ({"resolution": -1.0}, "resolution of sensor 'plate' is -1"),
        ({"noize": 1.0}, "was given 'noize'.*did you mean 'noise'"),
    ],
)
def test_bad_plates_are_refused(told, words):
    with pytest.raises(tabi.ModelError, match=words):
        tabi.World().add_force_plate(**told)
