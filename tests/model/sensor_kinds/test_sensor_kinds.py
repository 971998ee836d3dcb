"""Kinds of sensors register themselves; one that contradicts itself or another is refused."""

import pytest

from tabi import ModelError, _registered
from tabi.model.sensor_kinds import SENSOR_KINDS, SensorKind, registered


def test_every_kind_has_a_name_of_its_own_and_says_what_it_measures():
    assert set(SENSOR_KINDS) == {
        *("imu", "gyro", "accelerometer", "orientation", "encoder", "torque", "effort"),
        *("force", "touch", "switch", "plate", "camera"),
    }
    assert all(kind.name == name for name, kind in SENSOR_KINDS.items())
    assert all(kind.parts for name, kind in SENSOR_KINDS.items() if name != "camera")
    # what is felt across a joint is felt while bodies move
    assert all(kind.feels_motion for kind in SENSOR_KINDS.values() if kind.feels_forces)


def test_two_of_one_name_are_refused():
    own = SensorKind("gyro", {"gyro": 3})
    with pytest.raises(ModelError, match="sensor kind 'gyro' is in a and in b; give one"):
        registered({"a": (own,), "b": (own,)})


def test_a_unit_of_nothing_and_a_part_without_values_are_refused():
    with pytest.raises(ModelError, match="gives a unit of 'speed', which it does not measure"):
        registered({"a": (SensorKind("fan", {"flow": 1}, {"speed": "m/s"}),)})
    with pytest.raises(ModelError, match="sensor kind 'fan' in a has a part without values"):
        registered({"a": (SensorKind("fan", {"flow": 0}),)})


def test_names_are_sorted_whatever_the_order_of_modules():
    found = [("b", "one", 1), ("a", "two", 2)]
    assert list(_registered.by_name("thing", found).items()) == [("a", 2), ("b", 1)]
