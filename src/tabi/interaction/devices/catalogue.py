"""Catalogue of devices: their names and drivers.

    scripted:FILE              a replayed hand; scripted-loop:FILE starts over at its end
    haply, haply:ID            the Haply service of this machine, and one device of it
    haply://HOST:PORT[/ID]     the Haply service elsewhere, with a token
    stand-in                   a simulated Haply device, started for this process; stand-in:FILE
                               with a hand that follows a script
    force-dimension[:INDEX]    through forcedimension_core
    touch[:NAME]               through OpenHaptics
    gamepad[:FILE]             sticks, and rumble
Drivers are imported when they are used; each reports its missing dependencies.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from urllib.parse import urlsplit

from tabi._errors import ModelError, near
from tabi.interaction.devices.protocol import HapticDevice

KINDS = (
    "scripted",
    "scripted-loop",
    "haply",
    "stand-in",
    "force-dimension",
    "touch",
    "gamepad",
)
TOKEN = "TABI_HAPLY_TOKEN"

_opened: weakref.WeakValueDictionary[str, HapticDevice] = weakref.WeakValueDictionary()


def check(name: str) -> str:
    """Return the kind of a device's name; the error for an unknown one suggests the nearest."""
    kind = str(name).partition(":")[0].strip()
    if kind not in KINDS:
        raise ModelError(
            f"device {name!r} is unknown; expected one of "
            f"{', '.join(map(repr, KINDS))}{near(kind, KINDS)}"
        )
    if kind.startswith("scripted") and not name.partition(":")[2]:
        raise ModelError(f"device {name!r} names no file; expected '{kind}:FILE.hand.csv'")
    return kind


def open_device(
    name: str, token: str | None = None, clock: Callable[[], float] | None = None
) -> HapticDevice:
    """Open a device by its name.

    Args:
        name: as above. A device that is open already is rejected until it is closed.
        token: for a Haply service on another machine; default: the environment variable
            TABI_HAPLY_TOKEN.
        clock: function that returns the time of a scripted hand [s]; default: wall time.
    """
    kind = check(name)
    other = _opened.get(name)
    if other is not None and not getattr(other, "closed", False):
        raise ModelError(
            f"device {name!r} is open already; close it first, or give the other one its own name"
        )
    rest = name.partition(":")[2]
    device = _haply(rest, token) if kind == "haply" else _other(kind, rest, clock)
    _opened[name] = device
    return device


def _haply(rest: str, token: str | None) -> HapticDevice:
    from tabi.interaction.devices.haply import ADDRESS, HaplyDevice

    if not rest.startswith("//"):
        return HaplyDevice(ADDRESS, rest or None)
    try:
        place = urlsplit(f"ws:{rest}")
    except ValueError:
        raise ModelError(
            f"device 'haply:{rest}' has no address that can be read; expected 'haply://host:port'"
        ) from None
    token = token or os.environ.get(TOKEN)
    return HaplyDevice(f"ws://{place.netloc}", place.path.strip("/") or None, token)


def _other(kind: str, rest: str, clock: Callable[[], float] | None) -> HapticDevice:
    if kind.startswith("scripted"):
        from tabi.interaction.devices.scripted import ScriptedDevice, ScriptedHand

        hand = ScriptedHand.load(rest, "repeat" if kind == "scripted-loop" else "stay")
        return ScriptedDevice(hand) if clock is None else ScriptedDevice(hand, clock)
    if kind == "stand-in":
        from tabi.interaction.devices.stand_in_process import StandInDevice

        return StandInDevice(("--hand", rest, "--repeat") if rest else ())
    if kind == "force-dimension":
        from tabi.interaction.devices.force_dimension import ForceDimensionDevice

        if rest and not rest.isdecimal():
            raise ModelError(
                f"device 'force-dimension:{rest}' has no index; expected a number, as "
                "'force-dimension:0'"
            )
        return ForceDimensionDevice(int(rest) if rest else None)
    if kind == "touch":
        from tabi.interaction.devices.touch import TouchDevice

        return TouchDevice(rest or None)
    from tabi.interaction.devices.gamepad import Gamepad

    return Gamepad(rest or None)
