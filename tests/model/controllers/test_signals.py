"""Commands are values: what a person does to an array afterwards does not reach into them."""

import dataclasses

import numpy as np
import pytest

import tabi
from tabi.model.controllers.signals import Command, Measurement, Truth
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
    assert [getattr(Command(), f.name) for f in dataclasses.fields(Command)] == [None] * 6


def test_a_measurement_tells_the_truth_only_on_request():
    seen = Measurement(np.zeros(1), np.zeros(1), np.zeros(1))
    assert dict(seen.sensors) == {}
    for what in ("base", "base_velocity", "forces"):
        with pytest.raises(tabi.ModelError, match=f"no sensor of the robot measures {what!r}"):
            getattr(seen, what)
    truth = Truth(Transform(), Twist(np.zeros(3), np.zeros(3)))
    seen = Measurement(np.zeros(1), np.zeros(1), np.zeros(1), {"imu": np.ones(6)}, truth)
    assert seen.base is truth.base
    assert seen.base_velocity is truth.base_velocity
    assert dict(seen.forces) == {}
    assert seen.sensors["imu"].tolist() == [1.0] * 6
