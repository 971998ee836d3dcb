"""Places, shapes and surfaces that are given for things of a world."""

import numpy as np
import pytest

import tabi
from tabi.model import placing


def test_three_numbers_are_an_array_and_anything_else_is_refused():
    assert placing.three("speed", (1, 2, 3), "m/s").tolist() == [1.0, 2.0, 3.0]
    for wrong in (1.0, (1, 2), (1, 2, np.nan), "fast", None):
        with pytest.raises(tabi.ModelError, match=r"speed is .*; expected three finite numbers"):
            placing.three("speed", wrong, "m/s")


def test_a_shape_may_be_as_large_as_what_moves():
    placing.check_geometry("a", tabi.Box((100.0, 1.0, 1.0)), 100.0)
    with pytest.raises(tabi.ModelError, match=r"did you mean millimetres, 0.101 m\?"):
        placing.check_geometry("a", tabi.Capsule(0.1, 101.0), 100.0)


def test_a_place_is_turned_and_moved():
    X = placing.checked_pose("a", (0.0, 0.0, 0.0, 2.0), (1.0, 2.0, 3.0))
    assert X.p.tolist() == [1.0, 2.0, 3.0]
    assert X.R[:, 0] == pytest.approx([-1.0, 0.0, 0.0])
