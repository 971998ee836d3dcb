"""The judge: zero for what obeys the law, in proportion for what does not,
and never fooled by NaN.
"""

import numpy as np
import pytest
from contact.problems import box_on_plane, problem, random_problem

from tabi import contact
from tabi.contact.certificate import judge


def test_a_sliding_point_mass_is_certified_by_hand():
    # m = 2, μ = 0.5, slides along x: λ_n = 2·1, λ_x = −1
    p = problem(np.eye(3) / 2, [3.0, 0.0, -1.0], [0.5]).blocks
    good = judge(p, np.array([-1.0, 0.0, 2.0]))
    assert good.residual < 1e-16
    assert good.cone_violation == good.approach == 0.0
    # friction left out: the power μ λ_n ‖u_t‖ = 0.5·2·3 was not taken
    bad = judge(p, np.array([0.0, 0.0, 2.0]))
    assert bad.dissipation_gap == pytest.approx(3.0)
    assert bad.residual > 0.1


@pytest.mark.parametrize(
    ("impulse", "figure", "value"),
    [
        ((0.0, 0.0, 0.0), "approach", 1.0),
        ((0.0, 0.0, -1.0), "cone_violation", 1.0),
        ((-2.0, 0.0, 2.0), "cone_violation", 1.0),
        ((-1.5, 0.0, 3.0), "signorini", 3.0 * 0.5),
    ],
)
def test_each_part_of_the_law_has_its_own_figure(impulse, figure, value):
    p = problem(np.eye(3) / 2, [3.0, 0.0, -1.0], [0.5]).blocks
    certificate = judge(p, np.array(impulse))
    assert getattr(certificate, figure) == pytest.approx(value)
    assert not certificate.converged(1e-3)


def test_it_is_a_backward_error():
    rng = np.random.default_rng(0)
    W, q, mu = random_problem(rng)
    p = problem(W, q, mu).blocks
    exact = contact.solve(W, q, mu, order="ttn", tolerance=1e-13).impulse
    for size in (1e-3, 1e-6, 1e-9):
        off = judge(p, exact + size * rng.normal(size=len(exact)))
        # moves with the perturbation: neither blind to it nor exaggerating
        assert 1e-2 * size < off.residual < 1e2 * size
    assert off.contacts.shape == (len(mu), 6)
    assert off.residual == off.contacts[:, 0].max()


@pytest.mark.parametrize("place", range(3))
def test_nan_is_never_converged(place):
    W, q, mu, _ = box_on_plane((0, 0, 0), 0.5)
    impulse = np.zeros(12)
    impulse[place] = np.nan
    certificate = judge(problem(W, q, mu).blocks, impulse)
    assert np.isnan(certificate.residual)
    assert not certificate.converged(1e9)


def test_a_pyramid_is_not_the_cone():
    # inside the square |λ_x|, |λ_y| ≤ μ λ_n but outside the circle
    p = problem(np.eye(3), [1.0, 1.0, -1.0], [0.5]).blocks
    assert judge(p, np.array([-0.5, -0.5, 1.0])).cone_violation == pytest.approx(
        0.5 * (np.sqrt(2) - 1)
    )


@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_an_impulse_that_pulls_is_never_certified(mu):
    # what would separate is held by λ_n = −1: u = 0;
    # without friction the cone is a ray, and not a line
    p = problem(np.eye(3), [0.0, 0.0, 1.0], [mu]).blocks
    assert judge(p, np.array([0.0, 0.0, -1.0])).residual == pytest.approx(1.0)
    for solver in contact.SOLVERS:
        assert contact.solve(
            np.eye(3), [0.0, 0.0, 1.0], mu, order="ttn", solver=solver
        ).impulse == pytest.approx(0.0, abs=1e-15)
