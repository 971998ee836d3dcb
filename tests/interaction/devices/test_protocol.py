"""What a device says of itself is checked."""

import pytest

from tabi._errors import ModelError
from tabi.interaction.devices.protocol import DeviceInfo


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"motion": 5}, "5 degrees of freedom in"),
        ({"wrench": 2}, "and 2 out"),
        ({"force_limit": 0.0}, "force limit of 0 N"),
        ({"force_limit": float("nan")}, "force limit of nan N"),
        ({"torque_limit": -1.0}, "torque limit of -1 N·m"),
        ({"rate": 0.0}, "at 0 Hz"),
        ({"upper": (0.1, -0.2, 0.1)}, "workspace from"),
    ],
)
def test_an_impossible_device_is_refused_by_its_name(given, told):
    with pytest.raises(ModelError, match=told) as error:
        DeviceInfo("pen", **given)
    assert "'pen'" in str(error.value)


def test_a_device_without_forces_needs_no_limit():
    assert DeviceInfo("mouse", motion=2, wrench=0, force_limit=0.0).rate == 1000.0
