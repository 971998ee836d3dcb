"""The law of contact that a scene tells, as a simulator takes it."""

from __future__ import annotations

from typing import Any

from tabi.scenes.keys.contents import PenaltyKeys, SelectionKeys
from tabi.step.laws.penalty import Penalty
from tabi.step.laws.selection import Selection


def law_of(told: Any) -> Any:
    """A name as it is, the options of a law of feet as that law has them."""
    if isinstance(told, SelectionKeys):
        return Selection(told.mode, told.pressure_rule, told.candidates)
    if isinstance(told, PenaltyKeys):
        return Penalty(
            told.stiffness_n_m,
            told.roll_stiffness_nm_rad,
            told.pitch_stiffness_nm_rad,
            told.alpha_s_m,
            told.damping_ns_m,
            told.yaw_damping_nms_rad,
        )
    return told
