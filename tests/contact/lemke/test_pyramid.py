"""The pyramid's law: closed forms for one contact, the law as it is spoken,
and how far it is from the round cone.
"""

import numpy as np
import pytest
from contact.problems import box_on_plane, contact_rows, problem, random_problem

from tabi import contact
from tabi.contact import ProblemError, bodies, judge
from tabi.contact.lemke import lemke, pyramid

FACETS = (4, 8, 16, 32)


def one_contact(push, angle, mu=0.5, mass=2.0, fall=0.1):
    """A point of some mass that falls at ``fall`` and is pushed to a speed along an angle."""
    return np.eye(3) / mass, [push * np.cos(angle), push * np.sin(angle), -fall], mu


def directions(facets):
    angle = 2 * np.pi * np.arange(facets) / facets
    return np.column_stack([np.cos(angle), np.sin(angle)])


def pyramid_violation(s, mu, facets):
    """How far a solution is from the law, as it is spoken [m/s and N·s]."""
    u, l, d, worst = s.velocity.reshape(-1, 3), s.impulse.reshape(-1, 3), directions(facets), 0.0
    inner = np.cos(np.pi / facets)
    normals = np.column_stack(
        [
            np.cos(np.pi * (2 * np.arange(facets) + 1) / facets),
            np.sin(np.pi * (2 * np.arange(facets) + 1) / facets),
        ]
    )
    for k in range(len(l)):
        # Signorini; within all sides of the pyramid;
        # as much power taken as any force of the pyramid could take
        worst = max(worst, -l[k, 2], -u[k, 2], min(l[k, 2], u[k, 2]))
        worst = max(worst, (normals @ l[k, :2]).max() - mu[k] * l[k, 2] * inner)
        worst = max(worst, abs(l[k, :2] @ u[k, :2] - mu[k] * l[k, 2] * (d @ u[k, :2]).min()))
    return worst


def test_rows_are_those_of_the_papers():
    # 67 contacts: 201 rows of the exact cone
    assert pyramid.rows_of(67, 8) == 670
    assert pyramid.rows_of(67, 0) == 67
    W, q, mu = random_problem(np.random.default_rng(0), contacts=3)
    assert contact.solve_pyramid(W, q, mu, order="ttn", facets=6).rows == 24
    assert contact.solve_frictionless(W, q, order="ttn").rows == 3


@pytest.mark.parametrize("facets", FACETS)
def test_a_sliding_point_is_pushed_along_the_nearest_edge(facets):
    for angle in np.linspace(0.05, 6.2, 11):
        s = contact.solve_pyramid(*one_contact(3.0, angle), order="ttn", facets=facets)
        assert s.solved
        # m g h = 0.2 N·s along the normal, μ times that along the edge that is most against
        # the slip
        edge = directions(facets)[np.argmin(directions(facets) @ (np.cos(angle), np.sin(angle)))]
        assert np.allclose(s.impulse, [*(0.5 * 0.2 * edge), 0.2], atol=1e-12)
        assert s.own_residual < 1e-12


@pytest.mark.parametrize("facets", FACETS)
def test_slip_begins_too_early_by_the_shape_of_the_pyramid(facets):
    mu, fall, sector = 0.5, 0.1, 2 * np.pi / facets
    for angle in (0.0, 0.25 * sector, 0.5 * sector, 1.9, 4.0):
        low, high = 0.5, 1.1
        for _ in range(40):
            middle = 0.5 * (low + high)
            s = contact.solve_pyramid(
                *one_contact(middle * mu * fall, angle, mu, fall=fall), order="ttn", facets=facets
            )
            low, high = (middle, high) if np.abs(s.velocity).max() < 1e-12 else (low, middle)
        # the pyramid's section is a regular polygon in the circle of radius 1
        expected = np.cos(np.pi / facets) / np.cos(angle % sector - np.pi / facets)
        assert low == pytest.approx(expected, abs=1e-9)


def test_half_way_between_two_edges_the_threshold_is_cos_pi_over_k():
    for facets in FACETS:
        least = np.cos(np.pi / facets)
        for factor, sticks in ((1 - 1e-6, True), (1 + 1e-6, False)):
            s = contact.solve_pyramid(
                *one_contact(factor * least * 0.05, np.pi / facets), order="ttn", facets=facets
            )
            assert (np.abs(s.velocity).max() < 1e-12) == sticks


@pytest.mark.parametrize("facets", [4, 6, 8, 16])
def test_random_problems_obey_the_pyramids_law(facets):
    rng = np.random.default_rng(facets)
    for _ in range(25):
        W, q, mu = random_problem(rng, bodies=rng.integers(1, 4), contacts=rng.integers(1, 8))
        s = contact.solve_pyramid(W, q, mu, order="ttn", facets=facets)
        assert s.solved
        assert s.own_residual < 1e-8
        assert np.allclose(s.velocity, W @ s.impulse + q, atol=1e-10)
        # speeds of a few m/s, impulses of a few N·s, solved to about 1e-9 each
        assert pyramid_violation(s, mu, facets) < 1e-7


def test_the_certificate_is_that_of_the_exact_law():
    W, q, mu = random_problem(np.random.default_rng(1))
    s = contact.solve_pyramid(W, q, mu, order="ttn")
    again = judge(problem(W, q, mu).blocks, s.impulse)
    assert s.certificate.residual == again.residual > 1e-6
    assert s.certificate.impulse_residual == again.impulse_residual


def test_the_exact_law_sees_the_error_of_a_sliding_point():
    mu, n = 0.5, 0.2
    for facets in FACETS:
        off = 0.99 * np.pi / facets
        s = contact.solve_pyramid(*one_contact(1e5, off, mu), order="ttn", facets=facets)
        # the slip is so fast that the projection lies on the cone's edge against it, at c times the
        # normal impulse
        c = (1 + mu**2 * np.cos(off)) / (1 + mu**2)
        expected = n * np.sqrt(mu**2 * (1 - 2 * c * np.cos(off) + c**2) + (1 - c) ** 2)
        assert s.certificate.impulse_residual == pytest.approx(expected, rel=1e-4)


def test_more_facets_come_nearer_to_the_exact_solution():
    W, q, mu, J = box_on_plane((0.6, 0.35, 0), 0.4)
    exact = J.T @ contact.solve(W, q, mu, order="ttn", tolerance=1e-12).impulse
    errors = [
        np.linalg.norm(J.T @ contact.solve_pyramid(W, q, mu, order="ttn", facets=k).impulse - exact)
        for k in (4, 8, 16, 64)
    ]
    assert np.all(np.diff(errors) < 0)
    # an edge is at most π/64 away
    assert errors[-1] < np.pi / 64 * 0.4 * 2.0 * 9.81e-3 * 1.01


def test_a_box_at_rest_is_borne_by_its_four_corners_in_both_laws():
    W, q, mu, J = box_on_plane((0, 0, 0), 0.4, mass=2.0, gravity=9.81, h=1e-3)
    for s in (
        contact.solve_pyramid(W, q, mu, order="ttn"),
        contact.solve_frictionless(W, q, order="ttn"),
    ):
        assert s.solved
        assert np.allclose((J.T @ s.impulse)[:3], (0, 0, 2.0 * 9.81e-3), atol=1e-12)
        assert s.certificate.residual < 1e-12


def test_without_friction_the_exact_solver_agrees_and_nothing_pushes_sideways():
    rng = np.random.default_rng(2)
    for _ in range(20):
        W, q, mu = random_problem(rng, contacts=rng.integers(1, 8))
        s = contact.solve_frictionless(W, q, order="ttn")
        exact = contact.solve(W, q, 0 * mu, order="ttn", tolerance=1e-12)
        assert s.solved
        assert s.certificate.residual < 1e-9
        assert np.abs(s.impulse.reshape(-1, 3)[:, :2]).max() == 0
        assert np.allclose(s.velocity, exact.velocity, atol=1e-8)


def test_orders_of_rows_are_only_names():
    W, q, mu = random_problem(np.random.default_rng(3))
    turn = np.arange(len(q)).reshape(-1, 3)[:, [2, 0, 1]].ravel()
    ttn = contact.solve_pyramid(W, q, mu, order="ttn")
    ntt = contact.solve_pyramid(W[np.ix_(turn, turn)], q[turn], mu, order="ntt")
    assert np.array_equal(ttn.impulse[turn], ntt.impulse)


@pytest.mark.parametrize("facets", [0, 4, 8])
def test_bodies_give_the_same_as_their_matrix(facets):
    rng = np.random.default_rng(4)
    corners = [(x, y, -0.1) for x in (-0.2, 0.2) for y in (-0.15, 0.15)]
    L = rng.normal(size=(6, 6))
    omega = L @ L.T / 6 + np.eye(6)
    p = bodies.problem(
        a=[0] * 4,
        b=[-1] * 4,
        frame=np.tile(np.eye(3).ravel(), (4, 1)),
        arm_a=corners,
        arm_b=np.zeros((4, 3)),
        start=[0, 1],
        column=[0],
        omega=omega[None],
        q=rng.normal(size=12) - np.tile([0, 0, 1.0], 4),
        mu=[0.2, 0.4, 0.6, 0.8],
    )
    # forces first in the rows of tests, angular first in bodies
    axes = np.vstack([contact_rows(c)[:, [3, 4, 5, 0, 1, 2]] for c in corners])
    turn = np.kron(np.eye(4), contact_rows(corners[0])[:, :3].T)
    W = turn @ axes @ omega @ axes.T @ turn.T
    ours, theirs = np.zeros(12), np.zeros(12)
    # memory for more than there is
    assert pyramid.solve_bodies(p, ours, pyramid.allocate(6, facets, 2))[0] == lemke.SOLVED
    assert pyramid.solve(W, p.q, p.mu, theirs, pyramid.allocate(4, facets))[0] == lemke.SOLVED
    assert np.allclose(W @ ours, W @ theirs, atol=1e-9)
    assert np.abs(ours).max() > 0.1


def test_something_wedged_ends_on_a_ray_and_is_not_solved():
    # a body between two planes that both come nearer
    J = np.vstack([contact_rows((0, 0, -0.1)), contact_rows((0, 0, 0.1), (0, 0, -1.0))])
    W, q = J @ J.T, np.array([0.0, 0.0, -1.0, 0.0, 0.0, -1.0])
    for s in (
        contact.solve_pyramid(W, q, 0.3, order="ttn"),
        contact.solve_frictionless(W, q, order="ttn"),
    ):
        assert (s.solved, s.end) == (False, "ray")
        assert s.own_residual > 0.1
        assert np.isfinite(s.impulse).all()


@pytest.mark.parametrize("facets", [3, 7, 2, 0, -8, 8.0, "8", None, True])
def test_facets_that_make_no_pyramid_are_refused(facets):
    with pytest.raises(ProblemError, match=r"facets is .*; expected (a whole|an even) number"):
        contact.solve_pyramid(np.eye(3), [0, 0, -1], 0.5, order="ttn", facets=facets)


def test_more_rows_than_memory_is_meant_for_are_refused_before_it_is_taken():
    with pytest.raises(
        ProblemError, match="500 contacts with 16 facets are 9000 rows; at most 5000"
    ):
        contact.solve_pyramid(np.eye(1500), np.zeros(1500), 0.5, order="ttn", facets=16)


def test_no_contacts_are_no_problem():
    s = contact.solve_pyramid(np.zeros((0, 0)), [], 0.5, order="ttn")
    assert (s.solved, s.rows, len(s.impulse)) == (True, 0, 0)
