"""What planned and steered walks of a scene have in common: gait, stabiliser, sensors."""

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
        """That of the gait."""
        return self.gait.tick_s

    def prepare(self, robot: Robot) -> None:
        """The sensors that its stabiliser reads."""
        if self.stabiliser is not False:
            add_sensors(robot)

    def legs_and_gait(
        self, scene: Places, robot: Robot, path: tuple[str | int, ...]
    ) -> tuple[walking.Biped, walking.Gait]:
        """The robot's legs, and its own gait with what the scene says otherwise."""
        with scene.at(*path):
            biped = walking.Biped(robot)
        with scene.at(*path, "gait"):
            return biped, gait_of(biped, self.gait)


def gait_of(biped: walking.Biped, told: GaitKeys) -> walking.Gait:
    """The robot's own gait, with what a file says otherwise."""
    given = {name: getattr(told, key) for key, name in GAIT.items()}
    return replace(
        walking.gait_for(biped), **{n: value for n, value in given.items() if value is not None}
    )


def stabiliser_of(told: bool | StabiliserKeys) -> walking.StabiliserGains | None:
    """The stabiliser; None where there is none."""
    if isinstance(told, bool):
        return walking.Stabiliser() if told else None
    made, own = KINDS[told.kind]
    for kind, (_, keys) in KINDS.items():
        wrong = [key for key in keys if kind != told.kind and getattr(told, key) is not None]
        if wrong:
            raise ModelError(
                f"key {wrong[0]!r} belongs to a stabiliser of kind {kind}, and this one is "
                f"{told.kind}; expected some of {', '.join([*own, *STABILISER])}"
            )
    given = {name: getattr(told, key) for key, name in {**STABILISER, **own}.items()}
    return made(**{name: value for name, value in given.items() if value is not None})
