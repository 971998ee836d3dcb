"""Trees of bodies: arms with few joints, and the humanoid, as contact problems."""

import numpy as np
import pytest
from contact.plain import dense, matrices
from scipy.optimize import linprog

from tabi import dynamics
from tabi.contact import solve_problem
from tabi.lab.family import case, chains, falls, holding, humanoid
from tabi.lab.family.articulated import Touch, assemble
from tabi.lab.family.case import STEP, as_problem
from tabi.lab.family.holding import EXPLICIT, IMPLICIT, LIMP, HoldingState
from tabi.lab.family.stances import soles, standing_robot

G, MASS = 9.81, 58.0


def test_links_of_one_tree_and_of_two_are_coupled_as_the_joints_are():
    rng = np.random.default_rng(0)
    for _ in range(5):
        model, links = chains.cell(rng)
        q, inverse = model.initial(), np.linalg.inv(dynamics.mass_matrix(model, model.initial()))
        ends = [(a, b) for a in links for b in [*links, "box", None] if a != b][:20]
        touches = [
            Touch(a, rng.normal(size=3), rng.normal(size=3), b, rng.normal(size=3)) for a, b in ends
        ]
        v = rng.normal(size=model.v_count)
        p, rows = assemble(model, q, v, inverse, touches, np.full(len(touches), 0.5))
        W = rows @ inverse @ rows.T
        assert np.abs(dense(p) - W).max() < 1e-12 * np.abs(W).max()
        # velocity of the points by kinematics, link by link, and the gap closed within the step
        for k, t in enumerate(touches[:6]):
            ends = [_point(model, q, v, t.link, t.point)]
            if t.other is not None:
                ends.append(_point(model, q, v, t.other, t.place))
            else:
                ends.append((t.place, np.zeros(3)))
            (x, u), (y, w) = ends
            expected = p.contact["frame"][k].reshape(3, 3) @ (u - w)
            expected[2] += p.contact["frame"][k, 6:] @ (x - y) / STEP
            assert np.allclose(p.q[3 * k : 3 * k + 3], expected, rtol=1e-10, atol=1e-10)


def _point(model, q, v, link, point):
    X, V = dynamics.pose(model, q, link), dynamics.velocity(model, q, v, link)
    return X @ point, V.linear + np.cross(V.angular, X.R @ point)


def test_chains_are_singular_and_can_open():
    singular, trees = 0, set()
    for index in range(12):
        p = case("chain", index, seed=0).bodies
        assert p is not None
        J, omega = matrices(p)
        singular += np.linalg.matrix_rank(omega, tol=1e-9 * np.abs(omega).max()) < len(omega)
        trees.add(
            len({tuple(p.column[p.start[i] : p.start[i + 1]]) for i in range(len(p.start) - 1)})
        )
        # wrenches that open all contacts at once, each steeper than its cone is wide
        # along either tangent
        G = J @ omega
        n, mu = G[2::3], p.mu[:, None] * 0.7
        steep = np.vstack([n] + [n - s * mu * G[t::3] for t in (0, 1) for s in (-1, 1)])
        scale = np.abs(steep).max(axis=1, keepdims=True)
        found = linprog(
            np.zeros(len(omega)), -steep / scale, np.full(len(steep), -1e-3), bounds=(None, None)
        )
        assert found.status == 0
    assert singular >= 10
    assert len(trees) > 1


@pytest.mark.parametrize("how", [IMPLICIT, EXPLICIT])
def test_a_robot_that_is_held_stands_still_with_its_weight_on_its_feet(how):
    robot, model = standing_robot()
    q, still = model.initial(), np.zeros(model.v_count)
    tau = holding.bearing(model, q, soles(robot))
    assert np.array_equal(tau[:6], np.zeros(6))
    step = holding.prepare(
        model, HoldingState(q, still, q, still), tau, how, soles(robot), np.full(8, 0.8)
    )
    solution = solve_problem(as_problem(step.problem), 1e-11)
    assert solution.converged
    assert solution.impulse[2::3].sum() == pytest.approx(MASS * G * STEP, rel=1e-6)
    # not even a joint moves
    assert np.abs(step.free + step.response @ solution.impulse).max() < 1e-9


@pytest.mark.parametrize("how", [IMPLICIT, EXPLICIT])
def test_motors_act_at_the_end_of_the_step_or_at_its_start(how):
    robot, model = standing_robot()
    rng = np.random.default_rng(4)
    s = humanoid.standing(model, rng)
    s.q[7:] += 1e-3 * rng.normal(size=len(s.q) - 7)
    tau = np.concatenate([np.zeros(6), rng.normal(size=model.v_count - 6)])
    after = holding.prepare(model, s, tau, how, soles(robot), np.full(8, 0.8)).free
    acceleration = (after - s.v) / STEP
    # what the motors must have given, by inverse dynamics
    given = (dynamics.inverse_dynamics(model, s.q, s.v, acceleration) - tau)[6:]
    K, D = model.arrays.dof["kp"][6:], model.arrays.dof["kd"][6:]
    if how == IMPLICIT:
        expected = K * (s.goal[7:] - s.q[7:] - STEP * after[6:]) + D * (s.speed - after)[6:]
        assert np.allclose(given, expected, atol=1e-6)
    else:
        armature = model.arrays.dof["armature"][6:]
        expected = (
            np.minimum(K, 0.04 * armature / STEP**2) * (s.goal - s.q)[7:]
            + np.minimum(D, 0.2 * armature / STEP) * (s.speed - s.v)[6:]
        )
        assert np.allclose(given, expected, atol=1e-6)


def test_a_limp_robot_falls_as_the_dynamics_say():
    robot, model = standing_robot()
    q, v = model.initial(), np.random.default_rng(1).normal(size=model.v_count)
    still = np.zeros(model.v_count)
    step = holding.prepare(
        model, HoldingState(q, v, q, still), still, LIMP, soles(robot), np.full(8, 0.8)
    )
    expected = v + STEP * dynamics.forward_dynamics(model, q, v, still)
    assert np.allclose(step.free, expected, atol=1e-9)


def test_a_step_by_hand_keeps_what_the_contacts_do_not_take():
    robot, model = standing_robot()
    still = np.zeros(model.v_count)
    # from rest, where velocities add nothing of their own
    s = humanoid.standing(model, np.random.default_rng(2))._replace(v=still)
    step = holding.prepare(model, s, still, LIMP, soles(robot), np.full(8, 0.5))
    after, impulse = holding.advance(model, s, step)
    gravity = np.array([0.0, 0.0, -MASS * G * STEP])
    assert np.allclose(
        dynamics.momentum(model, s.q, after.v).linear,
        impulse.reshape(-1, 3).sum(axis=0) + gravity,
        atol=1e-9,
    )
    assert np.allclose(after.q, dynamics.integrate(model, s.q, after.v, STEP))


def test_feet_stay_planted_under_a_moving_waist():
    _, model = standing_robot()
    for seed in range(5):
        s = humanoid.standing(model, np.random.default_rng(seed))
        for side in ("left", "right"):
            X, X0 = (dynamics.pose(model, q, f"{side}_foot") for q in (s.goal, model.initial()))
            assert np.allclose(X.p, X0.p, atol=1e-9)
            assert np.allclose(X.R, X0.R, atol=1e-9)
            V = dynamics.velocity(model, s.goal, s.speed, f"{side}_foot")
            assert np.abs([V.linear, V.angular]).max() < 1e-10
        assert s.goal[2] < model.initial()[2] + 0.01


@pytest.mark.parametrize("kind", ["stance", "slide", "rocking"])
def test_feet_have_eight_corners_of_rank_twelve(kind):
    for index in range(6):
        p = case(kind, index, seed=0).bodies
        assert p is not None
        assert len(p.mu) == 8
        W = dense(p)
        assert np.linalg.matrix_rank(W, tol=1e-10 * np.abs(W).max()) == 12


@pytest.mark.slow
def test_slides_slide_on_smooth_ground_and_stances_stick():
    sliding = sticking = 0
    for index in range(20):
        for kind in ("slide", "stance"):
            one = case(kind, index, seed=1)
            assert one.bodies is not None
            assert (
                (one.bodies.mu >= (0.05 if kind == "slide" else 0.4))
                & (one.bodies.mu <= (0.3 if kind == "slide" else 1.0))
            ).all()
            solution = solve_problem(one.problem(), initial=one.warm)
            u, loaded = solution.velocity.reshape(-1, 3), solution.impulse[2::3] > 1e-6
            slips = (np.hypot(u[:, 0], u[:, 1])[loaded] > 1e-4).any()
            sliding += slips and kind == "slide"
            sticking += not slips and kind == "stance"
    # a few slides come to rest, a few stances shift an edge while others lift
    assert sliding >= 17
    assert sticking >= 15


@pytest.mark.slow
def test_a_fall_touches_the_ground_with_many_links_and_lies_on_it():
    robot, model = standing_robot()
    links = set()
    for index in range(0, 12, 2):
        p = case("fall", index, seed=0).bodies
        assert p is not None
        links.add(len(p.start) - 1)
        assert 3 <= len(p.mu) <= 17
        assert len(p.start) - 1 <= 10
        assert (p.contact["b"] == -1).all()
        # something meets the ground within the step
        assert (p.q[2::3] < 0).any()
    assert max(links) >= 6
    rng = np.random.default_rng(3)
    q = model.initial()
    q[7:] += 0.3 * rng.normal(size=len(q) - 7)
    q[3:7] = (np.cos(0.6), 0.0, np.sin(0.6), 0.0)
    q = falls.laid_down(model, q, 5)
    # lowest points by the shapes' own support functions
    lowest = []
    for body in robot.bodies:
        X = dynamics.pose(model, q, body.name)
        lowest += [X.p[2] - s.support(-X.R[2]) for s in body.collision_shapes()]
    assert min(lowest) == pytest.approx(0, abs=1e-12)
    # the five that were asked for, to a micrometre
    assert sum(z < 1e-6 for z in lowest) >= 5
