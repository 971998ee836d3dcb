"""Large bare problems, by SciPy's factorisations."""

import numpy as np
import pytest
import scipy.sparse
from contact.problems import box_on_plane, coulomb_violation, problem, random_problem

from tabi import contact
from tabi.contact import maps, newton, sparse_newton, workspace
from tabi.contact.blocks import velocities


@pytest.mark.parametrize("full", [0.0, 2.0])
@pytest.mark.parametrize("kind", [maps.ALART_CURNIER, maps.JEAN_MOREAU, maps.NATURAL])
def test_its_direction_is_that_of_the_small_newton(kind, full, monkeypatch):
    monkeypatch.setattr(sparse_newton, "MAX_FILL_RATIO", full)
    rng = np.random.default_rng(kind)
    for _ in range(5):
        W, q, mu = random_problem(rng)
        p, ours, small = problem(W, q, mu).blocks, workspace.allocate(6), workspace.allocate(6)
        impulse, u = rng.normal(size=18) + np.tile([0, 0, 0.5], 6), np.zeros(18)
        velocities(p, impulse, u)
        assert sparse_newton.direction(p, kind, 1.0, 1e-3, u, impulse, ours)
        assert newton._direction(p, kind, 1.0, 1e-3, u, impulse, small)
        assert np.allclose(ours.delta, small.delta, atol=1e-9 * np.abs(small.delta).max())


def test_many_boxes_go_through_sweeps_and_a_pile_of_them_through_newton():
    rng = np.random.default_rng(3)
    blocks = [
        box_on_plane(0.02 * rng.normal(size=3), rng.uniform(0.1, 0.9))
        for _ in range(contact.DENSE_CONTACTS // 4 + 1)
    ]
    W = scipy.sparse.block_diag([b[0] for b in blocks], format="csr")
    q, mu = np.concatenate([b[1] for b in blocks]), np.concatenate([b[2] for b in blocks])
    for sweeps in (contact.FIRST_SWEEPS, 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(contact, "FIRST_SWEEPS", sweeps)
            s = contact.solve(W, q, mu, order="ttn")
        assert s.converged
        assert ("gauss" in s.solver) == (sweeps > 1)
        assert coulomb_violation(W, q, mu, s.impulse) < 1e-7


def test_a_singular_system_is_no_direction():
    W = np.kron(np.array([[1.0, -1.0], [-1.0, 1.0]]), np.eye(3))
    p, work = problem(W, [0, 0, -1.0, 0, 0, -1.0], 0.5).blocks, workspace.allocate(2)
    u, impulse = np.full(6, np.nan), np.zeros(6)
    assert not sparse_newton.direction(p, maps.ALART_CURNIER, 1.0, 1e-6, u, impulse, work)
