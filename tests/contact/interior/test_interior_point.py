"""Interior points: what they find obeys the laws, in both forms of the system, and is where it has
to be in closed form.
"""

import numpy as np
import pytest
from contact.test_point_newton import memory_for, random_bodies
from contact.test_trees import pair

from tabi.contact import bodies, budget, judge, ladder
from tabi.contact.interior import interior_point, interior_work
from tabi.contact.rows import BILATERAL, BILATERAL_TWO, CONTACT, IDLE, LIMITED, SOFT
from tabi.lab.family import stacks
from tabi.spatial.transform import about

START = ladder.SETTINGS[:, ladder.START].tolist()
WARM, COLD = START.index(ladder.MIDDLE), START.index(ladder.COLD_MIDDLE)


def found(p, work=None, limit=budget.NO_LIMIT, iterations=60):
    """Impulses, iterations and backward error."""
    work = work or memory_for(p, len(p.start) - 1)
    bodies.prepare(p, work)
    work.budget[budget.LIMIT] = limit
    impulse = np.zeros(3 * len(p.mu))
    done, error = interior_point.solve(p, 1e-9, iterations, impulse, work)
    return impulse, done, error


def grounded(rng, contacts):
    """Bodies with contacts on a level ground, which all can leave."""
    p, _ = random_bodies(rng, 4, contacts)
    p.contact["b"] = -1
    for k in range(contacts):
        p.contact["frame"][k] = about((0, 0, 1), rng.uniform(0, 6)).R.ravel()
    return p


def along(p, k, axis):
    """Three rows of which the last alone is any, as those of joints."""
    p.contact["angular"][k] = 1
    p.contact["frame"][k] = (0, 0, 0, 0, 0, 0, *axis)
    p.q[3 * k : 3 * k + 2] = 0.0


def mixed(seed):
    """Contacts with friction and without, dry joints, ends that give way, and idle rows."""
    rng = np.random.default_rng(seed)
    p = grounded(rng, 12)
    p.kind[:] = rng.choice([CONTACT, LIMITED, SOFT, IDLE], 12, p=[0.5, 0.2, 0.2, 0.1])
    p.kind[0] = CONTACT
    p.mu[:] = np.where(p.kind == CONTACT, rng.choice([0.0, 0.5, 1.2], 12), 0.0)
    for k in np.flatnonzero(np.isin(p.kind, (LIMITED, SOFT))):
        along(p, k, rng.normal(size=3))
        p.bound[k] = rng.choice([0.0, 0.01, 0.1]) * (1.0 if p.kind[k] == LIMITED else 10.0)
    return p


@pytest.mark.parametrize("few", [interior_work.FEW_ROWS, 0])
def test_contacts_and_joints_obey_their_laws(few, monkeypatch):
    """By rows, and, where there is no room for these, by twists; with Newton's last steps."""
    monkeypatch.setattr(interior_work, "FEW_ROWS", few)
    # with rows of joints, and without
    table, solved, close = ladder.SETTINGS[[0, WARM, COLD]], 0, 0
    for seed in range(40):
        p = mixed(seed)
        work = memory_for(p, 4)
        assert len(work.interior.row) == min(36, few)
        bodies.prepare(p, work)
        impulse = np.zeros(36)
        _, _, error = ladder.solve_bodies(p, 1e-9, impulse, work, table)
        assert judge(p, impulse).residual == pytest.approx(error, abs=1e-12)
        solved += error <= 1e-9
        close += found(p)[2] <= 1e-5
    # some of the random problems are too hard for it
    assert solved >= 36
    assert close >= 36


def test_a_block_on_a_plane_sticks_slides_or_leaves():
    """One contact of a body that cannot turn: u = λ/m + q, in closed form."""
    for q, expected in (
        ((0.1, 0.0, -1.0), (-0.2, 0.0, 2.0)),
        ((3.0, 4.0, -1.0), (-0.6, -0.8, 2.0)),
        ((3.0, 4.0, 1.0), (0.0, 0.0, 0.0)),
    ):
        omega = np.zeros((1, 6, 6))
        omega[0, 3:, 3:] = 0.5 * np.eye(3)
        p = bodies.problem(
            a=[0], b=[-1], frame=[np.eye(3).ravel()], arm_a=[np.zeros(3)], arm_b=[np.zeros(3)],
            start=[0, 1], column=[0], omega=omega, q=np.array(q), mu=[0.5],
        )  # fmt: skip
        impulse, _, error = found(p)
        assert error <= 1e-9
        assert impulse == pytest.approx(expected, abs=1e-8)


def test_towers_whose_masses_differ_by_decades_are_solved():
    for seed in range(6):
        p = stacks.mass_ratio(np.random.default_rng(seed), seed)
        impulse, _, _ = found(p)
        # Newton takes the last digits
        assert judge(p, impulse).residual < 1e-5


def with_moments(seed):
    """Contacts of which some resist turning, rows of several axes with a radius of their own, and
    rows that must not move.
    """
    rng = np.random.default_rng(seed)
    p = grounded(rng, 14)
    p.kind[8:] = (LIMITED, LIMITED, LIMITED, LIMITED, BILATERAL, BILATERAL_TWO)
    p.mu[8:] = 0.0
    # what must not turn can still leave the ground
    p.contact["angular"][8:] = 1
    p.q[36:] = 0.0
    # the contact beside it, between the same bodies
    for k, partner in ((8, 0), (9, 3), (10, 6)):
        p.contact["a"][k], p.contact["partner"][k] = p.contact["a"][partner], partner
        p.contact["frame"][k] = 0.05 * p.contact["frame"][partner]
        p.q[3 * k : 3 * k + 3] *= 0.05
    # moments about the normal alone, and one axis that must not turn
    p.contact["frame"][10, :6] = p.contact["frame"][13, :6] = 0.0
    p.q[30:32] = 0.0
    p.bound[11] = rng.choice([0.01, 0.3])
    return p


@pytest.mark.parametrize("few", [interior_work.FEW_ROWS, 0])
def test_moments_and_rows_that_must_not_move_obey_their_laws(few, monkeypatch):
    monkeypatch.setattr(interior_work, "FEW_ROWS", few)
    table, solved, close, full, turning = ladder.SETTINGS[[0, WARM]], 0, 0, 0, 0
    for seed in range(40):
        p = with_moments(seed)
        impulse, _, _ = found(p)
        work = memory_for(p, 4)
        bodies.prepare(p, work)
        _, _, error = ladder.solve_bodies(p, 1e-9, impulse, work, table)
        for k in (8, 9, 10):
            p.bound[k] = max(0.0, impulse[3 * p.contact["partner"][k] + 2])
            moment = np.linalg.norm(impulse[3 * k : 3 * k + 3])
            full += moment > 0.999 * p.bound[k] > 0.0
            turning += 0.0 < moment < 0.999 * p.bound[k]
        assert judge(p, impulse).residual == pytest.approx(error, rel=1e-7, abs=1e-12)
        solved += error <= 1e-9
        close += found(p)[2] <= 1e-5
    # some of the random problems are too hard for it
    assert solved >= 38
    assert close >= 38
    # both branches of the law of moments
    assert full > 5
    assert turning > 5


def test_a_ball_that_spins_on_its_point_stops_or_slows_down_by_its_moment():
    """One contact with its moments: u = λ/m + q and w = λ/I + r, in closed form."""
    omega = np.diag((50.0, 50.0, 50.0, 0.5, 0.5, 0.5))[None]
    for spin, expected in ((1.0, -0.02), (500.0, -2.0)):
        frame = np.array([np.eye(3).ravel()] * 2)
        p = bodies.problem(
            a=[0, 0], b=[-1, -1], frame=frame, arm_a=np.zeros((2, 3)), arm_b=np.zeros((2, 3)),
            start=[0, 1], column=[0], omega=omega, q=(0, 0, -1.0, 0, 0, spin), mu=[0.5, 0.0],
        )  # fmt: skip
        p.kind[1], p.contact["angular"][1], p.contact["partner"][1] = LIMITED, 1, 0
        impulse, _, error = found(p)
        assert error <= 1e-9
        assert impulse == pytest.approx((0, 0, 2.0, 0, 0, expected), abs=1e-7)


def test_factors_of_trees_are_left_alone():
    p, _ = pair(np.random.default_rng(0))
    work = bodies.allocate(len(p.mu), len(p.start) - 1)
    bodies.prepare(p, work)
    impulse = np.zeros(3 * len(p.mu))
    assert interior_point.solve(p, 1e-9, 60, impulse, work) == (0, np.inf)
    assert not impulse.any()


def test_the_best_impulses_are_kept_where_a_budget_ends_it():
    p = grounded(np.random.default_rng(1), 12)
    errors = []
    for iterations in (1, 3, 6, 60):
        impulse, done, error = found(p, iterations=iterations)
        assert done <= iterations
        assert judge(p, impulse).residual == pytest.approx(error, rel=1e-6, abs=1e-12)
        errors.append(error)
    assert errors == sorted(errors, reverse=True)
    _, done, _ = found(p, limit=1)
    assert done <= 1
