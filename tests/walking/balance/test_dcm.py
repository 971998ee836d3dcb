"""The law of the wanted zero moment point: its poles are those that were asked for, an integral
takes a constant push away, and does not wind up.
"""

import numpy as np
import pytest

import tabi
from tabi.walking.balance import dcm
from tabi.walking.balance.course import update_soles
from tabi.walking.balance.stabiliser_tables import DcmStabiliser, Stabiliser, loop_of
from tabi.walking.plan.biped import Biped
from tabi.walking.plan.footsteps import walk
from tabi.walking.plan.pattern import walking_pattern


@pytest.fixture(scope="module")
def pattern():
    return walking_pattern(Biped(tabi.robots.hrp2(bush=True)), [])


def closed_loop(omega, lag, poles, leak):
    """Of (ξ, p, i), equations (1) and (2)."""
    k_xi, k_z, k_i = dcm.feedback(omega, lag, poles, leak)
    return np.array(
        [[omega, -omega, 0.0], [k_xi / lag, (k_z - 1.0) / lag, k_i / lag], [1.0, 0.0, -leak]]
    )


@pytest.mark.parametrize("leak", [0.0, 0.02, 1.5])
@pytest.mark.parametrize("poles", [(10.0, 6.0, 1.0), (30.0, 3.5, 0.2), (4.0, 5.0, 6.0)])
@pytest.mark.parametrize(("omega", "lag"), [(3.52, 0.035), (4.5, 0.2)])
def test_eigenvalues_of_the_closed_loop_are_the_poles(omega, lag, poles, leak):
    found = np.sort(np.linalg.eigvals(closed_loop(omega, lag, poles, leak)).real)
    # rounding of a matrix with entries of some 1000
    assert found == pytest.approx(np.sort(-np.array(poles)), abs=1e-8)


def test_a_constant_push_leaves_what_leaks():
    omega, lag, poles, push = 3.52, 0.035, (10.0, 6.0, 1.0), np.array([0.1, 0.0, 0.0])
    for leak in (0.0, 0.5):
        rest = -np.linalg.solve(closed_loop(omega, lag, poles, leak), push)
        a = leak - omega - sum(poles)
        assert rest[0] == pytest.approx(-a * leak * push[0] / np.prod(poles), abs=1e-12)
        # held by a zero moment point beyond it
        assert rest[1] - rest[0] == pytest.approx(push[0] / omega)


def test_hirukawas_law_is_the_one_without_zmp_and_integral(pattern):
    row = loop_of(pattern, Stabiliser(inclination=3.0)).settings[0]
    assert (row["inclination"], row["zmp_feedback"], row["integral"]) == (3.0, 0.0, 0.0)
    row = loop_of(pattern, DcmStabiliser()).settings[0]
    own = DcmStabiliser()
    gains = dcm.feedback(pattern.omega, own.lag, own.poles, own.leak)
    assert (row["inclination"], row["zmp_feedback"], row["integral"]) == gains


def test_the_zero_moment_point_is_where_the_feet_press():
    biped = Biped(tabi.robots.hrp2())
    pattern = walking_pattern(biped, walk(biped.stance, 3, 0.2, turn=0.2))
    loop, rng = loop_of(pattern, DcmStabiliser()), np.random.default_rng(0)
    k = pattern.count - 1
    force, moment, z = np.zeros(3), np.zeros(3), pattern.schedule.zmp[k, 2]
    for side in range(2):
        R, p = pattern.schedule.rotation[k, side], pattern.schedule.position[k, side]
        f, n = rng.normal(size=3) * 30 + (0, 0, 280), rng.normal(size=3) * 10
        loop.smooth_wrench[side] = np.concatenate([f, n])
        force += R @ f
        moment += R @ n + np.cross(p + R @ loop.pivot[side], R @ f)
    update_soles(loop, k)
    found = np.array([*dcm.measured_zmp(loop, k), z])
    # by its definition: no moment about horizontal axes
    assert (moment - np.cross(found, force))[:2] == pytest.approx([0.0, 0.0], abs=1e-9)
    loop.smooth_wrench[:], loop.zmp[:2] = 0.0, (0.3, 0.4)
    assert dcm.measured_zmp(loop, k) == (0.3, 0.4)


def test_what_is_as_planned_is_wanted_as_planned(pattern):
    loop = loop_of(pattern, DcmStabiliser())
    k, weight = 10, loop.settings["weight"][0]
    loop.centre[:3], loop.centre[3:] = pattern.centre[k], pattern.centre_velocity[k]
    for side in range(2):
        # each foot presses where the plan's zero moment point is
        at = np.array([*pattern.zmp[k], 0.0]) - pattern.schedule.position[k, side]
        f = np.array([0.0, 0.0, 0.5 * weight])
        loop.smooth_wrench[side] = [*f, *np.cross(at - loop.pivot[side], f)]
    dcm.compute_zmp(loop, k)
    assert loop.zmp[:2] == pytest.approx(pattern.zmp[k], abs=1e-12)
    # 10 mm of the divergent component count k_ξ times
    loop.centre[0] += 0.01
    dcm.compute_zmp(loop, k)
    wanted = pattern.zmp[k, 0] + 0.01 * loop.settings["inclination"][0]
    assert loop.zmp[0] == pytest.approx(wanted, abs=1e-12)


def test_the_integral_stops_where_feet_cannot_follow_and_comes_back_at_once(pattern):
    loop = loop_of(pattern, DcmStabiliser(leak=0.0))
    loop.error[:], loop.zmp[:2] = (0.02, 0.02), (0.5, 0.0)
    for _ in range(100):
        # at x the edge is at 0.1 m, at y there is room
        dcm.integrate_error(loop, (0.1, 0.0))
    # 0.5 s of 20 mm
    assert loop.error_integral == pytest.approx([0.0, 0.01])
    loop.error[:] = (-0.02, 0.0)
    dcm.integrate_error(loop, (0.1, 0.0))
    assert loop.error_integral[0] == pytest.approx(-0.02 * 0.005)


def test_the_integral_forgets_at_its_leak(pattern):
    loop = loop_of(pattern, DcmStabiliser(leak=0.5))
    loop.error_integral[:] = (0.01, 0.0)
    for _ in range(400):
        dcm.integrate_error(loop, (0.0, 0.0))
    # two seconds; a tick's explicit step is off by λ² T t/2
    assert loop.error_integral[0] == pytest.approx(0.01 * np.exp(-1.0), rel=2e-3)
