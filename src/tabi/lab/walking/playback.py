"""``tabi validate playback``: does each robot walk as its pattern was planned?

Patterns and robots are those of ``tabi.analysis.pattern_playback``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from tabi._errors import ModelError
from tabi.analysis.pattern_playback import WALKS, Walk, play
from tabi.lab.study import Argument, Column, Criterion, Validator, table

# what is asked for: correlation, mean offset, RMS, and slip [mm]
CORRELATION, OFFSET, RMS, SLIP = 0.97, 10.0, 20.0, 1.0


class PatternPlayback(Validator, name="playback"):
    """Play walking patterns on the robots they were made for: does each walk without a slip,
    with the ZMP it was planned with?
    """

    folder: Annotated[
        Path,
        Argument(
            help="A folder with robots/ and motions/: OpenHRP's sample robot, Choreonoid's SR1."
        ),
    ]

    unit = "walks"
    criteria = (
        Criterion.of(
            lambda r: sum(w["fallen"] for w in r["walks"]), "nobody" + " falls", at_most=0
        ),
        Criterion.of(lambda r: max(w["slip_mm"] for w in r["walks"]), "slip [mm]", at_most=SLIP),
        Criterion.of(
            lambda r: min(min(w["correlation"]) for w in r["walks"]),
            "correlation with the reference ZMP",
            at_least=CORRELATION,
        ),
        Criterion.of(
            lambda r: max(max(map(abs, w["offset_mm"])) for w in r["walks"]),
            "offset from it [mm]",
            at_most=OFFSET,
        ),
        Criterion.of(lambda r: max(max(w["rms_mm"]) for w in r["walks"]), "RMS [mm]", at_most=RMS),
    )

    def cases(self) -> list[Walk]:
        """All walks whose files are in the folder."""
        there = [walk for walk in WALKS if (self.folder / walk.motion).is_file()]
        if not there:
            names = ", ".join(walk.motion for walk in WALKS)
            words = f"has no walking pattern that is known; expected one of {names}"
            raise ModelError(words, self.folder)
        return there

    def measure(self, case: Walk) -> dict[str, Any]:
        """One walk, and whether it is as asked for."""
        row = {"walk": case.name} | play(self.folder, case)
        return row | {"within": all(c.met({"walks": [row]}) for c in self.criteria)}

    def figures(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the figures of all rows."""
        return {"walks": list(rows)}

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines for a terminal."""
        yield from table(COLUMNS, result["walks"], "")
        yield ""
        yield (
            f"asked for: no fall, slip < {SLIP:g} mm, correlation ≥ {CORRELATION:g}, offset ≤ "
            f"{OFFSET:g} mm, RMS ≤ {RMS:g} mm: {'all of it' if result['within'] else 'MISSED'}"
        )


def _pair(key: str, form: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda row: "".join(format(x, form) for x in row[key])


COLUMNS = (
    Column("walk", "walk"),
    Column("fallen", lambda row: "yes" if row["fallen"] else "no"),
    Column("slip mm", "slip_mm", ".2f"),
    Column("correlation x, y", _pair("correlation", "8.4f")),
    Column("offset mm x, y", _pair("offset_mm", "+7.2f")),
    Column("RMS mm x, y", _pair("rms_mm", "6.2f")),
    Column("reference ZMP", "reference"),
)
