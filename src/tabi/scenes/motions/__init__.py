"""Motions of robots in scene files, one module each.

A motion is a class derived from ``MotionKeys``, with a tag, the name that a scene file gives as its
``kind``, keys, and the method ``controller``. Each module of this package is imported, and what it
defines of that kind is known to scenes, to their schema and to the documentation.
"""

from __future__ import annotations

from tabi import _registered
from tabi._errors import ModelError
from tabi.scenes.keys.motions import MotionKeys


def registered(kinds: list[type[MotionKeys]]) -> tuple[type[MotionKeys], ...]:
    """Sort motions by their names; refuse one that is incomplete or has the name of another."""
    named: list[tuple[str, str, type[MotionKeys]]] = []
    _registered.check_methods("motion", kinds, MotionKeys, "controller")
    for motion in kinds:
        name = f"motion {motion.__name__} in {motion.__module__}"
        tag = motion.__struct_config__.tag
        if motion.__struct_config__.tag_field != "kind" or not isinstance(tag, str):
            raise ModelError(
                f'{name} has no tag; expected class {motion.__name__}(…, tag_field="kind", '
                'tag="name")'
            )
        named.append((tag, motion.__module__, motion))
    return tuple(_registered.by_name("motion", named).values())


MOTIONS = registered(_registered.classes(MotionKeys, __name__, __path__))
