"""Criteria of a study: the ranges in which measured numbers have to be."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Criterion:
    """The range that a number has to be in.

    Attributes:
        number: its name among the numbers, "total.missed" where it is one of a part; of a list its
            length is meant.
        words: what has to be, as a sentence without a full stop: "the heels lift by 2 mm or more".
        at_least, at_most: the range.
        computed: what makes the number of all numbers, where it is none of them.
    """

    number: str
    words: str
    at_least: float = -math.inf
    at_most: float = math.inf
    computed: Callable[[Mapping[str, Any]], Any] | None = None

    @classmethod
    def of(
        cls,
        computed: Callable[[Mapping[str, Any]], Any],
        words: str,
        at_least: float = -math.inf,
        at_most: float = math.inf,
    ) -> Criterion:
        """The range of a number that is computed of others."""
        return cls(words, words, at_least, at_most, computed)

    def value(self, numbers: Mapping[str, Any]) -> float:
        """The number; NaN where there is none."""
        result: Any = numbers
        if self.computed is not None:
            # of a run that was interrupted some are missing
            with contextlib.suppress(KeyError, ValueError):
                return float(self.computed(numbers))
            return math.nan
        for key in self.number.split("."):
            result = result.get(key) if isinstance(result, Mapping) else None
        if isinstance(result, Sized):
            return float(len(result))
        return math.nan if result is None else float(result)

    def met(self, numbers: Mapping[str, Any]) -> bool:
        """Whether the number is there, and in the range; never one that is not a number."""
        return self.at_least <= self.value(numbers) <= self.at_most

    def off(self, numbers: Mapping[str, Any]) -> str:
        """By how much a number is out of the range, in words; empty where it is in it."""
        if self.met(numbers):
            return ""
        x = self.value(numbers)
        if math.isnan(x):
            return f"{self.number} was not found"
        edge, side = (self.at_least, "least") if x < self.at_least else (self.at_most, "most")
        return f"{self.number} is {x:.4g}, at {side} {edge:.4g} expected"

    def to_dict(self, numbers: Mapping[str, Any]) -> dict[str, Any]:
        """Return the number, its limits and whether it is within them; None: not finite."""
        limits = {"value": self.value(numbers), "at_least": self.at_least, "at_most": self.at_most}
        data = {key: x if math.isfinite(x) else None for key, x in limits.items()}
        return {"words": self.words} | data | {"met": self.met(numbers)}
