"""Numbers, vectors and words of scene files, with their ranges."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

Number = Annotated[float, Meta(ge=-1e6, le=1e6)]
Length = Annotated[float, Meta(gt=0.0, le=1e4)]
Mass = Annotated[float, Meta(ge=1e-12, le=1e9)]
Share = Annotated[float, Meta(ge=0.0, le=1.0)]
Friction = Annotated[float, Meta(ge=0.0, le=100.0)]
Moment = Annotated[float, Meta(ge=0.0, le=1e6)]
Duration = Annotated[float, Meta(gt=0.0, le=1e6)]
Turn = Annotated[float, Meta(ge=-180.0, le=180.0)]
Bend = Annotated[float, Meta(ge=-90.0, le=90.0)]
Hertz = Annotated[float, Meta(gt=0.0, le=1e6)]
Vector = tuple[Number, Number, Number]
Turns = tuple[Turn, Turn, Turn]
Quaternion = tuple[Number, Number, Number, Number]
Color = tuple[Share, Share, Share]
Name = Annotated[str, Meta(pattern=r"^[A-Za-z][A-Za-z0-9_ -]*$", max_length=64)]
# bodies, joints and materials of robots have any names their files give them
Word = Annotated[str, Meta(min_length=1, max_length=128)]
Angles = dict[Word, Annotated[float, Meta(ge=-3600.0, le=3600.0)]]
Slides = dict[Word, Annotated[float, Meta(ge=-100.0, le=100.0)]]
ZERO = (0.0, 0.0, 0.0)


class Keys(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Keys of a scene file that belong together."""
