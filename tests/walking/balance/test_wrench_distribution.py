"""Wrenches of the feet: the optimum of the convex problem that the file states, written down here
once more and given to SciPy.
"""

import numpy as np
import pytest
from scipy.optimize import minimize

import tabi
from tabi.walking.balance.course import update_soles
from tabi.walking.balance.stabiliser import distribute_load
from tabi.walking.balance.stabiliser_tables import DcmStabiliser, loop_of
from tabi.walking.balance.wrench_distribution import (
    DEVIATION_WEIGHT,
    LOAD_SHIFT_LENGTH,
    MIN_LOAD_SHARE,
    centre_of_pressure,
)
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import walk
from tabi.walking.plan.pattern import walking_pattern

LEFT = 0


@pytest.fixture(scope="module")
def pattern():
    biped = Biped(tabi.robots.hrp2(bush=True))
    return walking_pattern(biped, walk(biped.stance, 3, 0.2, turn=0.1))


def ticks(pattern):
    """In both double supports and in a single one."""
    plan = pattern.schedule
    return {"start": 20, "both": plan.lift[1] - 8, "one": plan.lift[1] + 30}


def stated(loop, k):
    """(1) and (2): a function of the wrenches of the feet that stand, bounds, and which feet."""
    ref, s = loop.reference, loop.settings[0]
    feet = [0, 1] if ref.support[k] == 0 else [int(ref.support[k]) - 1]
    zmp, plan = loop.zmp.copy(), ref.zmp[k]
    F = np.array([*((loop.centre[:2] - zmp[:2]) / s["height"]), 1.0])
    F_plan = np.array([*((ref.centre[k, :2] - plan[:2]) / s["height"]), 1.0])

    def cost(w):
        force, moment, own = np.zeros(3), np.zeros(3), 0.0
        for i, side in enumerate(feet):
            R, p = ref.rotation[k, side].reshape(3, 3), ref.position[k, side]
            f, n = w[5 * i : 5 * i + 3], np.array([*w[5 * i + 3 : 5 * i + 5], 0.0])
            force += R @ f
            moment += R @ n + np.cross(p - zmp, R @ f)
            t = (n - np.cross(loop.pivot[side], f))[:2]
            share = ref.share[k, side]
            gap = t - loop.planned[side] / s["weight"]
            own += gap @ gap / max(share, MIN_LOAD_SHARE)
            gap = f - share * R.T @ F_plan
            own += LOAD_SHIFT_LENGTH**2 * gap @ gap
        gap = force - F
        net = moment[:2] @ moment[:2] + s["height"] ** 2 * gap @ gap
        return 0.5 * (net + DEVIATION_WEIGHT**2 * own)

    def bounds(w):
        rows = []
        for i, side in enumerate(feet):
            fx, fy, fz, nx, ny = w[5 * i : 5 * i + 5]
            x0, x1, y0, y1 = loop.box[side] + s["margin"] * np.array([1, -1, 1, -1])
            rows += [-ny - x0 * fz, x1 * fz + ny, nx - y0 * fz, y1 * fz - nx]
            rows += [s["friction"] * fz - sign * f for f in (fx, fy) for sign in (1, -1)]
        return np.array(rows)

    return cost, bounds, feet


@pytest.mark.slow
@pytest.mark.parametrize("when", ["start", "both", "one"])
def test_it_is_the_optimum_of_the_convex_problem(pattern, when):
    rng, k = np.random.default_rng(7), ticks(pattern)[when]
    reached = 0
    for _ in range(12):
        loop = loop_of(pattern, DcmStabiliser(friction=0.1))
        loop.centre[:3] = pattern.centre[k] + 0.05 * rng.normal(size=3)
        loop.zmp[:] = loop.reference.zmp[k] + (*(0.1 * rng.normal(size=2)), 0.0)
        update_soles(loop, k)
        distribute_load(loop, k)
        cost, bounds, feet = stated(loop, k)
        own = loop.distribution.wrench[feet].ravel()
        # inside of the bounds, but for rounding
        assert bounds(own).min() > -1e-9
        reached += bounds(own).min() < 1e-9
        assert loop.distribution.iterations[0] < 40
        theirs = minimize(
            cost,
            own + 1e-3 * rng.normal(size=len(own)),
            constraints={"type": "ineq", "fun": bounds},
            method="SLSQP",
            options={"ftol": 1e-16, "maxiter": 500},
        )
        # nothing that satisfies the bounds is better, beyond rounding and their own tolerance
        if bounds(theirs.x).min() > -1e-9:
            assert cost(own) <= theirs.fun + 1e-10
        assert cost(own) == pytest.approx(theirs.fun, rel=1e-3, abs=1e-8)
    # most of these wishes are beyond some bound
    assert reached >= 6


@pytest.mark.parametrize("when", ["start", "both", "one"])
def test_what_is_planned_comes_out_where_it_is_wished(pattern, when):
    k = ticks(pattern)[when]
    loop = loop_of(pattern, DcmStabiliser(margin=0.0))
    loop.centre[:3], loop.zmp[:] = loop.reference.centre[k], loop.reference.zmp[k]
    update_soles(loop, k)
    distribute_load(loop, k)
    assert loop.wanted[:, 0] == pytest.approx(pattern.share[k], abs=1e-6)
    weight = loop.settings["weight"][0]
    assert loop.wanted[:, 1:] / weight == pytest.approx(loop.planned / weight, abs=1e-6)
    assert centre_of_pressure(loop, k) == pytest.approx(pattern.zmp[k], abs=1e-6)


def test_one_foot_presses_at_its_edge_where_more_is_wished(pattern):
    k = ticks(pattern)["one"]
    loop = loop_of(pattern, DcmStabiliser(margin=0.01))
    side = int(loop.reference.support[k]) - 1
    R, p = pattern.schedule.rotation[k, side], pattern.schedule.position[k, side]
    far = np.array([0.3, 0.0, 0.0])
    loop.zmp[:] = p + R @ far
    loop.centre[:3] = loop.zmp
    loop.centre[2] += 0.8
    update_soles(loop, k)
    distribute_load(loop, k)
    pressed = R.T @ (np.array([*centre_of_pressure(loop, k), p[2]]) - p)
    # the sole's front edge less its margin
    assert pressed[0] == pytest.approx(0.135 - 0.01, abs=1e-9)
    # full weight against 17 cm: the optimum gives up a few per cent of it
    assert loop.wanted[side, 0] == pytest.approx(1.0, abs=0.05)
    assert loop.wanted[1 - side] == pytest.approx([0.0, 0.0, 0.0])


def test_load_goes_to_the_foot_towards_which_the_zero_moment_point_is_wished(pattern):
    k, shares = ticks(pattern)["start"], []
    for shift in (-0.05, 0.0, 0.05):
        loop = loop_of(pattern, DcmStabiliser())
        loop.centre[:3] = loop.reference.centre[k]
        loop.zmp[:] = loop.reference.zmp[k] + (0.0, shift, 0.0)
        update_soles(loop, k)
        distribute_load(loop, k)
        shares.append(loop.wanted[LEFT, 0])
        # a small wish counts less than the wrench: ε² of it
        assert centre_of_pressure(loop, k)[1] == pytest.approx(loop.zmp[1], abs=1e-4)
    # ankles that bear no more, 0.19 m apart and 0.105 m high: the horizontal force turns with the
    # wish and moves what each sole presses by 0.105/h of it, load does the rest; ankles bear what
    # ℓ leaves to them, 2 ℓ²/0.19² = 2 %
    rest = 0.05 * (1.0 - 0.105 / pattern.gait.centre_height) / 0.19
    assert np.diff(shares) == pytest.approx([rest, rest], rel=0.03)
