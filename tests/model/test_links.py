"""Names for places of a compiled world."""

import numpy as np

import tabi
from tabi.model.links import Link, PlacedShape, Site, Sole, pad_name


def test_a_model_names_links_soles_sensors_and_shapes():
    model = tabi.robots.hrp2().compile()
    assert isinstance(model.link("left"), Sole)
    assert model.link("left").polygon.shape == (4, 2)
    assert all(type(link) is Link for link in model.links.values())
    assert all(isinstance(site, Site) for site in model.sensors.values())
    assert all(isinstance(shape, PlacedShape) for shape in model.shapes)


def test_a_camera_and_a_force_sensor_bolted_to_the_world_measure_nothing():
    for kind, bolted, measures in (
        ("camera", False, False),
        ("force", False, True),
        ("force", True, False),
        ("imu", True, True),
    ):
        robot = tabi.Robot("arm")
        robot.add_body("post", tabi.Joint("post", "fixed"))
        robot.add_body(
            "arm",
            tabi.Joint("swing", "revolute"),
            "post",
            tabi.Inertia(1.0, np.zeros(3), np.eye(3)),
        )
        robot.add_sensor("s", kind, "post" if bolted else "arm")
        assert robot.compile().sensors["s"].measures == measures, (kind, bolted)


def test_slices_are_of_a_robot_an_object_or_a_joint():
    world = tabi.World()
    robot = world.add_robot(tabi.robots.hrp2())
    world.add_sphere(0.1, 1.0)
    model = world.compile()
    assert model.q_slice("hrp2") == slice(0, 37)
    assert model.v_slice("hrp2") == slice(0, 36)
    assert (model.q_slice("sphere"), model.v_slice("sphere")) == (slice(37, 44), slice(36, 42))
    for name in robot.joint_names:
        at = model.q_index(name)
        assert model.q_slice(name) == slice(at, at + 1)


def test_pads_have_a_name_of_their_own_and_their_rows_of_nodes():
    robot = tabi.robots.hrp2()
    robot.add_soles(thickness=0.02, young_modulus=1e6, element_size=0.05)
    world = tabi.World()
    world.add_robot(robot)
    box = world.add_box((0.1, 0.1, 0.1), 1.0)
    for face in ("-z", "+z"):
        box.add_pad(face, tabi.soles.Layer(0.01, 1e6, 0.4), element_size=0.05)
    pads = world.compile().pads
    assert [one.name for one in pads][:2] == ["right", "left"]
    assert len({one.name for one in pads}) == 4
    end = 0
    for one in pads:
        assert one.rows == slice(end, end := end + len(one.pad.nodes))


def test_a_pad_is_called_as_its_foot_its_shape_or_its_link():
    assert pad_name("sole of left", "l_foot", "left", []) == "left"
    assert pad_name("heel", "l_foot", "left", ["left"]) == "heel"
    assert pad_name("", "hand", None, ["pad of hand"]) == "pad of hand #2"
