"""Commands are values: what a person does to an array afterwards does not reach into them."""

import dataclasses

import numpy as np
import pytest

from tabi.model.signals import Command, Measurement
from tabi.spatial.transform import Transform
from tabi.spatial.twist import Twist


def test_a_command_keeps_copies():
    array, by_name, listed = np.zeros(3), {"a": 1.0}, [1.0, 2.0]
    command = Command(position=array, effort=by_name, kp=listed)
    array[0], by_name["a"], listed[0] = 7.0, 7.0, 7.0
    assert command.position[0] == 0.0
    assert command.effort["a"] == 1.0
    assert command.kp[0] == 1.0


def test_a_command_cannot_be_changed():
    command = Command(position=np.zeros(3), effort={"a": 1.0})
    with pytest.raises(ValueError, match="read-only"):
        command.position[0] = 1.0
    with pytest.raises(TypeError):
        command.effort["a"] = 2.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        command.position = np.ones(3)
    assert command.position[0] == 0.0


def test_what_is_not_said_is_none():
    assert [getattr(Command(), f.name) for f in dataclasses.fields(Command)] == [None] * 5


def test_a_measurement_without_feet_has_no_forces():
    seen = Measurement(
        np.zeros(1), np.zeros(1), np.zeros(1), Transform(), Twist(np.zeros(3), np.zeros(3))
    )
    assert dict(seen.forces) == {}
