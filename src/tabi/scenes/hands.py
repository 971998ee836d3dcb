"""The hand of a person in a scene: from its keys and a device to a hand that pushes.

A scripted hand rests in each of its frames; from one to the next, over T, it goes by

    x(s) = x_k + (10 s³ − 15 s⁴ + 6 s⁵)(x_{k+1} − x_k),   s = (t − t_k)/T                        (1)
without a jump of velocity or acceleration, as arms of people do (Flash and Hogan 1985).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import radians

import numpy as np

from tabi._errors import ModelError
from tabi.interaction.coupling import Placement
from tabi.interaction.devices.scripted import ScriptedHand
from tabi.interaction.hand import HapticHand
from tabi.interaction.session import HapticSession, source_of
from tabi.scenes.equipment import body_of
from tabi.scenes.keys.hands import HandFrame, HandKeys
from tabi.simulation.simulator import Simulator
from tabi.spatial.transform import about, from_rpy

# of rows between two frames of a script [s]
ROW = 0.02


def take(sim: Simulator, keys: HandKeys | None, device: str) -> HapticSession:
    """Put the hand of a person into a simulation.

    Args:
        keys: of the scene; default: a hand that takes hold of the nearest body.
        device: see ``interaction.devices.catalogue``; "scripted" is the scene's own script.
    """
    hand_keys = HandKeys() if keys is None else keys
    script = (lambda: script_of(hand_keys.frames)) if hand_keys.frames else None
    source = source_of(sim, device, script)
    # a script is written in the world's frame
    placement = Placement()
    if device != "scripted":
        frame = about((0.0, 0.0, 1.0), radians(hand_keys.yaw_deg), hand_keys.position_m)
        placement = Placement(frame, hand_keys.scale)
    hand = HapticHand(
        sim,
        source,
        hand_keys.mode,
        None if hand_keys.body is None else body_of(sim.world, hand_keys.body),
        hand_keys.stiffness_n_m,
        hand_keys.turn_stiffness_nm_rad,
        placement,
        hand_keys.radius_m,
        hand_keys.friction,
    )
    return HapticSession(sim, device, hand)


def script_of(frames: Sequence[HandFrame]) -> ScriptedHand:
    """The motion through frames, by (1)."""
    times = [frame.at_s for frame in frames]
    for k, (before, after) in enumerate(pairwise(times)):
        if not before < after:
            raise ModelError(
                f"frame {k + 1} of the hand is at {after:g} s, the one before at {before:g} s; "
                "expected growing times"
            )
    places = np.array([frame.position_m for frame in frames])
    turns = np.array([np.radians(frame.rotation_deg) for frame in frames])
    rows, buttons = [], []
    for k, frame in enumerate(frames):
        pressed, last = (frame.holds, frame.grips), k + 1 == len(frames)
        T = 0.0 if last else times[k + 1] - times[k]
        for s in np.linspace(0.0, 1.0, max(2, round(T / ROW)), endpoint=False) if T else [0.0]:
            progress = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
            goal = min(k + 1, len(frames) - 1)
            x = places[k] + progress * (places[goal] - places[k])
            orientation = from_rpy(turns[k] + progress * (turns[goal] - turns[k])).quaternion
            rows.append([times[k] + s * T, *x, *orientation])
            buttons.append(pressed)
    return ScriptedHand(np.array(rows), buttons, "the hand of the scene")


class Holding:
    """A device for a page, while simulations of its scene come and go.

    Args:
        build: makes a simulation. keys: the hand of the scene.
    """

    def __init__(self, build: Callable[[], Simulator], keys: HandKeys | None, device: str) -> None:
        self._build, self._keys, self._device = build, keys, device
        self._session: HapticSession | None = None

    def simulator(self) -> Simulator:
        """A new simulation, with the hand in it; the one before has none any more."""
        self.close()
        sim = self._build()
        self._session = take(sim, self._keys, self._device)
        return sim

    def close(self) -> None:
        """Close the device of the hand."""
        if self._session is not None:
            self._session.close()
            self._session = None
