"""A name opens its driver; names that are none, or open already, are refused."""

import numpy as np
import pytest

from tabi._errors import ModelError
from tabi.interaction.devices import catalogue
from tabi.interaction.devices.catalogue import open_device
from tabi.interaction.devices.haply import HaplyDevice
from tabi.interaction.devices.protocol import DeviceError
from tabi.interaction.devices.stand_in_process import StandInProcess


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "a.hand.csv"
    path.write_text("time_s,x_m,y_m,z_m\n0,0,0,0\n1,0.1,0,0\n")
    return path


def test_a_scripted_hand_by_its_file(script):
    now = [0.0]
    stays = open_device(f"scripted:{script}", clock=lambda: now[0])
    repeats = open_device(f"scripted-loop:{script}", clock=lambda: now[0])
    now[0] = 1.5
    np.testing.assert_array_equal(stays.read().position, [0.1, 0.0, 0.0])
    np.testing.assert_allclose(repeats.read().position, [0.05, 0.0, 0.0])


def test_one_that_is_open_is_refused_until_it_is_closed(script):
    name = f"scripted:{script}"
    one = open_device(name)
    with pytest.raises(ModelError, match="is open already"):
        open_device(name)
    one.close()
    open_device(name).close()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("haptly", "did you mean 'haply'"),
        ("standin", "did you mean 'stand-in'"),
        ("", "is unknown; expected one of 'scripted'"),
        ("scripted", "names no file"),
        ("scripted:none.hand.csv", "none.hand.csv"),
        ("force-dimension:x", "has no index"),
        ("haply://192.0.2.1:10001", "no token"),
        ("haply://[::1", "address that can be read"),
    ],
)
def test_a_wrong_name_is_told(name, told):
    with pytest.raises(ModelError, match=told):
        open_device(name)


@pytest.mark.process
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("haply://127.0.0.1:9", "Haply Hub"),
        ("force-dimension", "forcedimension_core"),
        ("touch", "OpenHaptics"),
        ("gamepad:/dev/input/none", "is it connected"),
        ("stand-in:none.hand.csv", "none.hand.csv"),
    ],
)
def test_what_is_missing_is_told(name, told):
    with pytest.raises(DeviceError, match=told):
        open_device(name)


@pytest.mark.process
def test_a_service_by_its_address_and_a_device_of_it():
    with StandInProcess() as service:
        one = open_device(f"haply://127.0.0.1:{service.port}/TABI")
        assert isinstance(one, HaplyDevice)
        assert one.device_id == "TABI"
        one.close()
        with pytest.raises(DeviceError, match="no Inverse3 'OTHER'; it has 'TABI'"):
            open_device(f"haply://127.0.0.1:{service.port}/OTHER")


def test_each_kind_has_a_line_in_the_text():
    assert {"scripted", "haply", "stand-in", "touch"} < set(catalogue.KINDS)
    for kind in catalogue.KINDS:
        assert kind in (catalogue.__doc__ or "")
