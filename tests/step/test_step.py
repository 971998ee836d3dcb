"""The step by its laws: rest, weight, sliding, energy, momentum, repetition."""

import numpy as np
import pytest
from bipeds import hrp2_on_ground

import tabi

G = 9.81


def box_world(friction=0.5, position=(0.0, 0.0, 0.15), **more):
    world = tabi.World(**more)
    world.add_ground(friction=friction)
    box = world.add_box(size=(0.3, 0.3, 0.3), mass=3.0, friction=friction, position=position)
    return world, box


def standing(friction=0.8):
    world, robot = hrp2_on_ground(friction)
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    return sim, robot


def test_a_box_at_rest_bears_its_weight_evenly_and_stays():
    world, box = box_world()
    sim = tabi.Simulator(world)
    sim.run(1.0)
    assert np.allclose(sim.position(box), (0, 0, 0.15), atol=1e-9)
    forces = np.array([c.force for c in sim.contacts])
    assert forces.shape == (4, 3)
    # hyperstatic, but Newton from zero shares evenly
    assert np.allclose(forces, (0, 0, 3 * G / 4), atol=1e-6)
    assert {c.status for c in sim.contacts} == {"stick"}


def test_a_sliding_box_stops_after_v2_over_2_mu_g():
    world, box = box_world(friction=0.4)
    errors = []
    for dt in (2e-3, 1e-3):
        sim = tabi.Simulator(world, dt=dt)
        v = np.zeros(6)
        v[0] = 1.0
        sim.set_state(sim.model.initial(), v)
        sim.run(1.0)
        errors.append(abs(sim.position(box)[0] - 1.0 / (2 * 0.4 * G)))
        assert np.abs(sim.state.v).max() < 1e-7
    # first order: half of v h is lost in the first step
    assert errors[1] < 0.6 * errors[0]
    assert errors[1] < 1e-3


def test_a_falling_box_lands_without_sinking_in_or_bouncing():
    world, box = box_world(position=(0.0, 0.0, 0.35))
    sim = tabi.Simulator(world)
    lowest = 1.0
    for _ in range(400):
        sim.step()
        lowest = min(lowest, sim.position(box)[2])
    assert lowest > 0.15 - 1e-9
    assert sim.position(box)[2] == pytest.approx(0.15, abs=1e-9)


def test_what_was_put_inside_the_ground_leaves_it_without_gaining_speed():
    world, box = box_world(position=(0.0, 0.0, 0.145))
    sim = tabi.Simulator(world)
    fastest = 0.0
    for _ in range(200):
        sim.step()
        fastest = max(fastest, np.abs(sim.state.v).max())
    assert sim.position(box)[2] == pytest.approx(0.15, abs=2e-6)
    # the velocity of leaving is in the configuration alone;
    # at the end a micrometre is left the usual way
    assert fastest < 2e-3


def test_a_standing_humanoid_weighs_what_it_weighs_and_does_not_creep():
    sim, robot = standing()
    sim.run(5.0)
    before = sim.pose(robot.feet["left"])
    force = sum(sim.foot_wrench(foot).force for foot in robot.feet.values())
    assert force[2] == pytest.approx(robot.mass * G, abs=0.01)
    sim.run(1.0)
    assert np.abs(sim.pose(robot.feet["left"]).p - before.p).max() < 1e-8
    c = sim.certificate
    assert c.converged
    assert c.missed == 0
    assert c.worst_residual <= sim.tolerance
    assert c.force_residual < 1e-3
    assert max(c.pressure_shift.values()) < 1e-3
    # the centre of pressure is inside the sole, the zero moment point between the feet
    cop = sim.centre_of_pressure(robot.feet["left"])
    polygon = robot.feet["left"].polygon
    assert (polygon.min(axis=0) < cop).all()
    assert (cop < polygon.max(axis=0)).all()
    assert abs(sim.zmp(robot)[1]) < 1e-3


def test_a_rerun_and_a_restored_run_are_the_same_to_the_last_bit():
    finals = []
    for _ in range(2):
        sim, robot = standing()
        sim.apply_force(
            robot.body("CHEST_Y") if "CHEST_Y" in [b.name for b in robot.bodies] else robot.base,
            (30, 10, 0),
            duration=0.05,
        )
        sim.run(0.1)
        saved = sim.save()
        sim.run(0.1)
        first = sim.state
        sim.restore(saved)
        sim.run(0.1)
        assert np.array_equal(first.q, sim.state.q)
        assert np.array_equal(first.v, sim.state.v)
        finals.append(first.q)
    assert np.array_equal(*finals)


def test_flight_keeps_its_momentum_with_contacts_compiled_in():
    world, robot = hrp2_on_ground()
    sim = tabi.Simulator(world)
    q = sim.model.initial()
    q[2] += 5.0
    v = np.random.default_rng(0).normal(size=sim.model.v_count)
    sim.set_state(q, v)
    before = tabi.dynamics.momentum(sim.model, q, v)
    sim.run(0.3)
    after = tabi.dynamics.momentum(sim.model, sim.state.q, sim.state.v)
    assert np.allclose(
        after.linear - before.linear, (0, 0, -robot.mass * G * 0.3), atol=1e-9 * robot.mass
    )
    assert np.allclose(
        after.angular, before.angular, atol=1e-9 * np.abs(before.angular).max() + 1e-9
    )


def test_two_towers_are_two_groups_and_more_contacts_than_expected_find_room():
    world = tabi.World()
    world.add_ground()
    for k in range(30):
        for level in range(2):
            world.add_box(
                size=(0.1, 0.1, 0.1),
                mass=1.0,
                position=(0.2 * k, 0.0, 0.05 + 0.1 * level),
                name=f"box{k}_{level}",
            )
    sim = tabi.Simulator(world)
    sim.run(0.05)
    c = sim.certificate
    assert c.groups == 30
    assert c.contacts == 30 * 8
    assert c.converged
    total = sum(x.force[2] for x in sim.contacts if x.body_b.name == "world")
    assert total == pytest.approx(60 * G, abs=1e-3)
    # a wrong relative velocity hides behind a gap that carries the same force
    assert (
        max(
            abs(sim.position(f"box{k}_{level}")[2] - 0.05 - 0.1 * level)
            for k in range(30)
            for level in range(2)
        )
        < 1e-9
    )


def test_two_boxes_that_meet_go_on_together_with_their_momentum():
    world = tabi.World(gravity=(0, 0, 0))
    for name, mass, x in (("one", 1.0, 0.0), ("two", 3.0, 0.21)):
        world.add_box(
            size=(0.2, 0.2, 0.2), mass=mass, friction=0.5, position=(x, 0.0, 0.0), name=name
        )
    sim = tabi.Simulator(world)
    v = np.zeros(12)
    v[sim.model.v_index("one")], v[sim.model.v_index("two")] = 1.0, -0.2
    sim.set_state(sim.model.initial(), v)
    sim.run(0.1)
    # plastic: (1 · 1 − 3 · 0.2)/4
    for name in ("one", "two"):
        assert sim.velocity(name).linear == pytest.approx((0.1, 0.0, 0.0), abs=1e-7)
    assert sim.position("two")[0] - sim.position("one")[0] == pytest.approx(0.2, abs=1e-9)


def test_energy_goes_where_the_balance_says():
    world, _ = box_world(friction=0.4)
    sim = tabi.Simulator(world)
    v = np.zeros(6)
    v[0] = 1.0
    sim.set_state(sim.model.initial(), v)
    sim.step()
    b = sim.balance
    # friction takes μ m g times the mean way of the step
    assert b.contacts == pytest.approx(-0.4 * 3 * G * 1e-3 * (1.0 - 0.5 * 0.4 * G * 1e-3), rel=1e-6)
    assert b.change == pytest.approx(
        b.contacts + b.motors + b.joints + b.pushes + b.scheme, abs=1e-15
    )
    assert abs(b.scheme) < 1e-4 * abs(b.contacts)


def test_the_problem_of_a_step_is_what_the_judge_and_another_solver_accept(tmp_path):
    sim, _ = standing()
    sim.run(0.05)
    path = tmp_path / "problem.npz"
    sim.export_problem(path)
    from tabi.contact.files import read

    problem = read(path)
    assert problem.contact_count == 8
    s = tabi.contact.solve_problem(problem)
    assert s.converged
    total = s.impulse.reshape(-1, 3)[:, 0].sum()
    ours = sum(c.force @ c.normal for c in sim.contacts) * sim.dt
    assert total == pytest.approx(ours, rel=1e-6)
