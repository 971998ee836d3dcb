"""Gains and frictions of a joint from logs (``identification.joint_identification``): motions in
closed form whose torques are those of the law, with noise.
"""

import numpy as np
import pytest

from tabi.identification.damped_oscillation import IdentificationError
from tabi.identification.joint_identification import Log, identify

TRUTH = {"kp": 400.0, "kd": 12.0, "viscous": 1.5, "dry": 0.8, "inertia": 0.3}
WEIGHT = 4.0


def log(rng=None, side="motor", seconds=10.0, slides=False):
    """A joint that swings with two frequencies. What its command must have been follows from the
    torque that the motion takes: the command is made so that the loop gives it.
    """
    t = np.arange(0.0, seconds, 1e-3)
    w, p = (1.3, 4.1), (0.8, 0.2)
    q = sum(a * np.sin(f * t) for a, f in zip(p, w, strict=True))
    v = sum(a * f * np.cos(f * t) for a, f in zip(p, w, strict=True))
    acc = sum(-a * f * f * np.sin(f * t) for a, f in zip(p, w, strict=True))
    rub = TRUTH["viscous"] * v + TRUTH["dry"] * np.sign(v)
    motor = TRUTH["inertia"] * acc + rub + (WEIGHT if slides else WEIGHT * np.sin(q))
    rate = v + 0.3 * np.sin(7.0 * t)
    command = q + (motor - TRUTH["kd"] * (rate - v)) / TRUTH["kp"]
    torque = motor if side == "motor" else motor - rub
    if rng is not None:
        torque = torque + 0.3 * rng.normal(size=len(t))
        v = v + 0.002 * rng.normal(size=len(t))
        q = q + 1e-5 * rng.normal(size=len(t))
    return Log(t, q, v, command, rate, torque)


@pytest.mark.parametrize("slides", [False, True])
@pytest.mark.parametrize("side", ["motor", "joint"])
def test_without_noise_the_numbers_are_those_of_the_law(side, slides):
    found = identify(log(side=side, slides=slides), side, slides).estimates
    assert set(found) == set(TRUTH) - ({"inertia"} if side == "joint" else set())
    for name, one in found.items():
        # the difference quotient for the acceleration errs by (ω h)²/6
        assert one.value == pytest.approx(TRUTH[name], rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("side", ["motor", "joint"])
def test_intervals_hold_the_truth_in_90_of_100_noisy_trials(side):
    rng = np.random.default_rng(11)
    held = dict.fromkeys(TRUTH, 0)
    for _ in range(100):
        for name, one in identify(log(rng, side), side).estimates.items():
            held[name] += one.holds(TRUTH[name])
    if side == "joint":
        del held["inertia"]
    assert min(held.values()) >= 90, held


def test_a_loop_that_is_told_no_velocity_hides_kd_behind_viscous_friction():
    one = log(side="joint")
    still = Log(one.time, one.position, one.velocity, one.command, 0 * one.time, one.torque)
    with pytest.raises(IdentificationError, match="cannot separate kd from viscous"):
        identify(still, "joint")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"time": slice(0, 20)}, "has 20 samples; expected 40 or more"),
        ({"velocity": 0.0}, "stands still all the time"),
        ({"reverse": True}, "times do not grow"),
    ],
)
def test_logs_that_tell_nothing_are_refused(change, words):
    one = log()
    parts = [one.time, one.position, one.velocity, one.command, one.command_velocity, one.torque]
    if "time" in change:
        parts = [x[:20] for x in parts]
    if "velocity" in change:
        parts[2] = 0 * parts[2]
    if "reverse" in change:
        parts[0] = parts[0][::-1]
    with pytest.raises(IdentificationError, match=words):
        identify(Log(*parts))
    with pytest.raises(IdentificationError, match="'motor' or 'joint'"):
        identify(one, "gear")
