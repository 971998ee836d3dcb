"""The ankle bush in a model: a foot in two parts that together are the foot that was there, with
everything of it below the rubber.
"""

import warnings
from math import inf, nan

import numpy as np
import pytest
from bipeds import SOLE, biped

import tabi
from tabi.model.body import Closure, Frame
from tabi.model.feet import legs
from tabi.model.joint import Joint
from tabi.model.report.summary import report
from tabi.model.robot import Robot
from tabi.model.sensors import Sensor
from tabi.robots import gains
from tabi.robots.hrp2 import hrp2
from tabi.spatial.inertia import Inertia, solid_box
from tabi.spatial.transform import about, translation

SIDES = ("left", "right")


def spatial_inertia(robot: Robot, X=None) -> Inertia:
    """Of the whole robot in the world."""
    X = X or robot.placements()
    return sum((b.inertia.transformed(X[b]) for b in robot.bodies), Inertia())


def same(a: Inertia, b: Inertia) -> bool:
    return (
        a.mass == pytest.approx(b.mass, rel=1e-14)
        and a.centre == pytest.approx(b.centre, abs=1e-14)
        and a.tensor == pytest.approx(b.tensor, abs=1e-12)
    )


def with_sole_link(offset=(0.01, 0.0, -0.02)) -> Robot:
    """A biped from a file as many have it: the sole is a link of its own, fixed to the foot link,
    with mass and shapes, and toes are hinged to it.
    """
    robot = biped()
    for side in SIDES:
        ankle = robot.body(f"{side[0]}_ankle_roll_link")
        ankle.shapes = []
        plate = robot.add_body(
            f"{side[0]}_plate",
            Joint(f"{side[0]}_weld", "fixed", translation(offset)),
            ankle,
            solid_box(0.3, (0.2, 0.08, 0.02)),
        )
        toe = Joint(f"{side[0]}_toe", "revolute", translation((0.1, 0, 0)), (0, 1, 0))
        robot.add_body(f"{side[0]}_toe_link", toe, plate, Inertia(0.1, np.zeros(3), np.eye(3)))
        robot.add_foot(side, plate, SOLE, (0, 0, -0.04))
    return robot


# ---- the foot that was there ------------------------------------------------------------------


@pytest.mark.parametrize("make", [biped, hrp2, with_sole_link, lambda: biped(heading=1.1)])
@pytest.mark.parametrize("told", [{}, {"mass_below": 0.25, "height": 0.03}])
def test_robot_with_a_bush_at_rest_is_the_robot_that_was_there(make, told):
    rigid, bushed = make(), make()
    bushed.add_bush(**told)
    for pose in ({}, "half_sitting"):
        for robot in (rigid, bushed):
            robot.stand_on_ground(pose)
        assert same(spatial_inertia(bushed), spatial_inertia(rigid))
        X, Y = rigid.placements(), bushed.placements()
        for side in SIDES:
            before, after = rigid.feet[side], bushed.feet[side]
            assert Y[after.body] @ after.corners() == pytest.approx(
                X[before.body] @ before.corners(), abs=1e-14
            )
            shapes = [
                [(placements[b] @ s.placement).p for b in robot.bodies for s in b.shapes]
                for robot, placements in ((rigid, X), (bushed, Y))
            ]
            assert np.array(shapes[1]) == pytest.approx(np.array(shapes[0]), abs=1e-14)


@pytest.mark.parametrize("make", [biped, hrp2, with_sole_link])
def test_both_parts_of_a_foot_could_be_bodies(make):
    robot = make()
    bush = robot.add_bush()
    for side in SIDES:
        sole = robot.body(bush.feet[side].sole)
        mount = sole.parent.parent.parent
        for part in (sole, mount):
            low, middle, high = np.linalg.eigvalsh(part.inertia.tensor)
            assert part.inertia.mass > 0
            assert low > 0
            assert low + middle >= high
        # as stated: four fifths of the link are below
        assert sole.inertia.mass == pytest.approx(4 * mount.inertia.mass, rel=1e-12)


def test_mass_below_is_what_was_asked_for():
    robot = biped()
    bush = robot.add_bush(mass_below=0.3)
    for side in SIDES:
        assert robot.body(bush.feet[side].sole).inertia.mass == pytest.approx(0.3, rel=1e-14)


def test_everything_of_the_foot_is_below():
    robot = with_sole_link()
    frame = Frame("tip", robot.body("l_ankle_roll_link"), translation((0.1, 0, 0)))
    sensor = Sensor("force", robot.body("l_plate"), translation((0, 0, 0.01)), "force")
    robot.frames["tip"], robot.sensors["force"] = frame, sensor
    before = robot.placements()
    places = [before[f.body] @ f.placement for f in (frame, sensor)]
    bush = robot.add_bush(height=0.05)
    after = robot.placements()
    for f, place in zip((frame, sensor), places, strict=True):
        assert (after[f.body] @ f.placement).p == pytest.approx(place.p, abs=1e-15)
    # a turn of the rubber turns them all, and not the ankle
    robot.joint(bush.feet["left"].pitch).position = np.array([0.1])
    turned = robot.placements()
    for name in ("l_plate", "l_toe_link", bush.feet["left"].sole):
        R = after[robot.body(name)].R.T @ turned[robot.body(name)].R
        assert np.trace(R) == pytest.approx(1 + 2 * np.cos(0.1), abs=1e-14)
    assert frame.body is robot.body(bush.feet["left"].sole)
    ankle = robot.body("l_ankle_roll_link")
    assert np.array_equal(turned[ankle].R, after[ankle].R)
    assert not ankle.shapes


def test_rods_that_close_a_loop_stay_at_the_ankle():
    robot = with_sole_link()
    plate, shank = robot.body("l_plate"), robot.body("l_knee_link")
    loop = Closure("ball", plate, shank, translation((0.02, 0, 0.03)))
    robot.bonds.append(loop)
    place = robot.placements()[plate] @ loop.place_a
    robot.add_bush()
    assert loop.a is robot.body("l_ankle_roll_link")
    assert loop.b is shank
    assert (robot.placements()[loop.a] @ loop.place_a).p == pytest.approx(place.p, abs=1e-15)


# ---- its joints -------------------------------------------------------------------------------


@pytest.mark.parametrize("heading", [0.0, 0.7, -2.0])
def test_axes_are_forward_left_and_the_normal_of_the_sole(heading):
    robot = biped(heading=heading)
    bush = robot.add_bush()
    X, R = robot.placements(robot.at_zero()), about((0, 0, 1), heading).R
    for side in SIDES:
        for k, name in enumerate(("roll", "pitch", "z")):
            joint = robot.joint(getattr(bush.feet[side], name))
            body = next(b for b in robot.bodies if b.joint is joint)
            assert X[body].R @ joint.axis == pytest.approx(R[:, k], abs=1e-14)


def test_centre_is_on_the_ankle_or_as_high_above_the_sole_as_asked():
    for told, above in (({}, 0.06), ({"height": 0.02}, 0.02)):
        robot = biped()
        bush = robot.add_bush(**told)
        robot.stand_on_ground()
        X = robot.placements()
        for side in SIDES:
            assert X[robot.body(bush.feet[side].sole)].p[2] == pytest.approx(above, abs=1e-14)


def test_legs_and_gains_and_commands_are_those_without_a_bush():
    rigid, bushed = biped(), biped()
    bushed.add_bush()
    found = [
        [(leg.hip, leg.knee, leg.ankle, leg.rolls) for leg in legs.find(r)] for r in (rigid, bushed)
    ]
    assert found[0] == found[1]
    assert bushed.joint_names == rigid.joint_names
    assert bushed.half_sitting == pytest.approx(rigid.half_sitting, abs=1e-9)
    before, after = gains.default_gains(rigid), gains.default_gains(bushed)
    assert before.keys() == after.keys()
    for name, pair in before.items():
        assert after[name] == pytest.approx(pair, rel=1e-6)


def test_two_feet_get_the_same_names_in_any_robot_and_a_taken_name_is_left_alone():
    robot = biped()
    robot.add_body("left_sole", Joint("left_bush_z", "fixed"), "trunk")
    bush = robot.add_bush()
    assert bush.feet["right"].z == "right_bush_z"
    assert bush.feet["right"].sole == "right_sole"
    assert bush.feet["left"].z != "left_bush_z"
    assert bush.feet["left"].sole != "left_sole"
    assert robot.joint("left_bush_z").kind == "fixed"
    robot.compile()


def test_one_foot_may_have_a_bush_alone():
    robot = biped()
    bush = robot.add_bush(feet=["left"])
    assert list(bush.feet) == ["left"]
    assert robot.feet["right"].body.name == "r_ankle_roll_link"


def test_sole_never_touches_what_the_foot_never_touched():
    robot = with_sole_link()
    robot.exclude("l_ankle_roll_link", "trunk")
    bush = robot.add_bush()
    for name in ("l_ankle_roll_link", "l_ankle_link", "trunk"):
        assert frozenset((name, bush.feet["left"].sole)) in robot.excluded
        assert frozenset((name, "l_plate")) in robot.excluded


# ---- other doors ------------------------------------------------------------------------------


def test_report_finds_no_fault_with_it():
    robot = biped()
    before = report(robot)
    robot.add_bush()
    page = report(robot)
    assert page.warnings == before.warnings
    assert page.mass == pytest.approx(before.mass, rel=1e-14)
    assert page.joint_count == before.joint_count + 6
    assert "left_bush_pitch" in str(page)


def test_mujoco_has_the_same_springs_and_the_same_masses():
    mujoco = pytest.importorskip("mujoco")
    world = tabi.World()
    robot = world.add_robot(biped())
    bush = robot.add_bush(stiffness=700.0, damping=7.0)
    robot.stand_on_ground()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = tabi.to_mujoco(world)
    for side in SIDES:
        for name, stiffness, damping in (
            (bush.feet[side].roll, 700.0, 7.0),
            (bush.feet[side].pitch, 700.0, 7.0),
            (bush.feet[side].z, 1e5, 1e2),
        ):
            joint = model.joint(name)
            assert joint.stiffness[0] == stiffness
            assert joint.damping[0] == damping
    # masses of the joints between are 1e-14 kg there
    assert mujoco.mj_getTotalmass(model) == pytest.approx(robot.mass, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("file", ["jvrc1/jvrc1.urdf", "sr1/sample1.wrl"])
def test_robots_of_files_stand_on_it_held_by_gains_of_their_own_or_made_up(shared, file, tmp_path):
    """Both slides carry what is above them; 1e-4 is the vibration that is left after two seconds,
    with a vertical damping of a fifth of critical and more.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = tabi.load(shared / "data" / "robots" / file, base="floating", stand_ins=True)
    motors = robot.joint_names
    weight = robot.mass * 9.81
    bush = robot.add_bush(10 * weight, 0.1 * weight, 200 * weight, 4 * weight)
    gains.give(robot)
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(robot)
    robot.stand_on_ground()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    assert len(sim.measure(robot).position) == len(motors)
    with sim.record(tmp_path / "run.hdf5", rate=100):
        sim.run(2.0)
    assert not sim.fallen(robot)
    assert sim.missed_count == 0
    # of all that hangs below a sole
    below = sum(
        b.inertia.mass for b in robot.bodies for foot in bush.feet.values() if hangs(b, foot.sole)
    )
    shift = sum(sim.state.q[sim.model.q_index(foot.z)] for foot in bush.feet.values())
    assert shift == pytest.approx((robot.mass - below) * 9.81 / (200 * weight), rel=1e-4)
    run = tabi.Recording.load(tmp_path / "run.hdf5")
    assert (
        run.q[-1, sim.model.q_index("left_bush_z")] == sim.state.q[sim.model.q_index("left_bush_z")]
    )


def hangs(body, name: str) -> bool:
    """Whether a body is the one of that name, or hangs on it."""
    while body is not None and body.name != name:
        body = body.parent
    return body is not None


def test_stiffness_can_be_set_between_steps_and_what_is_not_told_is_as_built():
    world = tabi.World()
    robots = [world.add_robot(biped(), name) for name in ("one", "two")]
    for robot in robots:
        robot.add_bush(stiffness=800.0, damping=9.0)
    model = world.compile()
    robots[1].set_bush(model, stiffness=900.0)

    def springs(name):
        row = model.arrays.dof[model.v_index(name)]
        return row["stiffness"], row["damping"]

    for side in SIDES:
        assert springs(f"one/{side}_bush_pitch") == (800.0, 9.0)
        for axis in ("roll", "pitch"):
            assert springs(f"two/{side}_bush_{axis}") == (900.0, 9.0)
        assert springs(f"two/{side}_bush_z") == (1e5, 1e2)


# ---- mistakes ---------------------------------------------------------------------------------


def refusal(robot: Robot, **told) -> str:
    """What a bush that cannot be ends in."""
    with pytest.raises(tabi.ModelError) as fault:
        robot.add_bush(**told)
    assert robot.bush is None
    return str(fault.value)


@pytest.mark.parametrize("value", [0.0, -1.0, nan, inf])
def test_stiffness_that_no_rubber_has_is_refused(value):
    expected = f"of a bush is {value}; expected a finite number > 0 in"
    assert refusal(biped(), stiffness=value) == f"stiffness {expected} N·m/rad"
    assert refusal(biped(), vertical_stiffness=value) == f"vertical_stiffness {expected} N/m"


@pytest.mark.parametrize("value", [-1.0, nan, inf])
def test_damping_that_no_rubber_has_is_refused(value):
    expected = f"of a bush is {value}; expected a finite number ≥ 0 in"
    assert refusal(biped(), damping=value) == f"damping {expected} N·m·s/rad"
    assert refusal(biped(), vertical_damping=value) == f"vertical_damping {expected} N·s/m"


def test_other_numbers_that_cannot_be_are_refused():
    assert refusal(biped(), stiffness="soft") == (
        "stiffness of a bush is 'soft'; expected a number"
    )
    assert refusal(biped(), mass_below=1.0) == (
        "mass_below of a bush is 1.0 kg; expected a number between 0 and 1 kg, "
        "the mass of the link of foot 'left' of biped"
    )
    assert refusal(biped(), height=nan) == (
        "height of a bush is nan; expected a finite number in metres above the sole"
    )


def test_robots_that_can_have_no_bush_say_why():
    robot = biped()
    robot.feet.clear()
    assert refusal(robot) == (
        "robot 'biped' has no feet, and a bush is between ankle and sole; declare them first: "
        "robot.add_foot(…), or tabi.load(path, feet={…})"
    )
    assert refusal(biped(), feet=["lift"]) == (
        "foot 'lift' not found in biped; feet near that name: 'left', 'right'"
    )
    box = Robot("box")
    box.add_body("block", Joint("root", "floating"), None, solid_box(1.0, (1, 1, 1)))
    box.add_foot("only", "block", SOLE)
    assert refusal(box) == (
        "foot 'only' of box is on its base 'block'; expected a foot with an ankle joint above it"
    )
    robot = biped()
    robot.add_foot("heel", "l_ankle_roll_link", SOLE, (0, 0, -0.06))
    assert refusal(robot) == (
        "feet 'left', 'right', 'heel' of biped are on one link; expected each on a link of its "
        "own: name one of them in feet="
    )
    robot = biped()
    robot.body("l_ankle_roll_link").inertia = Inertia()
    assert refusal(robot) == (
        "the link of foot 'left' of biped has no mass, so a bush cannot divide it; "
        "give body 'l_ankle_roll_link' an inertia"
    )


def test_second_bush_is_refused():
    robot = biped()
    robot.add_bush()
    count = len(robot.bodies)
    with pytest.raises(tabi.ModelError) as fault:
        robot.add_bush(stiffness=800.0)
    assert str(fault.value) == (
        "robot 'biped' has an ankle bush already; "
        "change it between steps by robot.set_bush(sim.model, stiffness=…)"
    )
    assert len(robot.bodies) == count


def test_changes_that_make_no_sense_are_refused():
    robot = biped()
    model = robot.compile()
    with pytest.raises(tabi.ModelError, match="'biped' has no ankle bush; give it one"):
        robot.set_bush(model, stiffness=800.0)
    robot.add_bush()
    model = robot.compile()
    with pytest.raises(tabi.ModelError, match="parameter 'stifness' not found in an ankle bush"):
        robot.set_bush(model, stifness=800.0)
    with pytest.raises(tabi.ModelError, match="stiffness of a bush is -1"):
        robot.set_bush(model, stiffness=-1.0)


def test_frame_of_the_sole_is_that_of_the_foot_where_the_bush_is_at_the_ankle():
    robot = hrp2(bush=True)
    X = robot.placements(robot.at_zero())
    for side in SIDES:
        apart = X[robot.body(f"{side}_foot")].inverse() @ X[robot.body(f"{side}_sole")]
        assert np.abs(apart.p).max() < 1e-15
        assert np.abs(apart.R - np.eye(3)).max() < 1e-15
