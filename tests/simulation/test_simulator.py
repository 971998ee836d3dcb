"""The simulator around the step: pushes, controllers at their rates, saved states, callbacks,
parameters, and every kind of wrong input.
"""

from math import cos, radians, sin

import numpy as np
import pytest

import tabi
from tabi._errors import SimulationError
from tabi.model.joint import Joint, Motor
from tabi.model.robot import Robot
from tabi.model.shape import Box, Shape
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import translation

G = 9.81
SOLID = Inertia(1.0, np.zeros(3), 0.1 * np.eye(3))


def box_world(friction=0.5, ground=True, **more):
    world = tabi.World(**more)
    if ground:
        world.add_ground(friction=friction)
    return world, world.add_box((0.2, 0.2, 0.2), 2.0, friction=friction, position=(0.0, 0.0, 0.1))


def arm_world(name="arm"):
    robot = Robot(name)
    robot.add_body("stand", Joint("stand", "fixed"))
    robot.add_body(
        "link",
        Joint("pivot", "revolute", axis=(0, 1, 0), motor=Motor(kp=50.0, kd=1.0)),
        "stand",
        SOLID,
    )
    world = tabi.World()
    return world, world.add_robot(robot)


def standing():
    """A robot of one block on its sole."""
    robot = Robot("block")
    inertia = Inertia(4.0, np.array([0.0, 0.0, 0.5]), 0.05 * np.eye(3))
    robot.add_body(
        "trunk",
        Joint("root", "floating"),
        None,
        inertia,
        [Shape(Box((0.3, 0.2, 1.0)), translation((0, 0, 0.5)), name="trunk")],
    )
    robot.add_foot("foot", "trunk", [(-0.15, -0.1), (0.15, -0.1), (0.15, 0.1), (-0.15, 0.1)])
    world = tabi.World()
    world.add_ground()
    return world, world.add_robot(robot)


# ---- pushes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("duration", [1e-3, 0.3, 0.123, 0.0105, 4e-4])
def test_the_impulse_of_a_push_is_force_times_duration(duration):
    world, box = box_world(ground=False, gravity=(0, 0, 0))
    sim = tabi.Simulator(world)
    sim.apply_force(box, (3.0, -1.0, 2.0), duration=duration)
    sim.run(0.4)
    assert np.allclose(
        sim.velocity(box).linear, np.array([3.0, -1.0, 2.0]) * duration / 2.0, rtol=1e-12, atol=0
    )
    assert np.abs(sim.velocity(box).angular).max() < 1e-15


def test_a_push_at_a_point_and_a_torque_turn_a_box():
    world, box = box_world(ground=False, gravity=(0, 0, 0))
    moment = 2.0 * (0.2**2 + 0.2**2) / 12
    sim = tabi.Simulator(world)
    sim.apply_force(box, (0, 3.0, 0), point=(0.1, 0, 0))
    sim.apply_force(box, torque=(0, 0, -0.1), duration=2e-3)
    sim.run(0.01)
    assert sim.velocity(box).angular[2] == pytest.approx(
        (3.0 * 0.1 * 1e-3 - 0.1 * 2e-3) / moment, rel=1e-9
    )
    assert sim.velocity(box).linear[1] == pytest.approx(3.0 * 1e-3 / 2.0, rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"force": (np.nan, 0, 0)}, "force on 'box' is .*nan.*; expected three finite numbers"),
        ({"force": (1.0, 2.0)}, "force on 'box' is .*; expected three finite numbers"),
        ({"force": "hard"}, "force on 'box' is 'hard'; expected three finite numbers"),
        ({"torque": (0, 0, np.inf)}, "torque on 'box'"),
        ({"point": 3.0}, "point on 'box' is 3.0"),
        (
            {"duration": -1.0},
            "duration of the push on 'box' is -1.0; expected a positive number of seconds",
        ),
        ({"duration": 0.0}, "expected a positive number"),
        ({"duration": np.inf}, "duration of the push on 'box' is inf"),
        ({"duration": np.nan}, "duration of the push on 'box' is nan"),
        ({"duration": "long"}, "duration of the push on 'box' is 'long'; expected a number"),
    ],
)
def test_a_push_that_cannot_be_is_refused(arguments, words):
    world, box = box_world()
    sim = tabi.Simulator(world)
    with pytest.raises(tabi.ModelError, match=words):
        sim.apply_force(box, **arguments)


def test_only_what_moves_and_belongs_to_the_world_can_be_pushed():
    world, _ = box_world()
    sim = tabi.Simulator(world)
    with pytest.raises(tabi.ModelError, match="body 'world' does not move"):
        sim.apply_force("world", (1, 0, 0))
    with pytest.raises(tabi.ModelError, match="'box' is nothing of this world"):
        sim.apply_force(box_world()[1], (1, 0, 0))
    with pytest.raises(tabi.ModelError, match="body 'bxo' not found"):
        sim.apply_force("bxo", (1, 0, 0))


# ---- controllers ----------------------------------------------------------------------------


def test_a_controller_at_a_hundred_hertz_is_asked_a_hundred_times_a_second():
    world, robot = arm_world()
    sim, times = tabi.Simulator(world), []

    def controller(time, measurement):
        times.append(time)
        return tabi.Command(position=0.1)

    sim.set_controller(robot, controller, rate=100.0)
    sim.run(0.5)
    for _ in range(500):
        sim.step()
    assert np.allclose(times, np.arange(100) * 0.01, atol=1e-12)


@pytest.mark.parametrize("rate", [300.0, 2000.0, 0.0, -100.0, float("nan"), float("inf"), "fast"])
def test_a_rate_that_does_not_divide_that_of_the_steps_is_refused(rate):
    world, robot = arm_world()
    with pytest.raises(tabi.ModelError, match=r"rate of the controller of arm is .*; expected"):
        tabi.Simulator(world).set_controller(robot, lambda t, m: tabi.Command(), rate=rate)


def raising(time, measurement):
    raise ZeroDivisionError("gain")


@pytest.mark.parametrize(
    ("controller", "words"),
    [
        (
            lambda t, m: None,
            r"controller of arm returned nothing at 0.02 s; expected a tabi.Command",
        ),
        (lambda t, m: np.zeros(1), r"controller of arm returned a ndarray at 0.02 s"),
        (
            lambda t, m: tabi.Command(position=np.zeros(2)),
            r"position in the command of arm at 0.02 s has shape \(2,\); expected \(1,\)",
        ),
        (
            lambda t, m: tabi.Command(effort=np.array([np.nan])),
            "effort in the command of arm at 0.02 s is nan for joint 'pivot'",
        ),
        (lambda t, m: tabi.Command(kp=-1.0), "kp in the command of arm at 0.02 s is -1"),
        (raising, "controller of arm raised ZeroDivisionError at 0.02 s: gain"),
    ],
)
def test_a_controller_that_fails_is_named_with_its_time_and_the_state_is_kept(controller, words):
    world, robot = arm_world()
    sim = tabi.Simulator(world)
    sim.run(0.02)
    before = sim.state
    sim.set_controller(robot, controller)
    with pytest.raises(tabi.TabiError, match=words):
        sim.run(1.0)
    assert np.array_equal(sim.state.q, before.q)
    assert np.array_equal(sim.state.v, before.v)
    assert sim.time == before.time
    # and with another one it goes on
    sim.set_controller(robot, tabi.control.hold({}))
    sim.run(0.01)
    assert sim.time == pytest.approx(0.03)


def test_a_second_controller_of_a_robot_takes_the_place_of_the_first():
    world, robot = arm_world()
    sim, asked = tabi.Simulator(world), []

    def named(name):
        return lambda time, measurement: asked.append(name) or tabi.Command()

    for name in ("first", "second"):
        sim.set_controller(robot, named(name))
        sim.step()
    sim.step()
    assert asked == ["first", "second", "second"]
    assert list(sim.drivers) == [robot.name]


def test_what_is_no_controller_or_no_robot_of_the_world_is_refused():
    world, robot = arm_world()
    sim = tabi.Simulator(world)
    with pytest.raises(tabi.ModelError, match="controller of arm is 3; expected a function"):
        sim.set_controller(robot, 3)
    with pytest.raises(tabi.ModelError, match=r"other is no robot of this world \(robots: arm\)"):
        sim.set_controller(arm_world("other")[1], tabi.control.hold({}))
    with pytest.raises(tabi.ModelError, match="no robot of this world"):
        sim.fallen(arm_world("other")[1])


# ---- state ----------------------------------------------------------------------------------


def test_a_wrong_state_is_refused_and_the_old_one_kept():
    world, _ = box_world()
    sim = tabi.Simulator(world)
    before, far = sim.state, sim.model.initial()
    far[0] += 1.0
    nan = np.zeros(6)
    nan[2] = np.nan
    for q, v in (
        (np.zeros(3), None),
        (far, np.zeros(5)),
        (far, nan),
        (2 * far, None),
        ("here", None),
    ):
        with pytest.raises(tabi.ModelError, match="expected"):
            sim.set_state(q, v)
        assert np.array_equal(sim.state.q, before.q)


def test_state_is_a_copy():
    world, _ = box_world()
    sim = tabi.Simulator(world)
    sim.state.q[0] = 5.0
    assert sim.state.q[0] == 0.0


def test_saved_states_belong_to_their_world():
    world, _ = box_world()
    sim = tabi.Simulator(world)
    other = tabi.World()
    other.add_sphere(0.1, 1.0)
    with pytest.raises(
        tabi.ModelError,
        match=r"saved state is of a world of .*sphere.*; expected this one of .*box",
    ):
        sim.restore(tabi.Simulator(other).save())
    with pytest.raises(
        tabi.ModelError, match=r"saved state is State; expected what Simulator.save returned"
    ):
        sim.restore(sim.state)
    # another simulator of the same world takes it
    sim.run(0.01)
    twin = tabi.Simulator(world)
    twin.restore(sim.save())
    assert twin.time == sim.time


def test_a_restored_state_shows_the_contacts_it_was_saved_with():
    world, robot = standing()
    sim = tabi.Simulator(world)
    sim.run(0.05)
    saved, force, points = sim.save(), sim.foot_wrench("foot"), [c.point for c in sim.contacts]
    sim.apply_force(robot.base, (0, 0, 400.0), duration=0.5)
    sim.run(0.2)
    assert len(sim.contacts) == 0
    sim.restore(saved)
    assert np.array_equal(sim.foot_wrench("foot").force, force.force)
    assert np.array_equal(sim.foot_wrench("foot").torque, force.torque)
    assert np.array_equal([c.point for c in sim.contacts], points)


def test_a_controller_that_feels_forces_repeats_itself_after_restore():
    world, robot = standing()
    finals = []
    sim = tabi.Simulator(world)

    def controller(time, measurement):
        if measurement.forces["foot"][2] > 45.0:
            sim.apply_force(robot.base, (1.0, 0.0, 0.0), point=(0, 0, 0.5))
        return tabi.Command()

    sim.set_controller(robot, controller, truth=True)
    sim.apply_force(robot.base, (5.0, 0.0, -20.0), duration=0.1, point=(0.1, 0, 0.2))
    sim.run(0.05)
    saved = sim.save()
    for _ in range(2):
        sim.run(0.1)
        finals.append(sim.state)
        sim.restore(saved)
    assert np.array_equal(finals[0].q, finals[1].q)
    assert np.array_equal(finals[0].v, finals[1].v)


# ---- contacts and parameters ----------------------------------------------------------------


def test_callbacks_hear_of_landing_and_leaving():
    world, box = box_world()
    sim, heard = tabi.Simulator(world), []
    q = sim.model.initial()
    q[2] += 0.02
    sim.set_state(q)
    sim.on_contact(
        lambda contact, kind: heard.append(
            (round(sim.time, 3), kind, contact.body_a.name, contact.body_b.name)
        )
    )
    sim.run(0.2)
    sim.apply_force(box, (0, 0, 60.0), duration=0.1)
    sim.run(0.1)
    # falls 20 mm in 64 ms
    assert [h[1:] for h in heard] == [("begins", "box", "world"), ("ends", "box", "world")]
    assert heard[0][0] == pytest.approx(np.sqrt(2 * 0.02 / G), abs=2e-3)
    assert heard[1][0] == pytest.approx(0.201, abs=1e-9)


def test_who_begins_to_listen_late_does_not_hear_of_old_contacts():
    world, _ = box_world()
    sim, heard = tabi.Simulator(world), []
    sim.run(0.05)
    sim.on_contact(lambda contact, kind: heard.append(kind))
    sim.run(0.05)
    assert heard == []
    with pytest.raises(tabi.ModelError, match="callback for contacts is 3; expected a function"):
        sim.on_contact(3)


def test_a_slope_that_turns_to_ice_lets_the_box_go():
    a = radians(10)
    world, box = box_world(friction=0.8, gravity=(G * sin(a), 0, -G * cos(a)))
    sim = tabi.Simulator(world)
    sim.run(0.2)
    assert abs(sim.velocity(box).linear[0]) < 1e-7
    sim.model.set_pair("ground", "box", friction=0.01)
    sim.run(0.5)
    assert sim.velocity(box).linear[0] == pytest.approx(
        G * (sin(a) - 0.01 * cos(a)) * 0.5, rel=1e-6
    )
    with pytest.raises(tabi.ModelError, match="'ground', 'box'"):
        sim.model.set_pair("ground", "box", friction=-0.5)


def test_a_robot_that_tips_over_has_fallen():
    world, robot = standing()
    sim = tabi.Simulator(world)
    # its base is its sole: it has no height, and how it leans decides
    assert not sim.fallen(robot)
    assert sim.fall_margin(robot) == pytest.approx(0.5)
    sim.apply_force(robot.base, force=(0, 60, 0), duration=0.2, point=(0, 0, 1.0))
    sim.run(1.5)
    assert sim.fallen(robot)
    assert sim.fallen("block")
    assert not sim.fallen(robot, height=-0.3)
    assert sim.fallen(robot, height=2.0)


# ---- wrong worlds, steps and times ----------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"dt": 0.0}, "dt is 0.0; expected a positive number of seconds"),
        ({"dt": -1e-3}, "dt is -0.001"),
        ({"dt": float("nan")}, "dt is nan"),
        ({"dt": "1 ms"}, "dt is '1 ms'"),
        ({"tolerance": 0.0}, "tolerance is 0.0; expected a positive velocity"),
        ({"tolerance": float("inf")}, "tolerance is inf"),
        ({"tolerance": None}, "tolerance is None"),
        ({"contact": "colomb"}, "contact law 'colomb' not found in tabi; .*'coulomb'"),
        ({"contact": None}, "contact law 'None' not found"),
    ],
)
def test_a_simulator_that_cannot_be_is_refused(arguments, words):
    world, _ = box_world()
    with pytest.raises(tabi.ModelError, match=words):
        tabi.Simulator(world, **arguments)


def test_a_world_with_nothing_that_moves_is_refused():
    world = tabi.World()
    with pytest.raises(tabi.ModelError, match="nothing that moves"):
        tabi.Simulator(world)
    world.add_ground()
    with pytest.raises(tabi.ModelError, match="nothing that moves"):
        tabi.Simulator(world)
    with pytest.raises(tabi.ModelError, match=r"world is 'hrp2'; expected a tabi.World"):
        tabi.Simulator("hrp2")


@pytest.mark.parametrize("duration", [-1.0, float("nan"), float("inf"), "long"])
def test_a_run_of_no_time_is_refused(duration):
    world, _ = box_world()
    sim = tabi.Simulator(world)
    with pytest.raises(tabi.ModelError, match=r"duration is .*; expected a number"):
        sim.run(duration)
    assert sim.time == 0.0


@pytest.mark.parametrize("force", [1e308, 1e150, 1e20])
def test_velocities_that_are_not_finite_stop_the_run_with_the_last_good_state(
    force, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    world, box = box_world()
    sim = tabi.Simulator(world)
    sim.run(0.01)
    before = sim.state
    sim.apply_force(box, (force, 0, 0), duration=1.0)
    with pytest.raises(
        SimulationError,
        match=r"velocities are not finite or implausible after 0.01 s; "
        r"the state is that of the step before",
    ):
        sim.run(0.1)
    assert np.array_equal(sim.state.q, before.q)
    assert np.array_equal(sim.state.v, before.v)
    assert sim.time == before.time


def test_the_guard_knows_every_kind_of_broken_number(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for bad in (np.nan, np.inf, -np.inf, 1e10):
        sim = tabi.Simulator(box_world()[0])
        # behind the checks of set_state
        sim._stepper.data.v[3] = bad
        with pytest.raises(SimulationError):
            sim.step()
        assert sim.time == 0.0
