"""Keys of a scene file about soft soles and pads; see ``things`` for the rules."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from tabi.scenes.keys.types import ZERO, Keys, Length, Name, Number, Quaternion, Vector, Word


class LayerKeys(Keys, frozen=True, kw_only=True):
    """One layer of soft material.

    Attributes:
        thickness_m: its thickness
        young_modulus_pa: how stiff it is; rubber has 1e6 to 1e7
        poisson_ratio: how much it bulges when it is pressed; rubber has 0.45 to 0.499
        density_kg_m3: its density
        viscosity_s: time in which it comes to rest, of a spring with a damper beside it
    """

    thickness_m: Length = 0.02
    young_modulus_pa: Annotated[float, Meta(gt=0.0, le=1e12)] = 2e6
    poisson_ratio: Annotated[float, Meta(gt=-1.0, lt=0.5)] = 0.45
    density_kg_m3: Annotated[float, Meta(gt=0.0, le=1e5)] = 1100.0
    viscosity_s: Annotated[float, Meta(ge=0.0, le=1e3)] = 0.0


class TreadKeys(Keys, frozen=True, kw_only=True):
    """Grooves across a sole.

    Attributes:
        width_m: of a groove
        depth_m: of a groove
        pitch_m: from the middle of one groove to the next
    """

    width_m: Length
    depth_m: Length
    pitch_m: Length


class SoftKeys(LayerKeys, frozen=True, kw_only=True):
    """Soft material on a face.

    Attributes:
        layers: several layers, from what they are glued to outwards, instead of the numbers here
        element_size_m: distance of its nodes along the face
        rounded_m: radius of its outer edges
        tread: grooves across it
    """

    layers: Annotated[tuple[LayerKeys, ...], Meta(max_length=20)] = ()
    element_size_m: Length = 0.03
    rounded_m: Annotated[float, Meta(ge=0.0, le=1.0)] = 0.0
    tread: TreadKeys | None = None


class SoleKeys(SoftKeys, frozen=True, kw_only=True):
    """Soft soles under the feet of a robot; {} is 20 mm of rubber.

    Attributes:
        feet: names of the feet that get one; default: all
    """

    feet: tuple[Name, ...] | None = None


class PadKeys(SoftKeys, frozen=True, kw_only=True):
    """A soft pad on a body.

    Attributes:
        body: of a robot, the body that it is glued to
        face: of the body's box that it covers
        outline_m: its outline in a frame on the body whose z points into it, instead of face
        position_m: of that frame
        quaternion: of that frame, w, x, y, z
    """

    body: Word | None = None
    face: Literal["+x", "-x", "+y", "-y", "+z", "-z"] | None = None
    outline_m: Annotated[tuple[tuple[Number, Number], ...], Meta(min_length=3)] | None = None
    position_m: Vector = ZERO
    quaternion: Quaternion = (1.0, 0.0, 0.0, 0.0)


def layers(keys: SoftKeys) -> Any:
    """Return the layers of a soft sole or pad."""
    # here, as elements take long to import, and few scenes have something soft
    from tabi.soles import Layer

    return [
        Layer(
            layer.thickness_m,
            layer.young_modulus_pa,
            layer.poisson_ratio,
            layer.density_kg_m3,
            layer.viscosity_s,
        )
        for layer in keys.layers or (keys,)
    ]


def options(keys: SoftKeys) -> dict[str, Any]:
    """Return the options of its elements, for ``tabi.soles.make_sole``."""
    from tabi.soles import Tread

    options_: dict[str, Any] = {"element_size": keys.element_size_m, "rounded": keys.rounded_m}
    if keys.tread is not None:
        options_["tread"] = Tread(keys.tread.width_m, keys.tread.depth_m, keys.tread.pitch_m)
    return options_
