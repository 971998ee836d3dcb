"""Preview control: the zero moment point follows, at the least cost."""

import numpy as np
import pytest

import tabi
from tabi.walking.plan.preview import Preview

HEIGHT, TICK = 0.8, 0.005


def steps(count=6, length=0.2, period=0.8):
    """A staircase, as zero moment points are."""
    ticks = np.arange(round((count + 8) * period / TICK))
    return length * np.clip(np.floor(ticks * TICK / period) - 4, 0, count)


def test_the_zero_moment_point_follows_steps_within_millimetres():
    preview, p = Preview(HEIGHT, TICK), steps()
    motion = preview.follow(p)
    error = preview.zero_moment_point(motion) - p
    # away from the jumps, which no finite jerk can follow
    jump = np.flatnonzero(np.diff(p))
    near = np.any(np.abs(np.arange(len(p))[:, None] - jump[None]) < 20, axis=1)
    assert np.abs(error[~near]).max() < 0.01
    assert np.sqrt(np.mean(error**2)) < 0.02
    # it ends at rest above the last one
    assert np.allclose(motion[-1], [p[-1], 0.0, 0.0], atol=2e-3)


def test_motion_is_that_of_its_own_jerks():
    preview = Preview(HEIGHT, TICK)
    x = preview.follow(steps())
    jerk = np.diff(x[:, 2]) / TICK
    assert np.allclose(x[1:, 1], x[:-1, 1] + TICK * x[:-1, 2] + 0.5 * TICK**2 * jerk, atol=1e-12)
    expected = x[:-1, 0] + TICK * x[:-1, 1] + 0.5 * TICK**2 * x[:-1, 2] + TICK**3 / 6 * jerk
    assert np.allclose(x[1:, 0], expected, atol=1e-12)


def test_it_leans_before_it_steps_and_not_before_it_knows():
    preview, p = Preview(HEIGHT, TICK, ahead=1.0), np.zeros(800)
    p[500:] = 0.2
    x = preview.follow(p)[:, 0]
    # nothing is known of the step more than a second before it
    assert np.abs(x[: 500 - 200]).max() < 1e-12
    assert x[490] > 0.02


def test_a_standing_reference_leaves_it_at_rest():
    motion = Preview(HEIGHT, TICK).follow(np.full(200, 0.3))
    assert np.allclose(motion, [0.3, 0.0, 0.0], atol=1e-9)


def test_gains_make_the_sum_of_costs_least():
    # the least of a sum of squares is found by any optimiser: here by normal equations
    preview = Preview(HEIGHT, 0.02, ahead=2.4, error=1.0, jerk=1e-5)
    p = np.zeros(240)
    p[120:] = 0.1
    x = preview.follow(p)
    n, A, b, c = len(p), preview.A, preview.b, preview.c
    free, answer = np.zeros((n, 3)), np.zeros((n, n))
    for k in range(1, n):
        free[k] = A @ free[k - 1]
    power = [b]
    for _ in range(n):
        power.append(A @ power[-1])
    for k in range(1, n):
        for i in range(k):
            answer[k, i] = c @ power[k - 1 - i]
    sums = np.tril(np.ones((n, n)))
    L = sums @ answer
    u = np.linalg.solve(L.T @ L + 1e-5 * np.eye(n), L.T @ (sums @ p))
    best = np.array([sum(power[k - 1 - i][0] * u[i] for i in range(k)) for k in (100, 120, 140)])
    # the horizon of the sum is finite there, and the preview is cut: both beyond these ticks
    assert np.allclose(x[[100, 120, 140], 0], best, atol=2e-4)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Preview(0.0), "height of a preview is 0.0"),
        (lambda: Preview(0.8, tick=-1.0), "tick of a preview is -1.0"),
        (lambda: Preview(0.8, jerk=np.nan), "jerk of a preview is nan"),
        (lambda: Preview(0.8).follow([]), r"has shape \(0,\); expected finite numbers"),
        (lambda: Preview(0.8).follow([0.0, np.nan]), "expected finite numbers"),
        (
            lambda: Preview(0.8).follow([0.0], (1.0,)),
            "expected position, velocity and acceleration",
        ),
    ],
)
def test_faults_are_named(call, words):
    with pytest.raises(tabi.ModelError, match=words):
        call()
