"""Common keys of planned and steered walks of a scene: gait, stabiliser, sensors."""

from __future__ import annotations

from dataclasses import replace

from tabi import walking
from tabi._errors import ModelError
from tabi.model.robot import Robot
from tabi.robots.bipeds import add_sensors
from tabi.scenes.keys.motions import MotionKeys
from tabi.scenes.keys.walks import GaitKeys, StabiliserKeys
from tabi.scenes.places import Places

# key of a file → attribute of a gait
GAIT = {
    "step_time_s": "step_time",
    "double_support_s": "double_support",
    "lift_m": "lift",
    "centre_height_m": "centre_height",
    "zmp_m": "zmp",
    "shift_s": "shift",
    "rest_s": "rest",
    "landing_speed_m_s": "landing_speed",
    "tick_s": "tick",
}
# likewise, of all stabilisers, and of each kind alone
STABILISER = {
    "zmp_damping_1_s": "zmp_damping",
    "foot_adjusting_1_s": "foot_adjusting",
    "swing": "swing",
    "course": "course",
    "margin_m": "margin",
    "smoothing_s": "smoothing",
}
KINDS = {
    "hirukawa": (walking.Stabiliser, {"inclination": "inclination"}),
    "dcm": (
        walking.DcmStabiliser,
        {"poles_1_s": "poles", "lag_s": "lag", "leak_1_s": "leak", "friction": "friction"},
    ),
}


class WalkingKeys(MotionKeys, frozen=True, kw_only=True):
    """A walk, planned or steered.

    Attributes:
        gait: how
        stabiliser: its gains; false follows the plan blindly
    """

    gait: GaitKeys = GaitKeys()
    stabiliser: bool | StabiliserKeys = True

    @property
    def tick_s(self) -> float:
        """Tick of the gait [s]."""
        return self.gait.tick_s

    def prepare(self, robot: Robot) -> None:
        """The sensors that its stabiliser reads."""
        if self.stabiliser is not False:
            add_sensors(robot)

    def legs_and_gait(
        self, scene: Places, robot: Robot, path: tuple[str | int, ...]
    ) -> tuple[walking.Biped, walking.Gait]:
        """Return the robot's legs, and its own gait with the changes of the scene."""
        with scene.at(*path):
            biped = walking.Biped(robot)
        with scene.at(*path, "gait"):
            return biped, gait_of(biped, self.gait)


def gait_of(biped: walking.Biped, keys: GaitKeys) -> walking.Gait:
    """Return the robot's own gait, with the changes of a file."""
    gait_values = {name: getattr(keys, key) for key, name in GAIT.items()}
    return replace(
        walking.gait_for(biped),
        **{n: value for n, value in gait_values.items() if value is not None},
    )


def stabiliser_of(choice: bool | StabiliserKeys) -> walking.StabiliserGains | None:
    """Return the gains of the stabiliser; None without one."""
    if isinstance(choice, bool):
        return walking.Stabiliser() if choice else None
    kind_, own_keys = KINDS[choice.kind]
    for kind, (_, keys) in KINDS.items():
        wrong = [key for key in keys if kind != choice.kind and getattr(choice, key) is not None]
        if wrong:
            raise ModelError(
                f"key {wrong[0]!r} belongs to a stabiliser of kind {kind}, and this one is "
                f"{choice.kind}; expected some of {', '.join([*own_keys, *STABILISER])}"
            )
    gains = {name: getattr(choice, key) for key, name in {**STABILISER, **own_keys}.items()}
    return kind_(**{name: value for name, value in gains.items() if value is not None})
