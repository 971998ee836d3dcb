"""Constraint selection in the simulator, held against the exact law."""

import numpy as np
import pytest
from bipeds import biped, hrp2_on_ground
from plates import LENGTH, MASS, WIDTH, G, on_plane, standing

import tabi

WEIGHT = 58.0 * G


def pair(*args, **settings):
    """The same run by the exact law and by selection: states and wrenches after each step."""
    runs = []
    for contact in ("coulomb", settings.pop("contact", "selection")):
        sim, robot = standing(contact, *args, **settings)
        runs.append((sim, robot))
    return runs


@pytest.mark.slow
@pytest.mark.parametrize("motion", ["hold", "squat", "sway"])
def test_without_transitions_it_is_the_exact_law(motion):
    (exact, other), (sim, robot) = pair(motion)
    for _ in range(50):
        exact.run(0.02)
        sim.run(0.02)
        for foot in robot.feet:
            off = sim.data.memory.foot["force"] - exact.data.memory.foot["force"]
            assert np.abs(off).max() < 0.01 * WEIGHT, foot
        assert np.linalg.norm(sim.position(robot.base) - exact.position(other.base)) < 1e-4
    assert sim.missed_count == 0
    assert [e.after for e in sim.foot_events] == ["face, stick", "face, stick"]


def test_a_biped_of_another_make_stands_as_by_the_exact_law():
    runs = []
    for contact in ("coulomb", "selection"):
        world = tabi.World()
        world.add_ground(friction=0.8)
        robot = world.add_robot(biped())
        robot.stand_on_ground()
        sim = tabi.Simulator(world, contact=contact)
        gains = np.r_[np.zeros(6), np.full(10, 500.0)]
        sim.set_gains(gains, 0.05 * gains)
        sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
        sim.apply_force(robot.body("trunk"), (10.0, 3.0, 0.0), 0.1)
        sim.run(0.3)
        runs.append(sim)
    exact, sim = runs
    assert sim.missed_count == 0
    # a tenth of a millimetre
    np.testing.assert_allclose(sim.state.q, exact.state.q, atol=1e-4)


@pytest.mark.slow
def test_a_fall_over_the_toes_has_one_transition_of_each_foot():
    (exact, _), (sim, _) = pair("lean")
    for run in (exact, sim):
        run.run(1.6)
    for foot in ("left", "right"):
        events = [e for e in sim.foot_events if e.foot == foot and e.time > 0.01]
        theirs = [e for e in exact.foot_events if e.foot == foot and e.time > 0.01]
        assert [(e.before, e.after) for e in events[:1]] == [("face, stick", "edge, stick")]
        assert sum(e.before.startswith("face") for e in events) == 1
        assert events[0].time == pytest.approx(theirs[0].time, abs=3e-3)


@pytest.mark.slow
def test_without_the_rule_of_pressure_feet_let_go_too_early():
    _, (sim, _) = pair("lean", contact=tabi.Selection(pressure_rule=False))
    _, (right, _) = pair("lean")
    for run in (sim, right):
        run.run(1.6)
    early, late = (
        next(e.time for e in run.foot_events if e.after.startswith("edge")) for run in (sim, right)
    )
    assert early < late
    assert len(sim.foot_events) > len(right.foot_events)


@pytest.mark.parametrize("mode", ["exact", "one-step"])
def test_a_slide_takes_as_long_as_by_the_exact_law(mode):
    ends = []
    for contact in ("coulomb", tabi.Selection(mode=mode)):
        sim, robot = on_plane(contact, friction=0.3)
        q, v = sim.state.q, sim.state.v
        v[:2] = 0.6, 0.8
        sim.set_state(q, v)
        sim.run(0.5)
        ends.append(sim.position(robot.body("plate")))
        # v² / 2 μ g
        assert np.hypot(*ends[-1][:2]) == pytest.approx(1.0 / (2 * 0.3 * G), abs=1e-3)
        assert sim.foot("sole").state == "face, stick"
    assert np.linalg.norm(ends[0] - ends[1]) < 1e-4


def test_no_magnetic_shoe_a_plate_lifts_at_its_weight():
    for force, lifts in ((MASS * G - 0.1, False), (MASS * G + 0.1, True)):
        sim, robot = on_plane("selection")
        sim.run(0.05)
        sim.apply_force(robot.body("plate"), (0, 0, force), 0.2)
        heights = []
        for _ in range(200):
            sim.step()
            heights.append(sim.position(robot.body("plate"))[2])
            assert sim.foot("sole").normal_force >= -1e-6
        assert (heights[-1] - heights[0] > 1e-5) == lifts
        assert (sim.foot("sole").contact == "none") == lifts


def test_a_lifted_foot_leaves_in_the_step_in_which_its_force_is_gone():
    # one corner up: the plate leaves by its edge, then by a vertex, and never pulls
    sim, robot = on_plane("selection", friction=2.0)
    sim.apply_force(
        robot.body("plate"), (0, 0, 1.2 * MASS * G), 0.3, point=(0.3 * LENGTH, 0.3 * WIDTH, 0)
    )
    forces = []
    sim.every(1, lambda data: forces.append(data.memory.foot["normal_force"][0]))
    sim.run(0.3)
    assert min(forces) > -0.1
    assert forces[-1] == 0.0
    assert sim.missed_count == 0


def test_on_a_slope_it_is_the_exact_law():
    for friction in (0.5, 0.2):
        ends = []
        for contact in ("coulomb", "selection"):
            sim, robot = on_plane(contact, friction=friction, slope=0.3)
            sim.run(0.3)
            ends.append(sim.position(robot.body("plate")))
        np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)


def test_what_is_no_foot_keeps_the_exact_law_in_the_same_step():
    # a tray that falls on the head of a robot, and a ball beside it
    ends = []
    for contact in ("coulomb", "selection", tabi.Selection(mode="one-step")):
        world, robot = hrp2_on_ground()
        world.add_box((0.4, 0.4, 0.05), 3.0, position=(0.0, 0.0, 1.6), name="tray")
        world.add_sphere(0.1, 2.0, position=(1.0, 1.0, 0.11), name="ball")
        sim = tabi.Simulator(world, contact=contact)
        sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
        sim.run(0.25)
        touches = {c.body_a.name for c in sim.contacts} | {c.body_b.name for c in sim.contacts}
        assert {"tray", "ball"} <= touches
        assert sim.missed_count <= 1
        ends.append((sim.position("tray"), sim.position(robot.base), sim.position("ball")))
    for other in ends[1:]:
        np.testing.assert_allclose(other, ends[0], atol=1e-5)


def test_bonds_are_solved_with_it():
    ends = []
    for contact in ("coulomb", "selection"):
        sim, robot = standing(contact)
        sim.bond("ball", robot.body("chest"), sim.world.fixed)
        sim.apply_force(robot.body("chest"), (80, 0, 0), 0.1)
        sim.run(0.2)
        assert sim.missed_count == 0
        ends.append(sim.position(robot.body("chest")))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)


@pytest.mark.parametrize("contact", ["selection", tabi.Selection(mode="one-step"), "penalty"])
def test_a_restored_run_is_the_same_to_the_last_bit(contact):
    sim, robot = standing(contact, "lean")
    sim.apply_force(robot.body("chest"), (30, 20, 0), 0.1, at=0.1)
    sim.run(0.15)
    saved = sim.save()
    sim.run(0.3)
    first, events = sim.state.q.tobytes(), sim.foot_events
    sim.restore(saved)
    sim.run(0.3)
    assert sim.state.q.tobytes() == first
    assert sim.foot_events == events


def test_the_certificate_tells_the_distance_from_the_exact_law():
    sim, _ = standing("selection")
    sim.run(0.1)
    # standing, both laws agree
    assert sim.certificate.residual < 1e-8
    # turned in its place a foot that sticks gives any yaw moment: the exact law would not
    sim, robot = on_plane("selection", friction=0.2)
    sim.apply_force(robot.body("plate"), torque=(0, 0, 3 * 0.2 * MASS * G * 0.14), duration=0.1)
    sim.run(0.05)
    assert sim.missed_count == 0
    assert abs(sim.velocity(robot.body("plate")).angular[2]) < 1e-9
    assert sim.certificate.residual > 1e-3
    assert not sim.certificate.converged


def test_a_foot_of_many_corners_and_several_feet():
    angle = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    round_sole = np.column_stack([0.1 * np.cos(angle), 0.07 * np.sin(angle)])
    sim, robot = on_plane("selection", friction=0.4, polygon=round_sole)
    sim.apply_force(robot.body("plate"), (8.0, 2.0, 0), 0.2, point=(0, 0, 0.1))
    sim.run(0.3)
    other, twin = on_plane("coulomb", friction=0.4, polygon=round_sole)
    other.apply_force(twin.body("plate"), (8.0, 2.0, 0), 0.2, point=(0, 0, 0.1))
    other.run(0.3)
    assert sim.missed_count == 0
    moved = sim.position(robot.body("plate")) - other.position(twin.body("plate"))
    assert np.linalg.norm(moved) < 5e-3


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: tabi.Selection(mode="fast"), "mode 'fast' not found in constraint selection"),
        (lambda: tabi.Selection(candidates=0), "candidates is 0; expected a whole number ≥ 1"),
        (lambda: boxes("selection"), "contact='selection' is a law of feet, and no robot"),
        (lambda: boxes("penalty"), "contact='penalty' is a law of feet, and no robot"),
        (lambda: boxes("selections"), "contact law 'selections' not found"),
    ],
)
def test_mistakes_are_explained(make, words):
    with pytest.raises(tabi.ModelError, match=words):
        make()


def boxes(contact):
    world = tabi.World()
    world.add_ground()
    world.add_box((0.1, 0.1, 0.1), 1.0)
    return tabi.Simulator(world, contact=contact)
