"""What is said of a step that missed, whatever it missed."""

from types import SimpleNamespace

import numpy as np
import pytest

import tabi
from tabi.simulation import faults


def seen(residual, joints):
    report = {"residual": residual, "joint_residual": joints, "work": 10}
    return SimpleNamespace(
        outcome=SimpleNamespace(report=[report]),
        contact=np.zeros(0),
        tables=SimpleNamespace(limits=np.array([100])),
        reproducible=True,
        tolerance=1e-8,
        time=0.5,
        dt=1e-3,
    )


def test_the_error_is_the_larger_one_of_contacts_and_joints_and_a_nan_stays():
    assert faults.error_of(seen(1e-3, 2e-3)) == 2e-3
    assert faults.error_of(seen(3e-3, 2e-3)) == 3e-3
    assert np.isnan([faults.error_of(seen(np.nan, 1.0)), faults.error_of(seen(1.0, np.nan))]).all()


def test_a_miss_without_contacts_or_with_work_left_blames_neither():
    with pytest.warns(tabi.MissedStepWarning, match=r"to 0.5 s .*without contacts") as said:
        faults.warn(seen(0.0, 1e-3))
    assert "budget" not in str(said[0].message)
    assert "0.001 m/s" in str(said[0].message)
