"""All marks over a world, and which of them are shown.

Each class of this folder derived from ``Mark`` is one of them; a new one is a module here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np
import viser
from numpy.typing import NDArray

from tabi import _registered
from tabi.apps.viewer import marks
from tabi.apps.viewer.marks.band_marks import BandMarks
from tabi.apps.viewer.marks.mark import Canvas, Checkbox, Mark
from tabi.apps.viewer.view import View
from tabi.reporting.frames import HUMANOID_ARROW_SCALE

T = TypeVar("T", bound=Mark)
# of the page itself, and not drawn over it
PAGE = (
    Checkbox(
        "see through bodies",
        60,
        "to see what is inside and behind them, and the pressure on soft soles",
        shown=False,
    ),
    Checkbox(
        "drag pulls",
        61,
        "pull bodies without Ctrl, for touch screens: one finger on a body",
        shown=False,
    ),
)


def registered(marks: Iterable[type[Mark]]) -> list[type[Mark]]:
    """Marks in the order of their names; one that lacks a method, or has a box of another, is
    refused.
    """
    kinds = list(marks)
    _registered.check_methods("overlay", kinds, Mark, "create", "draw_view")
    _registered.by_name(
        "checkbox", [(box.name, kind.__module__, box) for kind in kinds for box in kind.BOXES]
    )
    return sorted(kinds, key=lambda kind: kind.__name__)


MARKS = registered(_registered.classes(Mark, marks.__name__, marks.__path__, __name__))
BOXES = sorted([box for kind in MARKS for box in kind.BOXES] + [*PAGE], key=lambda box: box.order)


class Overlay:
    """The drawing over one world.

    Args:
        arrow: metres per newton. soles: outlines of all feet, in their planes [m].
        filled: of which the face is filled that they stand on; default: all.

    Attributes:
        shown: which boxes are checked.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        arrow: float = HUMANOID_ARROW_SCALE,
        soles: list[NDArray[np.float64]] | None = None,
        filled: list[bool] | None = None,
    ) -> None:
        self.server, canvas = server, Canvas(server, arrow, soles or [], filled)
        self.shown = {box.name: box.shown for box in BOXES}
        self._marks: dict[type[Mark], Mark] = {kind: kind.create(canvas) for kind in MARKS}

    def of(self, kind: type[T]) -> T:
        """Return the marks of a kind."""
        mark = self._marks[kind]
        assert isinstance(mark, kind)
        return mark

    @property
    def newtons(self) -> str:
        """The force shown at the rubber band; empty where none pulls."""
        return self.of(BandMarks).newtons

    def draw(self, view: View, ground: float = 0.0) -> None:
        """Draw a moment, in one message; ``ground``: height of the floor [m]."""
        with self.server.atomic():
            for mark in self._marks.values():
                mark.draw_view(view, self.shown, ground)
