"""Tables for a terminal: columns of words and numbers, each as wide as what is in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, cast


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        title: above it. value: the key of a row, "score.median" where it is one of a part, or what
            makes it of a row.
        form: as in a format string, of numbers. scale: that numbers are multiplied by.
    """

    title: str
    value: str | Callable[[Any], Any]
    form: str = ""
    scale: float = 1.0

    def cell(self, row: Any) -> str:
        """The text of a row; empty where it has no such value."""
        result = row
        if not isinstance(self.value, str):
            result = self.value(row)
        else:
            for key in self.value.split("."):
                result = cast(Any, result).get(key) if isinstance(result, Mapping) else None
        if isinstance(result, str) or result is None:
            return result or ""
        return format(result if self.scale == 1.0 else self.scale * result, self.form)


def table(
    columns: Iterable[Column],
    rows: Iterable[Any],
    indent: str = "  ",
    below: Callable[[Any], Iterable[str]] = lambda row: (),
) -> list[str]:
    """Lines of a table: titles, unless all are empty, and a line for each row; words are aligned to
    the left, numbers to the right.

    Args:
        below: lines behind a row, indented further.
    """
    columns, rows = list(columns), list(rows)
    cells = [[column.cell(row) for column in columns] for row in rows]
    titles = [column.title for column in columns]
    wide = [max(map(len, column)) for column in zip(titles, *cells, strict=True)]
    left = [
        not column.form and all(_words(c[k]) for c in cells) for k, column in enumerate(columns)
    ]

    def line(texts: list[str]) -> str:
        shown = (
            f"{text:<{width}}" if words else f"{text:>{width}}"
            for text, width, words in zip(texts, wide, left, strict=True)
        )
        return (indent + "  ".join(shown)).rstrip()

    lines = [line(titles)] if any(titles) else []
    for row, texts in zip(rows, cells, strict=True):
        lines += [line(texts), *(f"{indent}  {words}" for words in below(row))]
    return lines


def _words(text: str) -> bool:
    """Whether a cell is no bare number."""
    try:
        float(text.replace(",", ""))
    except ValueError:
        return True
    return False
