"""``tabi validate tosses``: real tosses of a cube, replayed; registered by ``validate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def tosses(
    path: Annotated[Path, typer.Argument(help="An .npz file of recorded tosses (arrays toss_0, toss_1, …), or a folder of them.")],
    budget: Annotated[int, typer.Option(min=10, help="Evaluations that the search may have, for each engine.")] = 150,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Replay real tosses of a cube: is tabi, fitted on one half of them, as near to the other half as MuJoCo?"""
    # of the module that registers this one
    from tabi.apps.validate import _progress, _show
    from tabi.validation import tosses

    with _progress() as report:
        result = tosses.validate(path, budget, report)
    _show(result, tosses.text, as_json, passed=result["within"])
