"""Polygons of feet: their twists and wrenches say what the rows of their corners would."""

import numpy as np
import pytest
from bipeds import hrp2_on_ground

import tabi
from tabi.step.laws.polygons import corner_forces, polygons
from tabi.step.laws.polygons.corner_forces import gradient


def stance():
    """The contact problem of HRP-2 on the ground, and its polygons."""
    world, robot = hrp2_on_ground()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    sim.apply_force(robot.body("chest"), (30.0, 10.0, 0.0), 0.05)
    sim.run(0.02)
    p = sim.problem()
    P = polygons.allocate(len(p.kind), len(p.start) - 1)
    polygons.gather(p, np.ones(len(p.kind), np.int64), np.zeros(len(p.kind)), P)
    return sim, p, P


def test_each_sole_is_one_polygon_whose_corners_go_round_anticlockwise():
    _, _, P = stance()
    assert P.count[0] == 2
    assert P.start[:3].tolist() == [0, 4, 8]
    for f in range(2):
        x, y = P.x[4 * f : 4 * f + 4], P.y[4 * f : 4 * f + 4]
        assert 0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1)) == pytest.approx(0.24 * 0.138)
        assert abs(x.sum()) + abs(y.sum()) < 1e-15
    assert sorted(P.row[:8]) == list(range(8))
    assert set(P.owner[:8]) == {0, 1}


def test_velocities_of_corners_are_those_of_the_twist():
    # u = W λ + q by the rows, and ξ = A w + b by the polygons
    _, p, P = stance()
    impulse = np.random.default_rng(0).normal(size=24)
    u = p.velocities(impulse)
    w = np.zeros(12)
    for f in range(2):
        for c in range(4 * f, 4 * f + 4):
            x, y, k = P.x[c], P.y[c], 3 * P.row[c]
            fx, fy, fz = impulse[k : k + 3]
            w[6 * f : 6 * f + 6] += (y * fz, -x * fz, x * fy - y * fx, fx, fy, fz)
    xi = P.A[:12, :12] @ w + P.b[:12]
    for f in range(2):
        turn, move = xi[6 * f : 6 * f + 3], xi[6 * f + 3 : 6 * f + 6]
        for c in range(4 * f, 4 * f + 4):
            at = move + np.cross(turn, (P.x[c], P.y[c], 0.0))
            np.testing.assert_allclose(at, u[3 * P.row[c] : 3 * P.row[c] + 3], atol=1e-12)


def test_the_response_is_symmetric_and_positive():
    _, _, P = stance()
    A = P.A[:12, :12]
    np.testing.assert_allclose(A, A.T, atol=1e-12)
    assert np.linalg.eigvalsh(A).min() > 0


def test_impulses_of_other_rows_are_seen():
    # of two feet the one is told to be "another": its impulses move the other one
    _, p, _ = stance()
    foot = (p.contact["a"] == p.contact["a"][0]).astype(np.int64)
    one = polygons.allocate(len(p.kind), len(p.start) - 1)
    polygons.gather(p, foot, np.zeros(8), one)
    assert one.count[0] == 1
    impulse = np.random.default_rng(1).normal(size=24)
    impulse[np.repeat(foot, 3) == 1] = 0.0
    polygons.add_other_impulses(p, impulse, one)
    u = p.velocities(impulse)
    for c in range(4):
        at = one.b[3:6] + np.cross(one.b[:3], (one.x[c], one.y[c], 0.0))
        np.testing.assert_allclose(at, u[3 * one.row[c] : 3 * one.row[c] + 3], atol=1e-12)
        assert one.free[c] == pytest.approx(u[3 * one.row[c] + 2], abs=1e-12)


def regular(corners):
    """A regular polygon of 10 cm."""
    P = polygons.allocate(corners, 1)
    angle = np.linspace(0, 2 * np.pi, corners, endpoint=False)
    P.count[0], P.start[1], P.row[:corners] = 1, corners, np.arange(corners)
    P.x[:corners], P.y[:corners], P.span[0] = 0.1 * np.cos(angle), 0.1 * np.sin(angle), 0.1
    return P


def wrench_of(P, n, impulse):
    """Of corner impulses about the middle."""
    w = np.zeros(6)
    for c in range(n):
        f = impulse[3 * c : 3 * c + 3]
        w[:3] += np.cross((P.x[c], P.y[c], 0.0), f)
        w[3:] += f
    return w


@pytest.mark.parametrize("corners", [3, 4, 7, 64])
def test_forces_of_corners_have_the_wrench_and_press_where_the_pressure_point_is_inside(corners):
    P, rng = regular(corners), np.random.default_rng(corners)
    for _ in range(20):
        shares = rng.dirichlet(np.ones(corners))
        px, py = shares @ P.x[:corners], shares @ P.y[:corners]
        fz = rng.uniform(0.1, 5.0)
        w = np.array([py * fz, -px * fz, rng.normal(), rng.normal(), rng.normal(), fz])
        impulse = np.zeros(3 * corners)
        corner_forces.spread(P, 0, w, 0, corners, impulse)
        np.testing.assert_allclose(wrench_of(P, corners, impulse), w, atol=1e-12)
        assert impulse[2::3].min() >= 0


def test_on_an_edge_and_outside_the_wrench_is_the_same():
    P = regular(4)
    # the middle of the first edge, and a point beyond it, which only pulling corners give
    for part, pulls in ((0.5, False), (0.8, True)):
        px = py = 0.1 * part
        w = np.array([py, -px, 0.02, 0.1, -0.2, 1.0])
        impulse = np.zeros(12)
        corner_forces.spread(P, 0, w, 0, 4, impulse)
        np.testing.assert_allclose(wrench_of(P, 4, impulse), w, atol=1e-12)
        assert (impulse[2::3].min() < 0) == pulls


@pytest.mark.parametrize("begin", range(4))
def test_two_corners_bear_all_but_the_moment_about_their_edge(begin):
    P = regular(4)
    a, b = begin, (begin + 1) % 4
    forces = np.zeros(12)
    forces[3 * a : 3 * a + 3], forces[3 * b : 3 * b + 3] = (0.1, 0.2, 2.0), (0.1, 0.2, 0.5)
    w, impulse = wrench_of(P, 4, forces), np.zeros(12)
    corner_forces.spread(P, 0, w, begin, 2, impulse)
    np.testing.assert_allclose(impulse[2::3], forces[2::3], atol=1e-12)
    np.testing.assert_allclose(wrench_of(P, 4, impulse), w, atol=1e-12)
    corner_forces.spread(P, 0, w, 0, 0, impulse)
    assert not impulse.any()


def test_even_forces_have_their_moments():
    P = regular(5)
    gx, gy = gradient(P, 0, 5, 0.3, -0.2)
    forces = gx * P.x[:5] + gy * P.y[:5]
    assert forces.sum() == pytest.approx(0.0, abs=1e-12)
    assert (forces @ P.y[:5], -forces @ P.x[:5]) == pytest.approx((0.3, -0.2))


def test_points_inside_and_on_a_line_are_no_corners():
    sim, p, _ = stance()
    rows = p.contact
    rows["arm_a"][1] = 0.5 * (rows["arm_a"][0] + rows["arm_a"][2])
    P = polygons.allocate(8, len(p.start) - 1)
    polygons.gather(p, np.ones(8, np.int64), np.zeros(8), P)
    assert P.start[1] - P.start[0] == 3
    assert 1 not in P.row[: P.start[1]]
    assert P.owner[1] == 0
    assert len(sim.contacts) == 8


def test_a_polygon_of_one_point_moves_as_the_point_and_does_not_turn():
    _, p, _ = stance()
    P = polygons.allocate(len(p.kind), len(p.start) - 1)
    foot = np.zeros(len(p.kind), np.int64)
    foot[2] = 1
    polygons.gather(p, foot, np.zeros(len(p.kind)), P)
    assert (P.count[0], P.start[1]) == (1, 1)
    np.testing.assert_allclose(P.b[:6], (0, 0, 0, *p.q[6:9]), atol=1e-15)


def gathered(p, gap=None):
    n = len(p.kind)
    P = polygons.allocate(n, n)
    polygons.gather(p, np.ones(n, np.int64), np.zeros(n) if gap is None else gap, P)
    return P


def test_a_polygon_has_its_friction_and_its_half_diagonal():
    _, _, P = stance()
    assert P.mu[:2].tolist() == [0.8, 0.8]
    assert P.span[:2] == pytest.approx(0.5 * np.hypot(0.24, 0.138))


def test_points_in_another_plane_are_another_polygon():
    _, p, _ = stance()
    c, s = np.cos(0.1), np.sin(0.1)
    turn = np.array([[1, 0, 0], [0, c, s], [0, -s, c]])
    for k in (0, 1):
        p.contact["frame"][k] = (turn @ p.contact["frame"][k].reshape(3, 3)).ravel()
    P = gathered(p)
    assert P.count[0] == 3
    assert P.owner[0] == P.owner[1] != P.owner[2]


def test_the_middle_is_at_the_height_of_the_lowest_corner():
    _, p, P = stance()
    up, first = p.contact["frame"][0][6:9], P.arm[:2].copy()
    # the first row of each foot is lifted
    gap = np.zeros(len(p.kind))
    for k in P.first[:2]:
        gap[k] = 0.01
        p.contact["arm_a"][k] += 0.01 * up
        p.contact["arm_b"][k] += 0.01 * up
    np.testing.assert_allclose(gathered(p, gap).arm[:2] @ up, first @ up, atol=1e-12)
