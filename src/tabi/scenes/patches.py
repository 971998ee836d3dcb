"""Patches of a scene: thin plates on the ground that rub otherwise than it does."""

from __future__ import annotations

from collections.abc import Sequence
from math import radians

from tabi.model.ground_height import ground_height
from tabi.model.shape import Box
from tabi.model.world import World
from tabi.scenes.keys.things import PatchKeys
from tabi.scenes.places import Places
from tabi.spatial.transform import about

# m; thinner than a sole would trip over
THICKNESS = 1e-3
ICE = (0.55, 0.80, 0.95)


def add(builder: Places, world: World, keys: Sequence[PatchKeys]) -> None:
    """Put patches on what never moves below their middles."""
    height = ground_height(world)
    for i, patch in enumerate(keys):
        x, y = patch.position_m
        z = height(x, y) + 0.5 * THICKNESS
        X = about((0.0, 0.0, 1.0), radians(patch.yaw_deg), (x, y, z))
        with builder.at("patches", i):
            made = world.add_fixed(
                Box((*patch.size_m, THICKNESS)),
                X.p,
                X.quaternion,
                friction=patch.friction,
                name=patch.name or f"patch {i + 1}",
            )
            made.color = (*(patch.color or ICE), 1.0)
