"""A hand gets no more force, no faster, than it may."""

import numpy as np
import pytest

from tabi._errors import ModelError
from tabi.interaction.devices.protocol import DeviceInfo
from tabi.interaction.force_guard import ForceGuard, HapticLimits

ZERO, DT = np.zeros(3), 1e-3
PEN = DeviceInfo("pen", wrench=6, force_limit=5.0, torque_limit=0.2)


def guarded(limits, wanted, periods, info=PEN, torque=ZERO):
    guard = ForceGuard(limits, info)
    guard.begin(0.0)
    return np.array([guard.guard(wanted, torque, DT * k, DT)[0] for k in range(periods)])


def test_it_rises_evenly_to_what_is_asked_for():
    f = np.array([1.0, -2.0, 0.5])
    found = guarded(HapticLimits(ramp=0.1), f, 200)
    rise = np.minimum(DT * np.arange(200) / 0.1, 1.0)
    np.testing.assert_allclose(found, np.outer(rise, f), atol=1e-12)


def test_no_force_is_larger_than_the_smaller_limit():
    f = np.array([300.0, 400.0, 0.0])
    np.testing.assert_allclose(guarded(HapticLimits(), f, 600)[-1], [3.0, 4.0, 0.0])
    np.testing.assert_allclose(guarded(HapticLimits(force=1.0), f, 600)[-1], [0.6, 0.8, 0.0])
    np.testing.assert_allclose(guarded(HapticLimits(force=90.0), f, 600)[-1], [3.0, 4.0, 0.0])


def test_no_force_changes_faster_than_the_slew():
    guard, rng = ForceGuard(HapticLimits(slew=100.0, ramp=1e-6), PEN), np.random.default_rng(0)
    guard.begin(0.0)
    before = ZERO
    for k in range(1, 300):
        after, _ = guard.guard(rng.normal(scale=9.0, size=3), ZERO, DT * k, DT)
        assert np.linalg.norm(after - before) <= 100.0 * DT + 1e-12
        assert np.linalg.norm(after) <= 5.0 + 1e-12
        before = after


def test_a_stop_is_at_once_and_a_beginning_slow():
    guard, f = ForceGuard(HapticLimits(ramp=0.1), PEN), np.array([1.0, 0.0, 0.0])
    guard.begin(0.0)
    guard.guard(f, ZERO, 0.2, DT)
    guard.stop()
    assert not guard.guard(f, ZERO, 0.3, DT)[0].any()
    guard.begin(0.4)
    np.testing.assert_allclose(guard.guard(f, ZERO, 0.41, DT)[0], 0.1 * f)


def test_torques_have_their_own_limit():
    guard = ForceGuard(HapticLimits(ramp=1e-6, slew=1e9), PEN)
    guard.begin(0.0)
    _, torque = guard.guard(ZERO, np.array([0.0, 7.0, 0.0]), 1.0, DT)
    np.testing.assert_allclose(torque, [0.0, 0.2, 0.0])


@pytest.mark.parametrize(("wrench", "force", "torque"), [(0, 0, 0), (1, 5, 0), (3, 5, 0)])
def test_a_device_gets_what_it_can_give(wrench, force, torque):
    info = DeviceInfo("pad", wrench=wrench, torque_limit=0.3)
    guard = ForceGuard(HapticLimits(ramp=1e-6, slew=1e9), info)
    guard.begin(0.0)
    f, t = guard.guard(np.array([9.0, 0.0, 0.0]), np.ones(3), 1.0, DT)
    np.testing.assert_allclose([f[0], np.linalg.norm(t)], [force, torque])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused(bad):
    guard = ForceGuard(HapticLimits(), PEN)
    guard.begin(0.0)
    with pytest.raises(ValueError, match="not finite"):
        guard.guard(np.array([0.0, bad, 0.0]), ZERO, 1.0, DT)


@pytest.mark.parametrize("name", ["force", "torque", "slew", "ramp", "age", "retry"])
@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_impossible_limits_are_refused(name, bad):
    with pytest.raises(ModelError, match=f"{name} of the limits"):
        HapticLimits(**{name: bad})
