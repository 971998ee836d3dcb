"""Forces of feet in given states: what is held does not move, what slides rubs against its way."""

import numpy as np
import pytest

from tabi.lab.validate.foot_states import random_feet
from tabi.step.laws.polygons import polygons, selection
from tabi.step.laws.polygons.polygon_states import EDGE, FACE, NONE, VERTEX, encode
from tabi.step.laws.polygons.selection_forces import forces, slip_velocity

CORNERS = 5
STATES = [
    [(FACE, 0, False), (EDGE, 4, False), (VERTEX, 2, False)],
    [(FACE, 0, True), (EDGE, 1, False), (VERTEX, 2, False)],
    [(EDGE, 4, True), (FACE, 0, False), (NONE, 0, False)],
    [(VERTEX, 1, True), (FACE, 0, True), (EDGE, 2, True)],
    [(NONE, 0, False), (NONE, 0, False), (FACE, 0, True)],
]


def feet_in(states, seed=0, change=lambda P: None):
    """Random feet, which press, in states; with w and ξ."""
    P = polygons.allocate(3 * CORNERS, 4)
    random_feet(np.random.default_rng(seed), CORNERS, P, feet=len(states))
    P.b[5::6] -= 0.5
    P.free[:] -= 0.5
    change(P)
    s = selection.allocate(P, 10)
    for f, (kind, i, slides) in enumerate(states):
        s.state[f] = encode(kind, i, slides, CORNERS)
    forces(P, s)
    return P, s


def at_corner(P, s, f, j):
    """Velocity of a corner."""
    c = P.start[f] + j % CORNERS
    twist = s.twist[6 * f : 6 * f + 6]
    return twist[3:] + np.cross(twist[:3], (P.x[c], P.y[c], 0.0))


@pytest.mark.parametrize("states", STATES)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_held_rests_and_what_slides_rubs(states, seed):
    P, s = feet_in(states, seed)
    size = 6 * len(states)
    np.testing.assert_allclose(
        s.twist[:size], P.A[:size, :size] @ s.wrench[:size] + P.b[:size], atol=1e-9
    )
    for f, (kind, i, slides) in enumerate(states):
        wrench = s.wrench[6 * f : 6 * f + 6]
        held = range(CORNERS) if kind == FACE else range(i, i + kind)
        for j in held:
            rests = at_corner(P, s, f, j)[2:] if slides else at_corner(P, s, f, j)
            np.testing.assert_allclose(rests, 0.0, atol=1e-9)
        if kind == NONE:
            assert not wrench.any()
        if slides and wrench[5] > 0:
            d = s.slip[f]
            np.testing.assert_allclose(wrench[3:5], -P.mu[f] * wrench[5] * d, atol=1e-4)
            across = np.cross((*d, 0.0), (*slip_velocity(s, f), 0.0))[2]
            assert abs(across) < 1e-4
            # no moment about the pressure point
            x, y = -wrench[1] / wrench[5], wrench[0] / wrench[5]
            assert wrench[2] == pytest.approx(x * wrench[4] - y * wrench[3], abs=1e-6)


def one_body(P):
    """Both feet on one body, 0.4 m apart: A = X Ω Xᵀ of its twist."""
    rows = []
    for y in (-0.2, 0.2):
        X = np.eye(6)
        X[3:, :3] = -np.array([[0, 0.3, y], [-0.3, 0, 0], [-y, 0, 0]]).T
        rows.append(X)
    X = np.concatenate(rows)
    omega = np.diag([2.0, 3.0, 1.0, 0.1, 0.1, 0.1])
    P.A[:12, :12] = X @ omega @ X.T
    P.b[:12] = X @ (0.0, 0.0, 0.0, 0.01, 0.0, -0.05)
    for f in range(2):
        own = slice(P.start[f], P.start[f + 1])
        P.x[own], P.y[own] = P.x[:CORNERS], P.y[:CORNERS]
        P.free[own] = P.b[6 * f + 5] + P.b[6 * f] * P.y[own] - P.b[6 * f + 1] * P.x[own]
        P.span[f] = P.span[0]
    P.mu[:2] = 0.5


@pytest.mark.parametrize("noise", [0.0, 1e-13])
@pytest.mark.parametrize("kind", [FACE, EDGE])
def test_feet_of_one_body_share_its_momentum(kind, noise):
    def change(P):
        one_body(P)
        P.b[:12] += noise * np.random.default_rng(1).normal(size=12)

    _, s = feet_in([(kind, 1, False), (kind, 1, False)], change=change)
    left, right = s.wrench[:6], s.wrench[6:12]
    # 10 kg at 0.05 m/s, about half of it each
    np.testing.assert_allclose(s.twist[:12], 0.0, atol=1e-10)
    assert left[5] == pytest.approx(0.25, abs=0.1)
    assert left[5] + right[5] == pytest.approx(0.5, abs=1e-9)
    np.testing.assert_allclose(left[3:5] + right[3:5], (-0.1, 0.0), atol=1e-9)
    assert np.abs(s.wrench[:12]).max() < 1.0


def test_feet_of_one_body_slide_together():
    _, s = feet_in([(FACE, 0, True), (FACE, 0, True)], change=one_body)
    assert s.wrench[5] + s.wrench[11] == pytest.approx(0.5, abs=1e-9)
    np.testing.assert_allclose(s.wrench[[3, 9]], -0.5 * s.wrench[[5, 11]], atol=1e-9)
    assert np.abs(s.wrench[:12]).max() < 1.0
