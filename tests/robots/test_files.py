"""Robots from files: the same on every road, ready to stand, with all that was added told."""

import math
import warnings

import numpy as np
import pytest

import tabi
from tabi.robots import files, gains
from tabi.spatial.polygon import polygon_width

G = 9.81
BOX = '<geometry><box size="{} {} {}"/></geometry>'


def link(name, size, mass, at=(0, 0, 0)):
    x, y, z = size
    inertia = [mass / 12 * (b * b + c * c) for b, c in ((y, z), (x, z), (x, y))]
    terms = " ".join(f'i{k}{k}="{v}"' for k, v in zip("xyz", inertia, strict=True))
    origin = f'<origin xyz="{at[0]} {at[1]} {at[2]}"/>'
    return (
        f'<link name="{name}"><inertial>{origin}<mass value="{mass}"/>'
        f'<inertia {terms} ixy="0" ixz="0" iyz="0"/></inertial>'
        f"<collision>{origin}{BOX.format(*size)}</collision></link>"
    )


def joint(name, parent, child, at, axis="0 1 0", effort=100):
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{at[0]} {at[1]} {at[2]}"/><axis xyz="{axis}"/>'
        f'<limit lower="-2" upper="2" effort="{effort}" velocity="10"/></joint>'
    )


def biped(names=("plate_a", "plate_b"), effort=100):
    """A trunk on two legs of thigh, shank and plate, names that tell nothing; 12.6 kg."""
    parts = [link("trunk", (0.15, 0.3, 0.3), 5.0, (0, 0, 0.15))]
    for k, (side, plate) in enumerate(zip((0.1, -0.1), names, strict=True)):
        parts += [
            link(f"thigh{k}", (0.06, 0.06, 0.2), 2.0, (0, 0, -0.1)),
            link(f"shank{k}", (0.06, 0.06, 0.2), 1.5, (0, 0, -0.1)),
            link(plate, (0.2, 0.1, 0.02), 0.3, (0.02, 0, -0.05)),
            joint(f"hip{k}", "trunk", f"thigh{k}", (0, side, 0), effort=effort),
            joint(f"knee{k}", f"thigh{k}", f"shank{k}", (0, 0, -0.2), effort=effort),
            joint(f"ankle{k}", f"shank{k}", plate, (0, 0, -0.2), effort=effort),
        ]
    return f'<robot name="stilts">{"".join(parts)}</robot>'


@pytest.fixture
def stilts(tmp_path):
    file = tmp_path / "stilts.urdf"
    file.write_text(biped())
    return file


def quietly(path, **settings):
    with files.quietly():
        return tabi.load(path, **settings)


def test_one_line_makes_a_robot_that_stands(stilts):
    world = tabi.World()
    world.add_ground(friction=0.8)
    with pytest.warns(tabi.RobotFileWarning) as said:
        robot = world.add_robot(stilts)
    # one warning, with a switch for each thing that was added
    (message,) = [str(w.message) for w in said]
    assert "stilts.urdf" in message
    assert "feet={…}" in message
    assert "gains=False" in message
    robot.stand_on_ground()
    sim = tabi.Simulator(world)
    sim.apply_force("trunk", (30.0, 0.0, 0.0), duration=0.1)
    sim.run(3.0)
    assert not sim.fallen(robot)
    assert sim.missed_count == 0
    weight = sum(c.force[2] for c in sim.contacts)
    assert weight == pytest.approx(robot.mass * G, rel=1e-5)


def test_every_road_leads_to_the_same_robot(stilts):
    loaded = quietly(stilts)
    world = tabi.World()
    with files.quietly():
        added = world.add_robot(stilts)
    scene = tabi.scenes.loads(
        f"title: t\nduration_s: 1\nground: {{}}\nrobots: [{{robot: {stilts}}}]\n"
    )
    (staged,) = scene.simulator().world.robots
    for robot in (added, staged):
        assert robot.excluded == loaded.excluded
        assert robot.notes == loaded.notes
        for name in loaded.joint_names:
            assert robot.joint(name).motor == loaded.joint(name).motor
        for side in ("left", "right"):
            assert np.array_equal(robot.feet[side].corners(), loaded.feet[side].corners())


def test_feet_are_the_lowest_ends_of_two_equal_legs(stilts, tmp_path):
    robot = quietly(stilts)
    assert robot.feet["left"].body.name == "plate_a"
    assert robot.feet["right"].body.name == "plate_b"
    size = np.ptp(robot.feet["left"].polygon, axis=0)
    assert size == pytest.approx((0.2, 0.1))
    assert polygon_width(robot.feet["left"].polygon) == pytest.approx(0.1)
    # names go before shapes
    named = tmp_path / "named.urdf"
    named.write_text(biped(("right_foot", "left_foot")))
    assert quietly(named).feet["left"].body.name == "left_foot"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (('size="0.2 0.1 0.02"', 'size="0.01 0.01 0.02"'), "points, not soles"),
        (('xyz="0 -0.1 0"', 'xyz="0 -0.1 0.1"'), "1 limbs reach the lowest point"),
        (('xyz="0 -0.1 0"', 'xyz="0.9 -0.1 0"'), "not two equal legs side by side"),
    ],
)
def test_what_are_no_feet_is_told(tmp_path, change, reason):
    text = biped()
    assert change[0] in text
    file = tmp_path / "other.urdf"
    file.write_text(text.replace(*change))
    robot = quietly(file)
    assert robot.feet == {}
    assert any(reason in note for note in robot.notes)


def test_gains_come_from_what_a_joint_moves(stilts):
    robot = quietly(stilts, gains=True)
    # a pendulum of the inertia I on its spring has the frequency ω, and its damping is critical
    for name in robot.joint_names:
        motor = robot.joint(name).motor
        assert motor.kd == pytest.approx(2 * motor.kp / gains.FREQUENCY)
        assert 0 < motor.kp <= 100 / gains.ERROR * (1 + 1e-12)
    # a fixed arm of one link: I = m l²/3 about its end
    arm = (
        '<robot name="arm"><link name="root"/>'
        + link("bar", (0.01, 0.01, 0.3), 2.0, (0, 0, 0.15))
        + joint("turn", "root", "bar", (0, 0, 0), effort=1e6)
        + "</robot>"
    )
    file = stilts.with_name("arm.urdf")
    file.write_text(arm)
    motor = quietly(file, base="fixed").joint("turn").motor
    inertia = 2.0 * 0.3**2 / 3 + 2.0 / 12 * 0.01**2
    assert motor.kp == pytest.approx(inertia * gains.FREQUENCY**2, rel=1e-9)


def test_gains_can_be_told(stilts):
    assert all(quietly(stilts, gains=False).joint(f"hip{k}").motor is None for k in (0, 1))
    for told in ((300.0, 20.0), {"hip0": (300.0, 20.0)}):
        robot = quietly(stilts, gains=told)
        assert (robot.joint("hip0").motor.kp, robot.joint("hip0").motor.kd) == (300.0, 20.0)
    assert robot.joint("hip1").motor is None


@pytest.mark.parametrize("wrong", [(1.0,), (-1.0, 2.0), "stiff", (math.nan, 1.0), 5])
def test_gains_that_are_none_are_refused(stilts, wrong):
    with pytest.raises(tabi.ModelError, match="expected True, False"):
        quietly(stilts, gains=wrong)
    with pytest.raises(tabi.ModelError, match="'hip7'"):
        quietly(stilts, gains={"hip7": (1.0, 1.0)})


def test_links_that_overlap_never_collide_unless_told_to(tmp_path):
    # the second link ends inside of the base
    text = (
        '<robot name="folded">'
        + link("a", (0.1, 0.1, 0.1), 1.0)
        + link("b", (0.02, 0.02, 0.02), 1.0)
        + link("c", (0.1, 0.1, 0.1), 1.0)
        + joint("ab", "a", "b", (0.2, 0, 0))
        + joint("bc", "b", "c", (-0.15, 0, 0))
        + "</robot>"
    )
    file = tmp_path / "folded.urdf"
    file.write_text(text)
    with pytest.warns(tabi.RobotFileWarning, match="1 pairs of links .*self_collision=True"):
        robot = tabi.load(file)
    assert robot.excluded == {frozenset("ac")}
    assert quietly(file, self_collision=True).excluded == set()
    assert len(quietly(file, self_collision=False).excluded) == 3
    assert any("a and c" in note for note in robot.notes)


def test_a_robot_that_cannot_touch_the_ground_is_refused(tmp_path):
    file = tmp_path / "ghost.urdf"
    text = biped()
    while "<collision>" in text:
        i = text.index("<collision>")
        text = text[:i] + text[text.index("</collision>") + len("</collision>") :]
    file.write_text(text)
    robot = quietly(file)
    with pytest.raises(tabi.ModelError, match="nothing of it can touch the ground"):
        robot.stand_on_ground()


def test_the_warning_names_the_users_line(stilts):
    world = tabi.World()
    for road in (tabi.load, world.add_robot):
        with pytest.warns(tabi.RobotFileWarning) as said:
            road(stilts)
        assert said[0].filename == __file__


def test_limits_of_zero_are_none(stilts, tmp_path):
    text = stilts.read_text().replace('effort="100" velocity="10"', 'effort="0" velocity="0"', 2)
    file = tmp_path / "zero.urdf"
    file.write_text(text)
    robot, other = quietly(file), quietly(stilts)
    for name in ("hip0", "knee0"):
        joint = robot.joint(name)
        assert (joint.effort_limit, joint.velocity_limit) == (math.inf, math.inf)
        assert joint.motor.kp >= other.joint(name).motor.kp > 0
    assert robot.joint("ankle0").effort_limit == 100
    (note,) = [note for note in robot.notes if "taken as not given" in note]
    assert note.endswith("of 0, taken as not given (2): 'hip0', 'knee0'")
    assert not any("taken as not given" in note for note in other.notes)
    # a transmission's motor has the joint's limit, or none either
    gear = (
        '<transmission name="t"><joint name="hip0"/><actuator name="m">'
        "<mechanicalReduction>50</mechanicalReduction></actuator></transmission></robot>"
    )
    file.write_text(text.replace("</robot>", gear))
    assert quietly(file).joint("hip0").motor.torque_limit == math.inf


def test_robots_that_lack_nothing_are_read_without_a_word(tmp_path):
    file = tmp_path / "ball.urdf"
    file.write_text(f'<robot name="ball">{link("a", (0.1, 0.1, 0.1), 1.0)}</robot>')
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not any("stand-in" in note for note in tabi.load(file).notes)
