"""The divergent component of a plan, against its differential equation."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tabi.walking.plan.dcm_plan import at_landing, before

OMEGA = 3.5


def after(time, p0, p1, start):
    """ξ after ξ̇ = ω (ξ − p), p going evenly from p0 to p1, by an integrator."""
    solved = solve_ivp(
        lambda t, xi: OMEGA * (xi - p0 - (p1 - p0) * t / time),
        (0.0, time),
        [start],
        rtol=1e-11,
        atol=1e-13,
    )
    return solved.y[0, -1]


@pytest.mark.parametrize(("p0", "p1"), [(0.1, 0.1), (0.0, 0.2), (0.3, -0.1)])
def test_what_begins_a_phase_leads_to_its_end(p0, p1):
    start = before(OMEGA, 0.4, p0, p1, 0.25)
    # the integrator's own tolerance, grown by e^(ωt) ≈ 4
    assert after(0.4, p0, p1, start) == pytest.approx(0.25, abs=1e-9)


def test_a_phase_without_time_changes_nothing():
    assert before(OMEGA, 0.0, 0.1, 0.3, 0.25) == 0.25


def test_from_a_landing_it_leads_over_all_steps_to_rest_between_the_feet():
    under = np.zeros((6, 2))
    under[:4, 0], under[:4, 1] = [0.0, 0.2, 0.4, 0.4], [0.1, -0.1, 0.1, -0.1]
    under[4] = 0.5 * (under[2] + under[3])
    single, double, last = 0.7, 0.1, 0.6
    for axis in range(2):
        xi = at_landing(under, 3, True, OMEGA, single, double, last, axis)
        for k in (1, 2):
            xi = after(double, under[k - 1, axis], under[k, axis], xi)
            xi = after(single, under[k, axis], under[k, axis], xi)
        xi = after(last, under[2, axis], under[4, axis], xi)
        # e^(ω · 2.2 s) ≈ 2200 times the integrator's tolerance
        assert xi == pytest.approx(under[4, axis], abs=1e-6)


def test_steps_far_ahead_hardly_matter():
    under = np.zeros((6, 2))
    under[:4, 0] = [0.0, 0.2, 0.4, 0.6]
    told = [at_landing(under, 3, False, OMEGA, 0.7, 0.1, 0.6, 0)]
    under[3, 0] = 0.8
    told.append(at_landing(under, 3, False, OMEGA, 0.7, 0.1, 0.6, 0))
    # two steps of 0.8 s lie between: e^(−ω · 1.6 s) of 0.2 m, and not nothing
    assert 0.0 < told[1] - told[0] < 0.2 * np.exp(-OMEGA * 1.6) * 1.01
