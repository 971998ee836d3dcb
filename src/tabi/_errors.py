"""What tabi raises: one sentence that names the thing, what was expected and what to do."""

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Any


class TabiError(Exception):
    """Base of every error tabi raises on purpose."""


class ModelError(TabiError, ValueError):
    """A robot, a world or a state that cannot be what it claims to be.

    Args:
        message: one sentence.
        file: file the fault was found in, if it came from one.
        line: its line, counted from 1.
    """

    def __init__(
        self, message: str, file: str | Path | None = None, line: int | None = None
    ) -> None:
        self.file = None if file is None else Path(file)
        self.line = line
        place = "" if file is None else f"{file}, line {line}: " if line else f"{file}: "
        super().__init__(place + message)


class SimulationError(TabiError, RuntimeError):
    """A simulation that cannot go on; the simulator keeps its last good state."""


def real(owner: str, value: Any) -> float:
    """The value as a number, or an error that names its owner."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ModelError(f"{owner} is {value!r}; expected a number") from None


def near(word: str, choices: Iterable[str]) -> str:
    """The end of a sentence that offers the choice nearest to a word, empty where none is near."""
    found = difflib.get_close_matches(word, list(choices), n=1)
    return f"; did you mean {found[0]!r}?" if found else ""


def unknown(kind: str, name: str, owner: str, choices: Iterable[str]) -> ModelError:
    """The error for a name that is not there, with the names that come nearest."""
    names = list(choices)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.4) or names[:8]
    plural = {"body": "bodies", "foot": "feet"}.get(kind, f"{kind}s")
    hint = (
        f"{plural} near that name: {', '.join(map(repr, near))}"
        if near
        else f"{owner} has no {plural}"
    )
    return ModelError(f"{kind} {name!r} not found in {owner}; {hint}")
