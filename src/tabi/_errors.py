"""Errors of tabi: one sentence that names the problem, what was expected and what to do."""

import difflib
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parent


class TabiError(Exception):
    """Base of every error tabi raises on purpose."""


class ModelError(TabiError, ValueError):
    """A robot, a world or a state is invalid.

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


class MissingAttributeError(ModelError, AttributeError):
    """A value that an object does not have, or that cannot be assigned; ``hasattr`` is False."""


class MissingNameError(ModelError, KeyError):
    """A name that a mapping does not have; ``get`` and ``in`` work as of any mapping."""

    __str__ = Exception.__str__


class SimulationError(TabiError, RuntimeError):
    """A simulation cannot continue; the simulator keeps its last valid state."""


class VersionError(TabiError, ImportError):
    """A release of another package that tabi does not work with, or a package that is missing."""


class KernelError(TabiError, RuntimeError):
    """A kernel that cannot be compiled, found out in the middle of a run."""


def refused_attribute(owner: str, name: str, choices: Iterable[str]) -> ModelError:
    """The error for an attribute that cannot be assigned; it would be ignored otherwise."""
    names = list(choices)
    hint = near(name, names) or f"; expected one of {', '.join(names)}"
    return MissingAttributeError(f"{owner}.{name} cannot be assigned{hint}")


def users_level() -> int:
    """``stacklevel`` of a warning in the function that asks this, for the nearest line outside of
    the package.
    """
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and Path(frame.f_code.co_filename).is_relative_to(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level


def real(owner: str, value: Any) -> float:
    """The value as a number, or an error that names its owner; text is not a number."""
    try:
        if isinstance(value, (str, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        text = isinstance(value, str) and re.fullmatch(r"\s*-?\d+(\.\d*)?\s*", value)
        hint = f", {value.strip()} without quotes" if text else ""
        raise ModelError(f"{owner} is {value!r}; expected a number{hint}") from None


def near(word: str, choices: Iterable[str]) -> str:
    """The end of a sentence that offers the choice nearest to a word, empty where none is near."""
    match = nearest(word, choices, 1, 0.6)
    return f"; did you mean {match[0]!r}?" if match else ""


def nearest(word: str, choices: Iterable[str], count: int, cutoff: float) -> list[str]:
    """Choices that contain a word, all of them up to 8, then those that look like it, up to
    ``count`` in total; capitals do not matter.
    """
    names = list(dict.fromkeys(choices))
    small = word.lower()
    matches = [name for name in names if len(small) > 2 and small in name.lower()][:8]
    # those most like the word first, as in a list without capitals
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(name.lower(), []).append(name)
    matches.sort(key=lambda name: -difflib.SequenceMatcher(None, name.lower(), small).ratio())
    for match in difflib.get_close_matches(small, folded, n=count + len(matches), cutoff=cutoff):
        matches += [name for name in folded[match] if name not in matches and len(matches) < count]
    return matches


def unknown(
    kind: str,
    name: str,
    owner: str,
    choices: Iterable[str],
    error: type[ModelError] = ModelError,
    hint: str = "",
) -> ModelError:
    """The error for a name that is not there, with the names that come nearest.

    Args:
        hint: what to do where there are no choices at all.
    """
    names = list(choices)
    near = nearest(str(name), names, 3, 0.4)
    plural = {"body": "bodies", "foot": "feet"}.get(kind, f"{kind}s")
    if near:
        hint = f"{plural} near that name: {', '.join(map(repr, near))}"
    elif names:
        rest = f" and {len(names) - 8} more" if len(names) > 8 else ""
        hint = f"its {plural} are {', '.join(map(repr, names[:8]))}{rest}"
    else:
        hint = f"{owner} has no {plural}" + (f": {hint}" if hint else "")
    return error(f"{kind} {name!r} not found in {owner}; {hint}")


def expect(owner: str, value: Any, kind: Any, what: str) -> None:
    """Reject a value of a wrong type, with a description of the expected one."""
    if not isinstance(value, kind):
        raise ModelError(f"{owner} is {brief(value)}; expected {what}")


def brief(value: Any) -> str:
    """A value as a message shows it, cut where it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:79]}…"


class Helpful:
    """Attributes that are not there are refused with those that come near."""

    def __getattr__(self, name: str) -> Any:
        # copy and pickle look for names of protocols
        if name.startswith("_"):
            raise AttributeError(name)
        kind = type(self)
        public = [known for known in {*dir(kind), *self.__dict__} if not known.startswith("_")]
        matches = nearest(name, sorted(public), 3, 0.5)
        hint = (
            f"did you mean {', '.join(matches)}?" if matches else "see dir() of it for what it has"
        )
        raise MissingAttributeError(f"a {kind.__name__} has no {name!r}; {hint}")
