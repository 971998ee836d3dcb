"""The adapter for Force Dimension against a library that notes what it is asked."""

import sys
import types

import numpy as np
import pytest

from tabi.interaction.devices.force_dimension import LIBRARY, ForceDimensionDevice
from tabi.interaction.devices.protocol import DeviceError


class Dhd(types.ModuleType):
    """A device with a wrist, or without."""

    def __init__(self, wrist=True, there=True):
        super().__init__(LIBRARY)
        self.wrist, self.there, self.works, self.wrenches, self.on = wrist, there, True, [], None

    def open(self):
        return 3 if self.there else -1

    def openID(self, index):
        return index if self.there else -1

    def errorGetLastStr(self):
        return "no device found"

    def hasWrist(self, ID):
        return self.wrist

    def hasActiveWrist(self, ID):
        return self.wrist

    def getSystemName(self, ID):
        return "omega.6"

    def enableForce(self, on, ID):
        self.on = on
        return 0

    def getPosition(self, out, ID):
        out[:] = [0.01, 0.02, 0.03]
        return 0 if self.works else -1

    def getLinearVelocity(self, out, ID):
        out[:] = [0.1, 0.2, 0.3]
        return 0

    def getOrientationFrame(self, out, ID):
        # a quarter about z
        out[:] = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
        return 0

    def getAngularVelocityRad(self, out, ID):
        out[:] = [0.0, 0.0, 2.0]
        return 0

    def getButtonMask(self, ID):
        return 0b10

    def setForceAndTorque(self, f, t, ID):
        self.wrenches.append([*f, *t])
        return 0

    def setForce(self, f, ID):
        self.wrenches.append([*f])
        return 0

    def close(self, ID):
        self.there = False
        return 0


@pytest.fixture
def library(monkeypatch):
    def use(dhd):
        monkeypatch.setitem(sys.modules, LIBRARY, dhd)
        monkeypatch.setitem(sys.modules, "forcedimension_core", types.ModuleType("x"))
        return dhd

    return use


def test_a_device_with_a_wrist(library):
    dhd = library(Dhd())
    one = ForceDimensionDevice(clock=lambda: 7.0)
    assert (one.info.motion, one.info.wrench) == (6, 6)
    read = one.read()
    np.testing.assert_array_equal(read.position, [0.01, 0.02, 0.03])
    np.testing.assert_array_equal(read.velocity, [0.1, 0.2, 0.3])
    np.testing.assert_allclose(read.quaternion, [0.5**0.5, 0, 0, 0.5**0.5])
    np.testing.assert_array_equal(read.spin, [0, 0, 2])
    assert read.buttons == (False, True, False, False)
    assert read.time == 7.0
    one.write(np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3]))
    assert dhd.wrenches[-1] == [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]
    one.close()
    one.close()
    assert dhd.wrenches[-1] == [0.0] * 6
    assert dhd.on is False
    with pytest.raises(DeviceError, match="was closed"):
        one.read()


def test_a_device_without_a_wrist_takes_forces_only(library):
    dhd = library(Dhd(wrist=False))
    one = ForceDimensionDevice(0)
    assert (one.info.motion, one.info.wrench) == (3, 3)
    np.testing.assert_array_equal(one.read().quaternion, [1, 0, 0, 0])
    one.write(np.array([1.0, 2.0, 3.0]), np.ones(3))
    assert dhd.wrenches[-1] == [1.0, 2.0, 3.0]


def test_one_that_fails_is_let_go(library):
    dhd = library(Dhd())
    one = ForceDimensionDevice()
    one.write(np.ones(3), np.ones(3))
    dhd.works = False
    with pytest.raises(DeviceError, match=r"did not report its position: no device found"):
        one.read()
    assert dhd.wrenches[-1] == [0.0] * 6
    assert one.closed


def test_one_that_is_not_there_is_told(library):
    library(Dhd(there=False))
    with pytest.raises(DeviceError, match="could be opened: no device found"):
        ForceDimensionDevice()


def test_without_the_library_it_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "forcedimension_core", None)
    with pytest.raises(DeviceError, match="pip install forcedimension_core"):
        ForceDimensionDevice()
