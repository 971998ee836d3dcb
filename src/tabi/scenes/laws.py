"""Law of contact of a scene, as a simulator takes it."""

from __future__ import annotations

from typing import Any

from tabi.scenes.keys.contents import PenaltyKeys, SelectionKeys
from tabi.step.laws.penalty import Penalty
from tabi.step.laws.selection import Selection


def law_of(keys: Any) -> Any:
    """Return a law's name as it is, the options of a law of feet as that law has them."""
    if isinstance(keys, SelectionKeys):
        return Selection(keys.mode, keys.pressure_rule, keys.candidates)
    if isinstance(keys, PenaltyKeys):
        return Penalty(
            keys.stiffness_n_m,
            keys.roll_stiffness_nm_rad,
            keys.pitch_stiffness_nm_rad,
            keys.alpha_s_m,
            keys.damping_ns_m,
            keys.yaw_damping_nms_rad,
        )
    return keys
