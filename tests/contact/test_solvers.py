"""Every solver against the law, closed forms and each other, judged by the certificate."""

import functools

import numpy as np
import pytest
from contact.problems import box_on_plane, coulomb_violation, problem, random_problem

from tabi import contact
from tabi.contact import certificate, gauss_seidel, maps, newton, rows, workspace
from tabi.contact.algebra import linear
from tabi.contact.blocks import velocities

SOLVERS = ("auto", "gauss-seidel", "accelerated gauss-seidel")


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("velocity", "kind"), [((0, 0, 0), "rest"), ((1.0, 0.5, 0), "slide"), ((0, 0, 1.0), "lift")]
)
def test_a_box_rests_slides_and_lifts_as_newton_says(solver, velocity, kind):
    m, g, h, mu = 2.0, 9.81, 1e-3, 0.4
    W, q, coefficients, J = box_on_plane(velocity, mu, m, gravity=g, h=h)
    s = contact.solve(W, q, coefficients, order="ttn", solver=solver, tolerance=1e-10)
    assert s.converged
    total = J.T @ s.impulse
    expected = {"rest": (0, 0, m * g * h), "lift": (0, 0, 0)}
    if kind == "slide":
        direction = np.array(velocity) / np.linalg.norm(velocity)
        assert total[2] == pytest.approx(m * g * h, rel=1e-7)
        # friction impulse μ m g h against the slide, and a torque that presses the front edge
        assert np.allclose(
            total[:3], (0, 0, m * g * h) - mu * m * g * h * direction, atol=1e-7 * m * g * h
        )
    else:
        assert np.allclose(total[:3], expected[kind], atol=1e-9)
    assert coulomb_violation(W, q, coefficients, s.impulse) < 1e-8


@pytest.mark.parametrize("solver", SOLVERS)
def test_random_problems_obey_the_law(solver):
    rng = np.random.default_rng(1)
    for _ in range(60):
        W, q, mu = random_problem(rng, bodies=rng.integers(1, 4), contacts=rng.integers(1, 8))
        s = contact.solve(W, q, mu, order="ttn", solver=solver)
        if solver == "auto":
            assert s.converged
        if s.converged:
            # velocities to 1e-8 of ‖q‖ (a few m/s), impulses to that times ρ (a few kilogrammes)
            assert coulomb_violation(W, q, mu, s.impulse) < 1e-6
        assert s.residual == contact.judge(problem(W, q, mu).blocks, s.impulse).relative


def test_a_warm_start_at_the_solution_costs_nothing():
    W, q, mu = random_problem(np.random.default_rng(4))
    first = contact.solve(W, q, mu, order="ttn")
    again = contact.solve(W, q, mu, order="ttn", initial=first.impulse)
    assert again.iterations == 0
    assert np.array_equal(again.impulse, first.impulse)


def test_a_rerun_finds_the_same_impulses_to_the_last_bit():
    for seed in range(10):
        W, q, mu = random_problem(np.random.default_rng(seed), contacts=8)
        one, two = (contact.solve(W, q, mu, order="ttn") for _ in range(2))
        assert np.array_equal(one.impulse, two.impulse)


def test_a_foots_wrench_is_unique_though_its_corners_are_not():
    W, q, mu, J = box_on_plane((0, 0, 0), 0.8, tilt=(2e-3, 1e-3))
    rng = np.random.default_rng(5)
    wrenches, corners = [], []
    for _ in range(6):
        s = contact.solve(W, q, mu, order="ttn", tolerance=1e-10, initial=1e-3 * rng.random(12))
        assert s.converged
        wrenches.append(J.T @ s.impulse)
        corners.append(s.impulse)
    assert np.ptp(wrenches, axis=0).max() < 1e-9
    assert np.ptp(corners, axis=0).max() > 1e-5


def test_slip_of_a_box_begins_at_the_same_push_in_every_direction():
    m, g, h, mu = 2.0, 9.81, 1e-3, 0.5

    def slips(push, angle):
        # low centre of mass: the box slides before it tips
        v = push * np.array([np.cos(angle), np.sin(angle), 0])
        W, q, coefficients, _ = box_on_plane(
            v, mu, m, size=(0.4, 0.4, 0.02), gravity=g, h=h, turn=0.37 * angle
        )
        s = contact.solve(W, q, coefficients, order="ttn", tolerance=1e-12)
        assert s.converged
        # beyond the threshold the box slides at push − μ g h:
        # half of what a push 1e-9 above it would give tells the two apart
        return np.abs(s.velocity).max() > 0.5e-9 * mu * g * h

    thresholds = []
    for angle in np.linspace(0.1, 6.2, 9):
        low, high = 0.9 * mu * g * h, 1.1 * mu * g * h
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if slips(middle, angle) else (middle, high)
        thresholds.append(low / (mu * g * h))
    assert np.ptp(thresholds) < 1e-9
    assert np.allclose(thresholds, 1.0, atol=1e-9)


def test_unsymmetric_matrices_are_taken_as_they_are():
    rng = np.random.default_rng(6)
    for _ in range(20):
        # as many contacts as a full-rank matrix allows:
        # a singular one, made unsymmetric, may have no solution at all
        W, q, mu = random_problem(rng, bodies=3, contacts=3)
        W = W + 1e-3 * np.abs(W).max() * rng.normal(size=W.shape) * (W != 0)
        s = contact.solve(W, q, mu, order="ttn")
        assert s.converged
        assert np.allclose(s.velocity, W @ s.impulse + q, atol=1e-12)


def test_orders_of_rows_are_only_names():
    W, q, mu = random_problem(np.random.default_rng(7))
    turn = np.arange(len(q)).reshape(-1, 3)[:, [2, 0, 1]].ravel()
    ttn = contact.solve(W, q, mu, order="ttn")
    ntt = contact.solve(W[np.ix_(turn, turn)], q[turn], mu, order="ntt")
    assert np.array_equal(ttn.impulse[turn], ntt.impulse)


@pytest.mark.parametrize("kind", [maps.ALART_CURNIER, maps.JEAN_MOREAU, maps.NATURAL])
def test_the_maps_vanish_at_solutions_and_their_derivatives_are_right(kind):
    rng = np.random.default_rng(8)
    W, q, mu = random_problem(rng)
    s = contact.solve(W, q, mu, order="ttn", tolerance=1e-13)
    p, u = problem(W, q, mu).blocks, np.zeros(len(q))
    velocities(p, s.impulse, u)
    assert newton.merit(p, kind, 1.0, u, s.impulse) < 1e-20
    for _ in range(300):
        m = rng.uniform(0.1, 1.5)
        rho = rng.uniform(0.5, 2)
        u = rng.normal(size=3)
        l = rng.normal(size=3) + np.array([0, 0, 1])
        _, A, B = maps.contact_map(kind, m, rho, tuple(u), tuple(l))
        e = 1e-7
        for matrix, column in ((A, "l"), (B, "u")):
            numeric = np.zeros((3, 3))
            for c in range(3):
                d = e * np.eye(3)[c]
                ends = [
                    maps.contact_map(
                        kind,
                        m,
                        rho,
                        *((tuple(u), tuple(l + z)) if column == "l" else (tuple(u + z), tuple(l))),
                    )[0]
                    for z in (-d, d)
                ]
                numeric[:, c] = (np.array(ends[1]) - ends[0]) / (2 * e)
            # a kink between the two points shows as a large difference: rare, and not a fault
            if np.abs(numeric - np.reshape(matrix, (3, 3))).max() > 1e-5:
                assert abs(l[2] - rho * u[2]) < 1e-5 or kink(kind, m, rho, u, l) < 1e-5


def test_the_map_of_limited_rows_has_the_right_derivatives():
    rng = np.random.default_rng(9)
    for _ in range(300):
        radius, rho = rng.uniform(0.1, 2), rng.uniform(0.5, 2)
        u, l = rng.normal(size=3), rng.normal(size=3)
        of = functools.partial(rows.newton_map, rows.LIMITED, maps.ALART_CURNIER, 0.0, radius, rho)
        F = lambda u, l, of=of: np.array(of(tuple(u), tuple(l))[0])  # noqa: E731
        _, A, B = of(tuple(u), tuple(l))
        z = l - rho * u
        if abs(np.linalg.norm(z) - radius) < 1e-5:
            continue
        for matrix, at in ((A, lambda d: F(u, l + d)), (B, lambda d: F(u + d, l))):  # noqa: B023
            numeric = np.stack([(at(1e-7 * e) - at(-1e-7 * e)) / 2e-7 for e in np.eye(3)], axis=1)
            np.testing.assert_allclose(np.reshape(matrix, (3, 3)), numeric, atol=1e-6)


def kink(kind, mu, rho, u, l):
    """Distance of a point to the nearest kink of a map."""
    slip = np.hypot(u[0], u[1])
    n = l[2] - rho * (u[2] + (mu * slip if kind == maps.NATURAL else 0))
    t = np.hypot(*(l[:2] - rho * u[:2]))
    return min(abs(t - mu * n), abs(mu * t + n), abs(n), abs(l[2]), abs(t - mu * l[2]))


def test_gauss_seidel_is_anytime_and_its_error_is_true():
    W, q, mu = random_problem(np.random.default_rng(9), bodies=4, contacts=10)
    for sweeps in (1, 3, 10, 30):
        s = contact.solve(
            W, q, mu, order="ttn", solver="gauss-seidel", sweeps=sweeps, tolerance=1e-14
        )
        assert s.iterations <= sweeps
        assert s.certificate.residual == pytest.approx(
            certificate.judge(problem(W, q, mu).blocks, s.impulse).residual
        )


def test_one_sweep_solves_contacts_that_do_not_meet():
    rng = np.random.default_rng(10)
    blocks = [random_problem(rng, 1, 1) for _ in range(5)]
    W = np.zeros((15, 15))
    for k, (w, _, _) in enumerate(blocks):
        W[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = w
    p = problem(
        W, np.concatenate([b[1] for b in blocks]), np.concatenate([b[2] for b in blocks])
    ).blocks
    impulse, w = np.zeros(15), workspace.allocate(5, newton=False)
    gauss_seidel.sweep(p, impulse, w)
    assert certificate.judge(p, impulse).relative < 1e-13


def test_the_ladder_reports_its_best_when_nothing_solves_it():
    # two contacts press one body from both sides: no impulse can part them
    W = np.kron(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.eye(3))
    q = np.array([0, 0, -1.0, 0, 0, -1.0])
    s = contact.solve(W, q, 0.5, order="ttn")
    assert not s.converged
    assert s.solver == "not solved"
    assert np.isfinite(s.impulse).all()
    assert s.residual > 1e-3


def test_the_small_linear_solver_solves_and_refuses():
    rng = np.random.default_rng(11)
    A, b = rng.normal(size=(9, 9)), rng.normal(size=9)
    x = b.copy()
    assert linear.solve(A.copy(), x, 9)
    assert np.allclose(A @ x, b)
    assert not linear.solve(np.zeros((3, 3)), np.ones(3), 3)
    assert not linear.solve(np.full((3, 3), np.nan), np.ones(3), 3)


def test_an_empty_problem_is_solved():
    s = contact.solve(np.zeros((0, 0)), [], [], order="ttn")
    assert s.converged
    assert len(s.impulse) == 0


@pytest.mark.process
def test_the_solvers_run_as_plain_python_too():
    import os
    import subprocess
    import sys

    code = """
import numpy as np
from tabi import contact
W = np.kron(np.array([[2.0, 0.5], [0.5, 1.0]]), np.eye(3))
for mu in (0.0, 0.5):
    for solver in contact.SOLVERS:
        s = contact.solve(W, [1.0, 0.2, -1.0, 0.3, 0.0, -0.5], mu, order="ttn", solver=solver)
        assert s.converged, (mu, solver)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
