"""Parts of a page that stands alone: sections, tables, pictures and numbers with their units."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def whole(title: str, parts: Iterable[str]) -> str:
    """A page that stands alone, of its parts."""
    shell = (resources.files("tabi.reporting.report") / "page.html").read_text(encoding="utf-8")
    # what comes last may hold the words of the first
    before, _, after = shell.partition("<!--body-->")
    return before.replace("<!--title-->", escape(title)) + "\n".join(parts) + after


def section(title: str, inside: str) -> str:
    """A part of the page under its title."""
    return f"<section><h2>{escape(title)}</h2>\n{inside}</section>"


def plot(source: str, what: str) -> str:
    """A picture over the whole width, by its address."""
    return f'<figure class="plot"><img src="{source}" alt="{escape(what)}"></figure>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]], long: bool = False) -> str:
    """A table; columns whose heads begin with = hold numbers, and stand to the right."""
    kinds = [' class="n"' if name.startswith("=") else "" for name in head]

    def line(tag: str, cells: Sequence[str]) -> str:
        return (
            "<tr>"
            + "".join(
                f"<{tag}{kind}>{escape(cell)}</{tag}>"
                for kind, cell in zip(kinds, cells, strict=True)
            )
            + "</tr>"
        )

    top = (
        line("th", [name.removeprefix("=") for name in head])
        if any(name.strip("=") for name in head)
        else ""
    )
    body = "".join(line("td", row) for row in rows)
    kind = " class=long" if long else ""
    start = f"<thead>{top}</thead>" if top else ""
    return f"<table{kind}>{start}<tbody>{body}</tbody></table>"


def short(x: float, unit: str) -> str:
    """Three digits and a unit of a size that fits; zero is zero."""
    if x == 0:
        return f"0 {unit}"
    if unit == "m" and abs(x) < 0.9995:
        sizes = {"mm": 1e-3, "µm": 1e-6, "nm": 1e-9}
        return next(
            (f"{x / size:.3g} {name}" for name, size in sizes.items() if abs(x) >= 0.9995 * size),
            "< 1 nm",
        )
    if 1e-3 <= abs(x) < 1e5:
        return f"{x:.0f} {unit}" if abs(x) >= 999.5 else f"{x:.3g} {unit}"
    digits, power = f"{x:.2e}".split("e")
    return f"{digits}·10{str(int(power)).translate(RAISED)} {unit}"
