"""A kind of mark drawn over a world, with a checkbox for each of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self

import numpy as np
import viser
from numpy.typing import NDArray

from tabi.apps.viewer.view import View
from tabi.reporting.frames import HUMANOID_ARROW_SCALE


@dataclass(frozen=True)
class Checkbox:
    """A checkbox of the page.

    Attributes:
        name: what it says, by which marks ask whether they are shown. order: among all.
        shown: whether at first. hint: what it means.
    """

    name: str
    order: int
    hint: str = ""
    shown: bool = True


@dataclass(frozen=True)
class Canvas:
    """The page in which marks are drawn.

    Attributes:
        server: of the page. arrow: metres per newton.
        soles: outlines of all feet, in their planes [m]; filled: of which the face is filled that
            they stand on; default: all.
    """

    server: viser.ViserServer
    arrow: float = HUMANOID_ARROW_SCALE
    soles: list[NDArray[np.float64]] = field(default_factory=list)
    filled: list[bool] | None = None


class Mark:
    """Marks over one world. Knows no physics: it draws what a view contains.

    Attributes:
        BOXES: its checkboxes.
    """

    BOXES: ClassVar[tuple[Checkbox, ...]] = ()

    @classmethod
    def create(cls, canvas: Canvas) -> Self:
        """Create the marks in a page, nothing drawn yet."""
        raise NotImplementedError

    def draw_view(self, view: View, shown: Mapping[str, bool], ground: float) -> None:
        """Draw the view of a moment.

        Args:
            shown: which boxes are checked. ground: height of the floor [m].
        """
        raise NotImplementedError
