"""Settings of the sliders of a page in a simulation:
friction and restitution of the ground, gains of the motors, the rubber of the ankles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tabi.model.controllers.controller import Controller
from tabi.model.controllers.signals import Command, ControlLaw, Measurement, Values

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator


@dataclass(frozen=True)
class Tuning:
    """Settings of the sliders. friction, restitution: between what does not move and the rest, as
    built where None; stiffness, damping: factors on the gains of all motors, their own and those
    that a controller commands; bush_stiffness, bush_damping: factors on those of the ankle bushes,
    as built.
    """

    friction: float | None = None
    restitution: float | None = None
    stiffness: float = 1.0
    damping: float = 1.0
    bush_stiffness: float = 1.0
    bush_damping: float = 1.0

    def apply(self, sim: Simulator) -> None:
        """Apply these settings to a simulator."""
        fixed = {shape.material.name for shape in sim.world.fixed.shapes} & set(
            sim.model.material_names
        )
        if self.friction is not None or self.restitution is not None:
            for a in fixed:
                for b in sim.model.material_names:
                    sim.model.set_pair(a, b, friction=self.friction, restitution=self.restitution)
        dof = sim.model.arrays.dof
        sim.set_gains(self.stiffness * dof["kp"], self.damping * dof["kd"])
        for driver in sim.drivers.values():
            driver.controller, driver.last = _Tuned(driver.controller, self), None
        for robot in sim.world.robots:
            if robot.bush is not None:
                rubber = robot.bush.rubber
                robot.set_bush(
                    sim.model,
                    stiffness=self.bush_stiffness * rubber.stiffness,
                    vertical_stiffness=self.bush_stiffness * rubber.vertical_stiffness,
                    damping=self.bush_damping * rubber.damping,
                    vertical_damping=self.bush_damping * rubber.vertical_damping,
                )


class _Tuned(Controller):
    """A controller whose gains are multiplied."""

    def __init__(self, controller: ControlLaw, tuning: Tuning) -> None:
        self.controller: ControlLaw = (
            controller.controller if isinstance(controller, _Tuned) else controller
        )
        self.tuning, self._command, self._last = tuning, None, None

    @property
    def inner(self) -> tuple[Any, ...]:
        """The controller that is tuned."""
        return (self.controller,)

    def __call__(self, time: float, measurement: Measurement) -> Command:
        command = self.controller(time, measurement)
        if not isinstance(command, Command) or (command.kp is None and command.kd is None):
            return command
        # the same command again stays the same
        if command is not self._command or self._last is None:
            self._command = command
            self._last = replace(
                command,
                kp=_times(command.kp, self.tuning.stiffness),
                kd=_times(command.kd, self.tuning.damping),
            )
        return self._last


def _times(values: Values | None, factor: float) -> Values | None:
    if isinstance(values, Mapping):
        return {name: factor * value for name, value in values.items()}
    return None if values is None else factor * np.asarray(values, float)
