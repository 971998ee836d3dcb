"""The list of attempts: their order, and the one that helped last."""

import numpy as np
import pytest
import scipy.linalg

from tabi.contact import bodies, budget, ladder, maps, twist_newton
from tabi.lab.family import stacks


def climb(p, impulse=None, helped=0, table=ladder.SETTINGS):
    """Iterations, attempt, error and memory of the list on a problem between bodies."""
    count = len(p.mu)
    impulse = np.zeros(3 * count) if impulse is None else impulse.copy()
    blocks = bodies.prepare(p, bodies.allocate(count, len(p.start) - 1, 0))
    work = bodies.allocate(count, len(p.start) - 1, blocks)
    bodies.prepare(p, work)
    work.budget[budget.HELPED] = helped
    return *ladder.solve_bodies(p, 1e-8, impulse, work, table), work


@pytest.mark.slow
def test_the_attempt_that_helped_is_tried_before_the_others():
    # without interior points, which solve all of these
    plain = ladder.SETTINGS[:, ladder.START] < ladder.BRIEF
    table = ladder.SETTINGS[plain]
    names = [name for name, kept in zip(ladder.NAMES[:-1], plain, strict=True) if kept]
    hard, first = 0, names.index("newton from zero")
    for seed in range(40):
        p = stacks.mass_ratio(np.random.default_rng(seed), seed)
        total, attempt, error, work = climb(p, table=table)
        assert error <= 1e-8
        assert work.budget[budget.HELPED] in (0, attempt)
        # "taking turns" goes on from what attempts before it met
        if attempt <= first + 1 or table[attempt, ladder.START] != ladder.ZERO:
            continue
        hard += 1
        again, same, error, work = climb(p, helped=attempt, table=table)
        assert (same, work.budget[budget.HELPED]) == (attempt, attempt)
        assert error <= 1e-8
        # what stands before it in the list is not done
        assert again < total
    assert hard >= 1


def test_an_attempt_that_does_not_help_any_more_is_tried_once():
    p = stacks.tower(np.random.default_rng(0), 0)
    _, attempt, _, _ = climb(p)
    # one sweep, and no more: hopeless
    hopeless = np.vstack([ladder.SETTINGS, ladder.SETTINGS[0]])
    hopeless[-1, [ladder.START, ladder.SWEEPS]] = ladder.ZERO, 1
    count = len(p.mu)
    work = bodies.allocate(count, len(p.start) - 1, 500)
    bodies.prepare(p, work)
    work.budget[budget.HELPED] = len(hopeless) - 1
    _, found, error = ladder.solve_bodies(p, 1e-8, np.zeros(3 * count), work, hopeless)
    assert error <= 1e-8
    assert found == attempt


# a body of 1.5 kg that lies on three points of a rough ground; from random worlds, where Newton's
# steps turned two of its forces round their cones for ninety iterations
TANGENTS = [
    [0.976694814448, 0.080464182901, -0.198979282086],
    [0.954920663472, 0.017807049447, -0.296326568948],
    [0.939531949628, 0.101364936144, 0.327115981493],
]
NORMALS = [
    [0.214632801383, -0.366155357812, 0.905462873074],
    [0.296861123211, -0.057280385145, 0.953201149288],
    [-0.342461261499, 0.278091588117, 0.897432645378],
]
ARMS = [
    [-0.056061439095, 0.177961967714, -0.073873826496],
    [-0.154059942167, -0.075423230844, -0.104151618398],
    [0.086319017597, -0.175438361689, -0.045178508127],
]
TURNING = [
    [85.196058375028, 0.986971179148, 8.104987802159],
    [0.986971179148, 89.748315062876, 1.021582780922],
    [8.104987802159, 1.021582780922, 55.469825484583],
]
FREE = [
    [0.001951978650404, -0.003677692672928, -0.008882589903591],
    [0.002906962125138, -0.000588449562926, -0.009350911342223],
    [-0.003209007710283, 0.002903659572661, -0.008803811962659],
]


def test_newton_does_not_stay_where_forces_turn_round_their_cones():
    frames = [[*t, *np.cross(n, t), *n] for t, n in zip(TANGENTS, NORMALS, strict=True)]
    p = bodies.problem(
        a=np.zeros(3, int),
        b=np.full(3, -1),
        frame=np.array(frames),
        arm_a=np.array(ARMS),
        arm_b=np.zeros((3, 3)),
        start=np.array([0, 1]),
        column=np.array([0]),
        omega=scipy.linalg.block_diag(TURNING, 0.649501128797 * np.eye(3))[None],
        q=np.ravel(FREE),
        mu=np.full(3, 0.446492434448),
    )
    impulse, work = np.zeros(9), bodies.allocate(3, 1, 1)
    bodies.prepare(p, work)
    # six steps in which the error stays, and one that ends it
    done, error = twist_newton.solve(p, maps.ALART_CURNIER, 1.0, 1e-6, 1e-8, 100, impulse, work)
    assert error <= 1e-8
    assert done <= 20


def test_a_brief_newton_comes_before_interior_points_where_there_was_a_warm_start():
    starts = ladder.SETTINGS[:, ladder.START].tolist()
    brief = starts.index(ladder.BRIEF)
    assert starts[brief + 1] == ladder.MIDDLE
    for cold in (False, True):
        for inside in (False, True):
            out = ladder.left_out(ladder.SETTINGS, brief, cold, False, inside)
            assert out == (cold or not inside)
