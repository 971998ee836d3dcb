"""Walking along a planned path."""

from __future__ import annotations

from math import radians
from typing import Annotated

from msgspec import Meta

from tabi import walking
from tabi.model.ground_height import ground_height
from tabi.model.robot import Robot
from tabi.robots.bipeds import apart, fitted_pattern
from tabi.scenes.keys.walks import Arc, Climb, PathPiece, Steps, Stones
from tabi.scenes.places import Places
from tabi.scenes.walks import GAIT, WalkingKeys, stabiliser_of
from tabi.spatial.transform import Transform
from tabi.walking.plan.footsteps import other


class WalkKeys(WalkingKeys, frozen=True, kw_only=True, tag_field="kind", tag="walk"):
    """Walk by a pattern from footsteps and a stabiliser from the robot's sensors;
    for bipeds with legs of six joints that stand.

    Attributes:
        path: pieces of the path, one after the other
        on_ground: whether soles are put on what is under them, on ground, boxes, stairs and height
            fields; default: level, at the height of the piece
    """

    path: Annotated[tuple[PathPiece, ...], Meta(min_length=1, max_length=100)] = (Steps(),)
    on_ground: bool = False

    def controller(self, scene: Places, robot: Robot, i: int) -> walking.Walker:
        """A walker with the pattern of its footsteps."""
        path = ("robots", i, "motion")
        biped, gait = self.legs_and_gait(scene, robot, path)

        def path_steps(gait: walking.Gait) -> list[walking.Footstep]:
            stance, steps = apart(biped), []
            for k, piece in enumerate(self.path):
                with scene.at(*path, "path", k):
                    last = steps[-1].foot if steps else None
                    piece_steps = footsteps(piece, stance, gait, last)
                    if self.on_ground:
                        height = ground_height(scene.world)
                        piece_steps = [
                            walking.on_ground([step], height, biped.outline[step.foot])[0]
                            for step in piece_steps
                        ]
                    stance |= {step.foot: step.pose for step in piece_steps}
                    steps += piece_steps
            return steps

        with scene.at(*path):
            fixed = [name for key, name in GAIT.items() if getattr(self.gait, key) is not None]
            pattern = fitted_pattern(biped, gait, path_steps, fixed)
            return walking.Walker(pattern, stabiliser_of(self.stabiliser))


def footsteps(
    piece: PathPiece, stance: dict[str, Transform], gait: walking.Gait, last: str | None
) -> list[walking.Footstep]:
    """The steps of one piece of a path.

    Args:
        stance: poses of the soles before it. last: foot of the step before; None at the start.
    """
    turn = None if last is None else other(last)
    if isinstance(piece, Stones):
        ground = min(X.p[2] for X in stance.values())
        return walking.stones(
            (stone.foot, (*(*stone.position_m, ground)[:3], radians(stone.yaw_deg)))
            for stone in piece.places
        )
    if isinstance(piece, Climb):
        first = piece.first or turn or "left"
        return walking.stairs(stance, piece.treads, piece.rise_m, piece.depth_m, first)
    length = gait.length if piece.length_m is None else piece.length_m
    if isinstance(piece, Arc):
        angle = radians(piece.angle_deg)
        return walking.arc(stance, piece.radius_m, angle, length, piece.first or turn)
    assert isinstance(piece, Steps)
    return walking.walk(
        stance,
        piece.count,
        length,
        piece.sideways_m,
        radians(piece.turn_deg),
        piece.rise_m,
        piece.first or turn,
    )
