"""Messages of the Haply Inverse service and its clients: JSON, format 3.1.

On connection the service sends an inventory; from then on it answers each message of a client with
exactly one update, of the same form but without ``config``:

    {"session_id": 7,
     "inverse3": [{"device_id": "049D", "config": {…}, "status": {"ready": true, …},
                   "state": {"cursor_position": {"x": 0.0, "y": -0.12, "z": 0.15},
                             "cursor_velocity": {…}, "current_cursor_force": {…}, …}}],
     "verse_grip" or "wireless_verse_grip":
                 [{"device_id": "61548", "state": {"orientation": {"w": …, "x": …, "y": …, "z": …},
                                                   "button": false or "buttons": {"a": false, …}}}]}
and a client sends, among others,

    {"inverse3": [{"device_id": "049D", "commands": {"set_cursor_force": {"values": {"x": …}}}}]}
    {"inverse3": [{"device_id": "049D", "commands": {"probe_position": {}}}]}
    {"session": {"configure": {"profile": {"name": "tabi"}}}}            (in the first message)
Meters, newtons, right-handed axes. Messages are not numbered: a TCP connection keeps their order,
and counting detects an extra one. Unknown keys are ignored. Numbers have to be finite and
plausible, otherwise the whole message is rejected.

Reference: docs.haply.co, Inverse SDK 3.5, "WebSocket Protocol", "Simulation Channel" and "JSON
Conventions" (format 3.1 on port 10001; format 3.0, on port 10000, is an older one).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from tabi.interaction.devices.protocol import Array, DeviceError, HandReading

# limits of distance [m], of velocity [m/s], and of the number of devices, grips and buttons
MAX_DISTANCE, MAX_VELOCITY, MAX_ITEMS = 2.0, 100.0, 16


class _Vector(msgspec.Struct):
    x: float
    y: float
    z: float


class _Quaternion(msgspec.Struct):
    w: float
    x: float
    y: float
    z: float


class _State(msgspec.Struct):
    cursor_position: _Vector
    cursor_velocity: _Vector
    current_cursor_force: _Vector | None = None


class _Status(msgspec.Struct):
    ready: bool = True


class _Inverse(msgspec.Struct):
    device_id: str
    state: _State
    status: _Status = msgspec.field(default_factory=_Status)


class _GripState(msgspec.Struct):
    orientation: _Quaternion | None = None
    button: bool = False
    buttons: dict[str, bool] | None = None


class _Grip(msgspec.Struct):
    state: _GripState = msgspec.field(default_factory=_GripState)


class HaplyFrame(msgspec.Struct):
    """Message of the service: an inventory or an update."""

    inverse3: list[_Inverse]
    session_id: int | None = None
    verse_grip: list[_Grip] = []
    wireless_verse_grip: list[_Grip] = []


class _Force(msgspec.Struct):
    values: _Vector


class _Commands(msgspec.Struct):
    set_cursor_force: _Force | None = None


class _Commanded(msgspec.Struct):
    device_id: str
    commands: _Commands = msgspec.field(default_factory=_Commands)


class HaplyOrder(msgspec.Struct):
    """Message of a client with its commands."""

    inverse3: list[_Commanded] = []


_frames, _orders = msgspec.json.Decoder(HaplyFrame), msgspec.json.Decoder(HaplyOrder)


def parse_frame(raw: bytes | str) -> HaplyFrame:
    """Parse a message of the service."""
    try:
        frame = _frames.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError) as e:
        raise DeviceError(
            f"the Haply service sent a message that is not of format 3.1: {e}; expected the "
            "service of version 3.1 to 3.x on port 10001"
        ) from None
    if max(map(len, (frame.inverse3, frame.verse_grip, frame.wireless_verse_grip))) > MAX_ITEMS:
        raise DeviceError(f"the Haply service has more than {MAX_ITEMS} devices of one kind")
    return frame


def choose(frame: HaplyFrame, device_id: str | None) -> str:
    """Select a device of an inventory."""
    names = [device.device_id for device in frame.inverse3]
    if not names:
        raise DeviceError(
            "the Haply service has no Inverse3; connect one, switch it on and check whether "
            "the Haply Hub lists it"
        )
    if device_id is not None and device_id not in names:
        raise DeviceError(
            f"the Haply service has no Inverse3 {device_id!r}; it has {', '.join(map(repr, names))}"
        )
    selected = device_id if device_id is not None else names[0]
    if names.count(selected) > 1:
        raise DeviceError(
            f"the Haply service has {names.count(selected)} devices named {selected!r}; "
            "disconnect all but one"
        )
    if device_id is None and len(names) > 1:
        raise DeviceError(
            f"the Haply service has {len(names)} devices, {', '.join(map(repr, names))}; select "
            f"one, as 'haply:{selected}'"
        )
    return selected


def reading(frame: HaplyFrame, device_id: str, time: float) -> HandReading:
    """Return the reading of the hand in a frame."""
    matches = [device for device in frame.inverse3 if device.device_id == device_id]
    if len(matches) != 1:
        raise DeviceError(
            f"an update of the Haply service has {len(matches)} devices named {device_id!r}; "
            "expected one: is it still connected?"
        )
    device = matches[0]
    if not device.status.ready:
        raise DeviceError(f"Haply device {device_id!r} is not ready; check it in the Haply Hub")
    x, v = device.state.cursor_position, device.state.cursor_velocity
    place, velocity = (
        _checked_vector(x, MAX_DISTANCE, "position"),
        _checked_vector(v, MAX_VELOCITY, "velocity"),
    )
    grips = frame.wireless_verse_grip or frame.verse_grip
    if not grips:
        return HandReading(place, velocity, time=time)
    state = grips[0].state
    pressed = (
        tuple(state.buttons[key] for key in sorted(state.buttons)[:MAX_ITEMS])
        if state.buttons
        else (state.button,)
    )
    q = _orientation(state.orientation)
    return HandReading(place, velocity, quaternion=q, buttons=pressed, time=time)


def force_message(device_id: str, force: Sequence[float] | Array) -> bytes:
    """Return the message of a force."""
    x, y, z = (float(f) for f in force)
    values = {"values": {"x": x, "y": y, "z": z}}
    return _command(device_id, {"set_cursor_force": values})


def probe_message(device_id: str) -> bytes:
    """Return the message that requests the position only."""
    return _command(device_id, {"probe_position": {}})


def first_message(device_id: str) -> bytes:
    """Return the first message: the name of the client for the Haply Hub, and a request of the
    position.
    """
    session = {"configure": {"profile": {"name": "tabi"}}}
    devices = [{"device_id": device_id, "commands": {"probe_position": {}}}]
    return msgspec.json.encode({"session": session, "inverse3": devices})


def parse_order(raw: bytes | str) -> list[tuple[str, tuple[float, float, float]]]:
    """Return the forces in a message of a client, without those that are not finite."""
    try:
        order = _orders.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return []
    forces = []
    for device in order.inverse3[:MAX_ITEMS]:
        if device.commands.set_cursor_force is not None:
            f = device.commands.set_cursor_force.values
            if math.isfinite(f.x + f.y + f.z):
                forces.append((device.device_id, (f.x, f.y, f.z)))
    return forces


def update_message(
    device_id: str,
    session: int,
    vectors: Mapping[str, Sequence[float]],
    full: bool,
    grip: tuple[Sequence[float], Sequence[bool]] | None = None,
) -> bytes:
    """Return an update of a service with one device, or its inventory; with a grip, if its
    orientation (w, x, y, z) and buttons are specified.
    """
    state = {name: dict(zip("xyz", value, strict=True)) for name, value in vectors.items()}
    device: dict[str, object] = {"device_id": device_id, "state": state}
    device["status"] = {"calibrated": True, "in_use": True, "power_supply": True, "ready": True}
    if full:
        device["config"] = {"type": "inverse3", "handedness": "right"}
    update: dict[str, object] = {"session_id": session, "inverse3": [device]}
    if grip is not None:
        buttons = {chr(ord("a") + k): bool(down) for k, down in enumerate(grip[1][:MAX_ITEMS])}
        orientation = dict(zip("wxyz", grip[0], strict=True))
        state_of_grip = {"orientation": orientation, "buttons": buttons}
        update["wireless_verse_grip"] = [{"device_id": f"{device_id} grip", "state": state_of_grip}]
    return msgspec.json.encode(update)


def _command(device_id: str, commands: Mapping[str, object]) -> bytes:
    return msgspec.json.encode({"inverse3": [{"device_id": device_id, "commands": commands}]})


def _checked_vector(vector: _Vector, largest: float, what: str) -> Array:
    if not max(abs(vector.x), abs(vector.y), abs(vector.z)) <= largest:
        raise DeviceError(
            f"the Haply service reports a {what} of ({vector.x:g}, {vector.y:g}, {vector.z:g}); "
            f"expected at most {largest:g} in m and s"
        )
    return np.array([vector.x, vector.y, vector.z])


def _orientation(q: _Quaternion | None) -> Array:
    """Return a unit quaternion; zeros mean that it is not available yet."""
    if q is None or q.w == q.x == q.y == q.z == 0.0:
        return np.array([1.0, 0.0, 0.0, 0.0])
    length = math.hypot(q.w, q.x, q.y, q.z)
    if not abs(length - 1.0) < 0.1:
        raise DeviceError(
            f"the Haply service reports an orientation of length {length:g}; expected 1"
        )
    return np.array([q.w, q.x, q.y, q.z]) / length
