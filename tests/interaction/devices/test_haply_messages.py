"""No message, however wrong, gives anything but a sound reading or a clear refusal."""

import json
import math

import numpy as np
import pytest

from tabi.interaction.devices import haply_messages as messages
from tabi.interaction.devices.protocol import DeviceError


def vector(x, y, z):
    return {"x": x, "y": y, "z": z}


def frame(**changes):
    device = {
        "device_id": "049D",
        "config": {"type": "inverse3", "handedness": "right"},
        "status": {"calibrated": True, "ready": True},
        "state": {
            "cursor_position": vector(0.01, -0.12, 0.15),
            "cursor_velocity": vector(0.2, 0.0, -0.1),
            "current_cursor_force": vector(0, 0, 0),
            "control_mode": "idle",
        },
    }
    orientation = {"w": 0.6, "x": 0.0, "y": 0.8, "z": 0.0}
    grip = {
        "device_id": "1",
        "state": {"orientation": orientation, "buttons": {"b": 1 > 2, "a": 2 > 1}},
    }
    return {"session_id": 7, "inverse3": [device], "wireless_verse_grip": [grip]} | changes


def device(**changes):
    return frame()["inverse3"][0] | changes


def mutated(rng, raw):
    """Bytes turned, cut, doubled, or words put in that mean trouble."""
    words = [
        b"NaN",
        b"Infinity",
        b"-1e999",
        b"1e300",
        b"null",
        b'"x"',
        b"{}",
        b"[",
        b"\x00",
        b"true",
    ]
    data = bytearray(raw)
    for _ in range(rng.integers(1, 4)):
        k, kind = int(rng.integers(0, max(len(data), 1))), rng.integers(0, 5)
        if kind == 0 and data:
            data[k % len(data)] = int(rng.integers(0, 256))
        elif kind == 1:
            del data[k:]
        elif kind == 2:
            data[k:k] = data[k : k + int(rng.integers(1, 60))]
        elif kind == 3:
            data[k:k] = words[rng.integers(0, len(words))]
        else:
            # a number becomes a word
            spots = [i for i, c in enumerate(data) if c in b"0123456789"]
            if spots:
                i = spots[rng.integers(0, len(spots))]
                data[i : i + 1] = words[rng.integers(0, len(words))]
    return bytes(data)


def test_a_frame_is_read():
    found = messages.parse_frame(json.dumps(frame()))
    assert messages.choose(found, None) == "049D"
    read = messages.reading(found, "049D", 3.0)
    np.testing.assert_array_equal(read.position, [0.01, -0.12, 0.15])
    np.testing.assert_array_equal(read.velocity, [0.2, 0.0, -0.1])
    np.testing.assert_allclose(read.quaternion, [0.6, 0.0, 0.8, 0.0])
    assert read.buttons == (True, False)
    assert read.time == 3.0


def test_ten_thousand_wrong_messages():
    rng, raw = np.random.default_rng(1), json.dumps(frame()).encode()
    refused = 0
    for _ in range(10_000):
        try:
            found = messages.parse_frame(mutated(rng, raw))
            read = messages.reading(found, messages.choose(found, None), 1.0)
        except DeviceError:
            refused += 1
            continue
        assert np.abs(read.position).max() <= messages.MAX_DISTANCE
        assert np.abs(read.velocity).max() <= messages.MAX_VELOCITY
        assert abs(np.linalg.norm(read.quaternion) - 1.0) < 1e-12
    assert refused > 2000


@pytest.mark.parametrize("raw", [b"", b"[]", b"7", b"[" * 100_000, b"\xff\xfe", b'{"inverse3": 1}'])
def test_what_is_no_frame_is_refused(raw):
    with pytest.raises(DeviceError, match=r"not of format 3\.1"):
        messages.parse_frame(raw)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (frame(inverse3=[]), "has no Inverse3"),
        (frame(inverse3=[device(), device()]), "2 devices named '049D'"),
        (frame(inverse3=[device(), device(device_id="B")]), "select one, as 'haply:049D'"),
        (frame(inverse3=[device()] * 40), "more than 16"),
        (frame(inverse3=[device(status={"ready": False})]), "is not ready"),
    ],
)
def test_a_wrong_inventory_is_refused(given, told):
    with pytest.raises(DeviceError, match=told):
        found = messages.parse_frame(json.dumps(given))
        messages.reading(found, messages.choose(found, None), 0.0)


def test_a_device_is_chosen_by_its_name():
    found = messages.parse_frame(json.dumps(frame(inverse3=[device(), device(device_id="B")])))
    assert messages.choose(found, "B") == "B"
    with pytest.raises(DeviceError, match="no Inverse3 'C'; it has '049D', 'B'"):
        messages.choose(found, "C")


@pytest.mark.parametrize("bad", ["NaN", "Infinity", "1e999", "7.5", '"1"', "true", "null"])
def test_a_number_that_cannot_be_a_place_is_refused(bad):
    raw = json.dumps(frame()).replace("-0.12", bad)
    with pytest.raises(DeviceError, match=r"format 3\.1|position of"):
        messages.reading(messages.parse_frame(raw), "049D", 0.0)


def test_an_orientation_that_is_none_is_refused_and_one_that_is_not_there_is_upright():
    raw = json.dumps(frame())
    with pytest.raises(DeviceError, match="orientation of length"):
        messages.reading(messages.parse_frame(raw.replace("0.8", "9.0")), "049D", 0.0)
    zero = raw.replace("0.8", "0.0").replace("0.6", "0.0")
    read = messages.reading(messages.parse_frame(zero), "049D", 0.0)
    np.testing.assert_array_equal(read.quaternion, [1, 0, 0, 0])


def test_forces_go_through_and_other_messages_carry_none():
    raw = messages.force_message("A", np.array([1.5, -2.0, 0.25]))
    assert messages.parse_order(raw) == [("A", (1.5, -2.0, 0.25))]
    assert messages.parse_order(messages.probe_message("A")) == []
    rng = np.random.default_rng(2)
    for _ in range(2000):
        for _, force in messages.parse_order(mutated(rng, raw)):
            assert all(map(math.isfinite, force))


def test_an_update_of_a_stand_in_is_a_frame():
    places = {"cursor_position": [0.1, 0.2, 0.3], "cursor_velocity": [0.0, 0.0, 1.0]}
    found = messages.parse_frame(messages.update_message("A", 3, places, full=True))
    assert found.session_id == 3
    np.testing.assert_array_equal(messages.reading(found, "A", 0.0).position, [0.1, 0.2, 0.3])
