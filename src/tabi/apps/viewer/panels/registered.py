"""The panels of a page that plays: each class of this folder derived from ``PagePanel``."""

from __future__ import annotations

from collections.abc import Iterable

from tabi import _registered
from tabi.apps.viewer import panels
from tabi.apps.viewer.panels.panel import PagePanel


def registered(panels: Iterable[type[PagePanel]]) -> list[type[PagePanel]]:
    """Panels in the order of their names; one that lacks a method, or has the name of another, is
    refused.
    """
    kinds = list(panels)
    _registered.check_methods("panel", kinds, PagePanel, "create", "show")
    named = [(kind.__name__, kind.__module__, kind) for kind in kinds]
    return list(_registered.by_name("panel", named).values())


PANELS = registered(_registered.classes(PagePanel, panels.__name__, panels.__path__, __name__))
