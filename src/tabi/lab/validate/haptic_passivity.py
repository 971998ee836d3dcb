"""Is a hand ever given energy by a wall that is only sampled? Without and with the controller.

A handle is thrown on a wall, pressed on it and pulled away, or held against it by a hand, for
masses of the handle, stiffnesses of the wall and how late readings come. Each period lasts 1 ms and
up to so much more; with ``late`` the force also begins to act that late in its period. Result:

    W = max_t ∫ f·dx                                                                          (1)
the most that the device's force has done on handle and hand, counted at 10 kHz, not by the
controller itself. A passive wall has W ≤ 0; the controller promises less than a millijoule.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tabi.interaction.device_law import make_law
from tabi.interaction.local_model import PLACES, LocalModel, Mode
from tabi.interaction.simulated_device import STEP, SampledHandle, SpringHand
from tabi.lab.study import Criterion, Validator, within

MASSES = (0.05, 0.1, 0.2, 0.5)  # kg
STIFFNESSES = (100.0, 300.0, 1000.0)  # N/m
JITTERS = (0.0, 1e-3, 2e-3, 5e-3)  # s
SCENES = ("throw", "press", "hold")
MAX_ENERGY_J = 1e-3  # J
PERIOD = round(1e-3 / STEP)
DURATION = 1.2  # s
# a handle that is this far away has gone for good [m]
LOST_DISTANCE_M = 1.0
STRENGTH = 5.0  # N of the hand


class HapticPassivity(Validator, name="passivity"):
    """Throw and press a haptic handle on walls that are only sampled: is the hand given energy?"""

    masses: Sequence[float] = MASSES
    stiffnesses: Sequence[float] = STIFFNESSES
    jitters: Sequence[float] = JITTERS

    unit = "walls"
    criteria = (
        Criterion(
            "worst_controlled", "no hand is given more than is promised [J]", at_most=MAX_ENERGY_J
        ),
    )

    def cases(self) -> list[tuple[bool, float, float, float]]:
        """All combinations, each with the force at once and late."""
        axes = (False, True), self.masses, self.stiffnesses, self.jitters
        return list(itertools.product(*axes))

    def measure(self, case: tuple[bool, float, float, float]) -> tuple[float, float]:
        """The worst energy (1) over all scenes [J], with the controller and without."""
        late, mass, stiffness, jitter = case
        controlled, bare = (
            max(
                0.0,
                *(
                    contact(scene, mass, stiffness, jitter, late, passive=p)["worst"]
                    for scene in SCENES
                ),
            )
            for p in (True, False)
        )
        return controlled, bare

    def figures(self, rows: Sequence[tuple[float, float]]) -> dict[str, Any]:
        """The axes, the worst energy by [late][mass][stiffness][jitter] with the controller and
        without [J], NaN where it was not measured, and the worst of all.
        """
        shape = (2, len(self.masses), len(self.stiffnesses), len(self.jitters))
        result = np.full((2, int(np.prod(shape))), np.nan)
        result[:, : len(rows)] = np.reshape(rows, (-1, 2)).T
        worst = np.nanmax(result, axis=1) if rows else result[:, 0]
        return {
            "masses": list(self.masses),
            "stiffnesses": list(self.stiffnesses),
            "jitters": list(self.jitters),
            "controlled": result[0].reshape(shape).tolist(),
            "bare": result[1].reshape(shape).tolist(),
            "worst_controlled": float(worst[0]),
            "worst_bare": float(worst[1]),
            "promised": MAX_ENERGY_J,
        }

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """The result as sentences."""
        count = int(np.size(result["controlled"])) * len(SCENES)
        yield (
            f"{count} handles on sampled walls: {within(result)} the "
            f"{1e3 * result['promised']:g} mJ that are promised"
        )
        yield (
            "  most energy that a hand was given: "
            f"{1e3 * result['worst_controlled']:.3f} mJ with the controller, "
            f"{1e3 * result['worst_bare']:.4g} mJ without"
        )


def contact(
    scene: str,
    mass: float,
    stiffness: float,
    jitter: float,
    late: bool = False,
    passive: bool = True,
    seed: int = 0,
    axes: int = 1,
) -> dict[str, Any]:
    """One handle on a wall that fills x < 0.

    Returns:
        plain data: worst energy (1) [J], times [s], energies [J] and places x [m] at readings, and
        the last force [N].
    """
    rng = np.random.default_rng(seed)
    handle = _handle(scene, mass, axes)
    most = round(jitter / STEP)
    law = make_law(
        force_limit=1e4,
        mass=mass,
        pull=STRENGTH,
        longest=(PERIOD + most) * STEP,
        delay=most * STEP if late else 0.0,
        passive=passive,
    )
    wall = LocalModel(mode=Mode.TOUCH, normal=np.array([1.0, 0.0, 0.0]), stiffness=stiffness)
    vector, before, force = wall.to_vector(), 0.0, np.zeros(3)
    times, energies, places = [], [], []
    while handle.time < DURATION and abs(handle.x[0]) < LOST_DISTANCE_M:
        reading = handle.read()
        vector[PLACES["time"][0]] = reading.time
        force, torque, _ = law(reading, vector, reading.time - before)
        before = reading.time
        period = PERIOD + int(rng.integers(most + 1))
        wait = int(rng.integers(min(most, period) + 1)) if late else 0
        handle.advance(wait)
        handle.write(force, torque)
        handle.advance(period - wait)
        times.append(handle.time)
        energies.append(handle.energy)
        places.append(handle.x[0])
    return {
        "worst": handle.worst,
        "time": times,
        "energy": energies,
        "place": places,
        "force": force.tolist(),
    }


def _handle(scene: str, mass: float, axes: int) -> SampledHandle:
    if scene == "throw":
        velocity = (-0.5, 0.2, -0.1) if axes == 3 else (-0.5, 0.0, 0.0)
        return SampledHandle(mass, None, (0.005, 0.0, 0.0), velocity, axes=axes)
    wants, damping = (_pressed, 2.0) if scene == "press" else (_hold, 1.0)
    hand = SpringHand(300.0, damping, STRENGTH, wants)
    return SampledHandle(mass, hand, (0.004, 0.0, 0.0), axes=axes)


def _pressed(time: float) -> tuple[float, float, float]:
    """Slowly in, and after a while out with half a metre a second."""
    if time < 0.8:
        return (0.004 - 0.014 * min(time / 0.3, 1.0), 0.0, 0.0)
    return (min(-0.01 + 0.5 * (time - 0.8), 0.04), 0.0, 0.0)


def _hold(time: float) -> tuple[float, float, float]:
    return (-0.01, 0.0, 0.0)
