"""Every kind of sensors has one kernel that measures it, and there are no others."""

import pytest

from tabi import ModelError
from tabi.model.sensor_kinds import SENSOR_KINDS
from tabi.step.sensors.kinds import TABLES, registered


def test_every_kind_with_values_is_measured_by_one_kernel():
    assert set(registered(TABLES)) == set(SENSOR_KINDS) - {"camera"}


def test_a_kind_without_a_kernel_is_refused():
    less = {name: table for name, table in TABLES.items() if not name.endswith("forces")}
    with pytest.raises(ModelError, match="sensor kind 'force' has no kernel that measures it"):
        registered(less)


def test_a_kernel_without_a_kind_and_two_of_one_kind_are_refused():
    with pytest.raises(ModelError, match="a kernel measures 'tilt', which is no sensor kind"):
        registered(TABLES | {"mine": {"tilt": None}})
    with pytest.raises(ModelError, match="kernel of sensor kind 'gyro' is in mine and in tabi"):
        registered({"mine": {"gyro": None}} | TABLES)
