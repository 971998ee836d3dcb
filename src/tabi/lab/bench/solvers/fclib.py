"""``tabi bench fclib``: friction problems from files, by tabi's solvers and Siconos's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tabi.contact import ProblemError, files
from tabi.lab.bench.solvers.race import Entry, Race
from tabi.lab.study import Argument, Benchmark

SUFFIXES = (".npz", ".hdf5", ".h5")


def find(paths: list[Path]) -> list[Path]:
    """The problem files among files and folders, in the order of their names."""
    if not paths:
        raise ProblemError(
            f"no friction problems are given; name a folder with {', '.join(SUFFIXES)} files, "
            "for example of FCLib, or files"
        )
    result: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES)
            if not inside:
                raise ProblemError(
                    f"folder {path} has no friction problem; "
                    f"expected {', '.join(SUFFIXES)} files in it"
                )
            result += inside
        else:
            # what it is if no problem, the reader says
            result.append(path)
    return result


class FclibRace(Race, Benchmark, name="fclib"):
    """Friction problems from files by every solver, against Siconos."""

    paths: Annotated[
        list[Path] | None,
        Argument(help="A folder of friction problems (FCLib .hdf5, or .npz), or files."),
    ] = None

    what = "problems from files"

    def entries(self) -> list[Entry]:
        """A file that is no problem is refused before the first is solved."""
        result = find(self.paths or [])
        return [Entry(path.stem, "file", files.read(path)) for path in result]
