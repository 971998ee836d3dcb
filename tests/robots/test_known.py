"""Robots whose files lack soles stand on the ones that are known, as heavy as they are."""

import numpy as np
import pytest

import tabi
from tabi.lab import stage
from tabi.robots.known import complete

G = 9.81


@pytest.fixture(scope="module")
def jvrc1(shared):
    file = shared / "data" / "robots" / "jvrc1" / "jvrc1.urdf"
    return tabi.load(file, gains=False, stand_ins=True)


@pytest.fixture(scope="module")
def simple_humanoid(example_robots):
    file = example_robots / "simple_humanoid_description" / "urdf" / "simple_humanoid.urdf"
    return tabi.load(file, gains=False, stand_ins=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["jvrc1", "simple_humanoid"])
def test_it_stands_on_eight_corners_that_bear_its_weight(name, request):
    world, robot = stage.stage(request.getfixturevalue(name))
    sim = tabi.Simulator(world)
    sim.run(3.0)
    assert not sim.fallen(robot)
    assert {c.body_a.name for c in sim.contacts if c.pressing} == {
        foot.body.name for foot in robot.feet.values()
    }
    assert len(sim.contacts) == 8
    # what still swings after three seconds
    assert sum(c.force[2] for c in sim.contacts) == pytest.approx(robot.mass * G, rel=1e-3)


def test_sole_of_jvrc1_is_as_large_as_the_box_that_its_foot_weighs_like(jvrc1):
    foot, body = jvrc1.feet["left"], jvrc1.body("L_ANKLE_P_S")
    xx, yy, zz = np.diag(body.inertia.tensor)
    length, width = np.sqrt(6 * np.array([yy + zz - xx, xx + zz - yy]) / body.inertia.mass)
    size = np.ptp(foot.polygon, axis=0)
    # boxes by hand and by mesh agree to a centimetre
    assert size == pytest.approx((length, width), abs=0.011)
    assert foot.polygon.mean(axis=0) == pytest.approx(body.inertia.centre[:2], abs=0.002)


def test_sole_of_simple_humanoid_is_that_of_the_robot_it_was_made_from(simple_humanoid, shared):
    sample = tabi.load(shared / "data" / "robots" / "sr1" / "sample1.wrl")
    for side in ("left", "right"):
        assert np.allclose(
            simple_humanoid.feet[side].corners(), sample.feet[side].corners(), atol=1e-12
        )


def test_what_was_added_is_told_and_nobody_reads_that_there_are_no_feet(simple_humanoid):
    told = [note for note in simple_humanoid.notes if note.startswith("stand-in: ")]
    assert len(told) == 5
    assert "soles of 250 × 140 mm are tabi's, not the file's" in told[-1]
    assert not any("no feet" in note for note in simple_humanoid.notes)


def test_a_robot_with_feet_or_of_another_make_stays_as_it_is(simple_humanoid, tmp_path):
    count = len(simple_humanoid.notes)
    assert len(complete(simple_humanoid).notes) == count
    hrp2 = complete(tabi.robots.hrp2())
    assert (hrp2.notes, len(hrp2.feet)) == ([], 2)
    # named alike, made otherwise
    file = tmp_path / "jvrc1.urdf"
    mass = (
        '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
        "</inertial>"
    )
    file.write_text(f'<robot name="jvrc1"><link name="box">{mass}</link></robot>')
    assert complete(tabi.load(file)).feet == {}


def test_sr1_stands_in_a_scene_though_its_thighs_are_drawn_into_its_waist(shared):
    file = shared / "data" / "robots" / "sr1" / "SR1.urdf"
    gains = "{stiffness_nm_rad: 26160, damping_nms_rad: 1046}"
    scene = tabi.scenes.loads(
        f"title: t\nduration_s: 0.3\nground: {{}}\nrobots: [{{robot: {file}, gains: {gains}}}]\n"
    )
    sim = scene.simulator()
    sim.run(scene.duration)
    robot = sim.world.robots[0]
    assert sim.certificate.missed == 0
    assert len(sim.contacts) == 8
    # it still swings a little
    assert sum(c.force[2] for c in sim.contacts) == pytest.approx(robot.mass * G, rel=0.05)
