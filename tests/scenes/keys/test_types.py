"""Ranges of what scene files may say."""

import msgspec
import pytest

from tabi.scenes.keys import types as key_types


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (key_types.Length, 0.1, 0.0),
        (key_types.Share, 1.0, 1.1),
        (key_types.Friction, 0.0, -0.1),
        (key_types.Turn, -180.0, 181.0),
        (key_types.Name, "left foot", "1foot"),
        (key_types.Word, "a/b", ""),
    ],
)
def test_ranges(kind, good, bad):
    assert msgspec.convert(good, kind) == good
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(bad, kind)


def test_unknown_keys_are_refused():
    class Own(key_types.Keys, frozen=True):
        x: float = 0.0

    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"y": 1.0}, Own)
