"""Files that commands write: refused before any work is done, not after it."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

from tabi import TabiError

FIGURES = (".png", ".pdf", ".svg")


def check_writable(path: Path) -> None:
    """Refuse a file that cannot be written."""
    folder = path.absolute().parent
    if path.is_dir():
        raise TabiError(f"{path}: it is a folder; expected the name of a file to write")
    if not folder.is_dir():
        raise TabiError(f"{path}: there is no folder {folder}; make it, or choose another place")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise TabiError(f"{path}: it cannot be written; choose a folder of yours")


def check_plotting() -> None:
    """Refuse to draw where Matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise TabiError("figures are drawn by Matplotlib: pip install 'tabi[plot]'")


def check_figure(path: Path) -> None:
    """Refuse a figure of no known format, that cannot be written, or that nothing here can draw."""
    if path.suffix.lower() not in FIGURES:
        raise TabiError(
            f"figure {path}: the format {path.suffix or 'without suffix'!r} is not known; "
            f"expected {', '.join(FIGURES)}"
        )
    check_writable(path)
    check_plotting()
