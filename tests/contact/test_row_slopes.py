"""What a step of three rows needs: an inverse, and how rows follow their bound."""

import numpy as np
from contact.test_motion_newton import lying
from contact.test_point_newton import memory_for

from tabi.contact import row_slopes
from tabi.contact.rows import newton_map


def test_the_inverse_is_that_of_the_matrix():
    rng = np.random.default_rng(0)
    for _ in range(20):
        C = rng.normal(size=(3, 3)) + 2.0 * np.eye(3)
        found = np.reshape(row_slopes.inverse(tuple(C.ravel())), (3, 3))
        np.testing.assert_allclose(found, np.linalg.inv(C), atol=1e-12 * np.linalg.cond(C) ** 2)


def test_rows_follow_their_bound_as_their_map_does():
    """C⁻¹ ∂F/∂R by a difference of F, for moments larger than their bound."""
    rng, rho, step = np.random.default_rng(1), 2.0, 1e-7
    p = lying(rng)
    work, u, l = memory_for(p, 8), rng.normal(size=72), rng.normal(size=72)
    k, e = 18, int(p.contact["partner"][18])
    C = rng.normal(size=(3, 3)) + 2.0 * np.eye(3)
    work.known[k], p.bound[k] = C.ravel(), 0.2
    l[3 * e + 2] = 0.2
    velocity, impulse = tuple(u[3 * k : 3 * k + 3]), tuple(l[3 * k : 3 * k + 3])
    F = [
        np.array(newton_map(p.kind[k], 0, 0.0, bound, rho, velocity, impulse)[0])
        for bound in (0.2 - step, 0.2 + step)
    ]
    assert row_slopes.bound_slope(p, k, u, l, rho, work)
    expected = np.linalg.solve(C, F[1] - F[0]) / (2.0 * step)
    np.testing.assert_allclose(work.follow[k], expected, atol=1e-6)
    # where the contact does not press, or the bound is not reached, nothing follows
    for pressing, bound in ((0.0, 0.2), (0.2, 1e3)):
        l[3 * e + 2], p.bound[k] = pressing, bound
        assert not row_slopes.bound_slope(p, k, u, l, rho, work)
        assert not work.follow[k].any()
