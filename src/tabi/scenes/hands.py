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


def take(sim: Simulator, told: HandKeys | None, device: str) -> HapticSession:
    """Put the hand of a person into a simulation.

    Args:
        told: of the scene; one that takes hold of the nearest body unless given.
        device: see ``interaction.devices.catalogue``; "scripted" is the scene's own script.
    """
    keys = HandKeys() if told is None else told
    script = (lambda: script_of(keys.frames)) if keys.frames else None
    source = source_of(sim, device, script)
    # a script is told in the world's places
    placed = Placement()
    if device != "scripted":
        frame = about((0.0, 0.0, 1.0), radians(keys.yaw_deg), keys.position_m)
        placed = Placement(frame, keys.scale)
    hand = HapticHand(
        sim,
        source,
        keys.mode,
        None if keys.body is None else body_of(sim.world, keys.body),
        keys.stiffness_n_m,
        keys.turn_stiffness_nm_rad,
        placed,
        keys.radius_m,
        keys.friction,
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
            way = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
            goal = min(k + 1, len(frames) - 1)
            x = places[k] + way * (places[goal] - places[k])
            turned = from_rpy(turns[k] + way * (turns[goal] - turns[k])).quaternion
            rows.append([times[k] + s * T, *x, *turned])
            buttons.append(pressed)
    return ScriptedHand(np.array(rows), buttons, "the hand of the scene")


class Holding:
    """One device while simulations of a scene come and go, for a page.

    Args:
        build: makes a simulation. told: the hand of the scene.
    """

    def __init__(self, build: Callable[[], Simulator], told: HandKeys | None, device: str) -> None:
        self._build, self._told, self._device = build, told, device
        self._session: HapticSession | None = None

    def simulator(self) -> Simulator:
        """A new simulation, with the hand in it; the one before has none any more."""
        self.close()
        sim = self._build()
        self._session = take(sim, self._told, self._device)
        return sim

    def close(self) -> None:
        """Let go of the device."""
        if self._session is not None:
            self._session.close()
            self._session = None
