"""Description of a kind of sensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SensorKind:
    """A kind of sensors.

    Attributes:
        name: by which robots and scenes have it.
        parts: what it measures, and how many numbers each is.
        units: of parts that have one; where it depends on the joint a pair: of one that slides, of
            one that turns.
        of_joint: it measures a joint with one degree of freedom.
        cuts: what is beyond its body's joint has to be a body of its own.
        anywhere: it measures something also in what is fixed to the world.
        on_robots: a robot may have it.
        feels_motion: it needs the motion of bodies within a step.
        feels_forces: it needs what bodies exert on each other across joints.
    """

    name: str
    parts: Mapping[str, int]
    units: Mapping[str, str | tuple[str, str]] = field(default_factory=dict)
    of_joint: bool = False
    cuts: bool = False
    anywhere: bool = False
    on_robots: bool = True
    feels_motion: bool = False
    feels_forces: bool = False
