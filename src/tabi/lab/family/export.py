"""``tabi family export``: contact problems of humanoids as files, for tests of other solvers.

Problems are those of ``family`` in which HRP-2 touches the ground: held by its motors on both feet
(stance), rocking on its sole corners (rocking), sliding (slide) and fallen (fall); and, as many
again, steps of scenes in which robots walk, lift, lean, push and carry (scene). Each is a file in
FCLib's form with a reference solution, group ``/solution`` with u and r, and a JSON file beside
it with its certificate and how hard it was:

    solved from zero impulses to 1e-8 ‖q‖∞: number of the attempt in the list of
    ``contact.ladder``, and iterations of all attempts until then                               (1)
    solved on from there to 1e-12 ‖q‖∞, as far as it goes: the reference                        (2)
A file is read back before it counts, and its solution checked again by ``contact.certificate`` from
what was read. Where W is singular, as with three or more corners of a sole, impulses are not
unique: a solver is judged by the certificate of its own answer, not by its distance to the
reference. Attempts of one name count as the first of them.

A folder belongs to one seed. Valid problems that are there, by digest and certificate, are kept.

Reference: Acary et al. (2014), FCLIB: a collection of discrete 3D frictional contact problems.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tabi import __version__
from tabi._errors import TabiError
from tabi.contact import Problem, judge, solve_problem
from tabi.contact.certificate import COLUMNS, Certificate
from tabi.contact.files import read, read_solution, write
from tabi.contact.ladder import NAMES
from tabi.contact.matrix_form import sparse
from tabi.lab.family import case
from tabi.lab.family.case import STEP
from tabi.lab.family.readme import readme

INDEX = "index.json"
# kinds with a humanoid, and their shares
KINDS = {"stance": 3, "rocking": 2, "slide": 2, "fall": 3, "scene": 10}
# of (1) and (2), parts of ‖q‖∞
TOLERANCE, REFERENCE = 1e-8, 1e-12
# a certificate from a file may exceed the recorded one by rounding [m/s]
ROUNDING = 1e-15
MAX_PROBLEMS = 100_000
Record = dict[str, Any]
Look = Callable[[int, str], bool]


@dataclass(frozen=True)
class ProblemFile:
    """Files of one problem: ``family.case(kind, index, seed)``."""

    folder: Path
    kind: str
    index: int
    seed: int

    @property
    def name(self) -> str:
        """Name of the problem in the family."""
        return f"{self.kind} {self.seed}:{self.index}"

    @property
    def file(self) -> Path:
        """File of the problem."""
        return self.folder / f"{self.kind}-{self.seed}-{self.index:04d}.hdf5"

    @property
    def record(self) -> Path:
        """File of its record."""
        return self.file.with_suffix(".json")


def places(folder: Path, count: int, seed: int) -> Iterator[ProblemFile]:
    """Yield files for a number of problems, kinds in turn by their shares, so that a larger export
    begins with the same problems.
    """
    turn = [kind for k in range(max(KINDS.values())) for kind, n in KINDS.items() if k < n]
    made = dict.fromkeys(KINDS, 0)
    for i in range(count):
        kind = turn[i % len(turn)]
        yield ProblemFile(folder, kind, made[kind], seed)
        made[kind] += 1


# ---- one problem --------------------------------------------------------------------------------


def make(place: ProblemFile) -> Record:
    """Make a problem, solve it, write it, read it back and judge it."""
    made = case(place.kind, place.index, place.seed)
    assert made.bodies is not None
    order = np.arange(len(made.bodies.q)).reshape(-1, 3)[:, [2, 0, 1]].ravel()
    W: Any = sparse(made.bodies)[order][:, order]
    q, mu = made.bodies.q[order], made.bodies.mu
    problem = Problem(W, q, mu, order="ntt")
    first = solve_problem(problem, TOLERANCE)
    finer = solve_problem(problem, REFERENCE, first.impulse)
    best = min((finer, first), key=lambda s: s.residual)
    about = (
        f"humanoids, {place.kind}: case {place.name} of tabi's family, step {STEP:g} s, SI units"
    )
    part = place.file.with_suffix(".part.hdf5")
    write(part, W, q, mu, place.name, about, (best.velocity, best.impulse))
    os.replace(part, place.file)
    touching = np.concatenate([made.bodies.contact["a"], made.bodies.contact["b"]])
    record: Record = {
        "name": place.name,
        "family": place.kind,
        "seed": place.seed,
        "index": place.index,
        "file": place.file.name,
        "sha256": digest(place.file),
        "contacts": len(mu),
        "bodies": len(np.unique(touching[touching >= 0])),
        "friction": [float(mu.min()), float(mu.max())],
        "solved": first.converged,
        "iterations": first.iterations,
        "attempt": NAMES.index(first.solver),
        "attempt_name": first.solver,
        "certificate": figures(certificate_of(place.file)),
    }
    _write_text(place.record, json.dumps(record, indent=2) + "\n")
    return record


def certificate_of(file: Path) -> Certificate:
    """Return the certificate of a file's solution, from what is read of it alone."""
    problem = read(file)
    solution = read_solution(file)
    if solution is None:
        raise TabiError(f"{file}: it has no solution; expected the group 'solution' with u and r")
    return judge(problem.blocks, problem.to_ours(solution[1]))


def figures(certificate: Certificate) -> dict[str, float]:
    """Return the worst of each figure, and the backward error as a part of ‖q‖∞."""
    return {name: float(getattr(certificate, name)) for name in COLUMNS} | {
        "relative": certificate.relative
    }


def stored_record(place: ProblemFile) -> Record | None:
    """Return the record of a problem whose files are there and valid; else None."""
    try:
        record = json.loads(place.record.read_text(encoding="utf-8"))
        if record["name"] != place.name or record["sha256"] != digest(place.file):
            return None
        recorded, result = record["certificate"]["residual"], certificate_of(place.file).residual
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return record if result <= recorded + ROUNDING else None


def digest(file: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def hardness(record: Record) -> tuple[int, int]:
    """(1): attempt, then iterations."""
    return record["attempt"], record["iterations"]


# ---- all of them --------------------------------------------------------------------------------


def export(
    folder: Path,
    count: int = 100,
    seed: int = 0,
    hardest: int | None = None,
    look: Look = lambda done, name: False,
) -> dict[str, Any]:
    """Write problems into a folder, with an index and a page about them.

    Args:
        count: problems that are made. hardest: how many of them stay; default: all.
        look: callback with the count of those done and the next; returns whether to stop.

    Returns:
        the index, and how many files were kept from before.
    """
    before = prepare(folder, count, seed, hardest)
    # problems that were not hard enough are known by their figures
    easy = {record["name"]: record for record in before.get("left_out", [])}
    records: list[Record] = []
    reused, stopped = 0, False
    for done, place in enumerate(places(folder, count, seed)):
        stopped = look(done, place.name)
        if stopped:
            break
        known = stored_record(place) or (easy.get(place.name) if hardest else None)
        reused += known is not None
        records.append(known or make(place))
    selected = _hardest(folder, records, None if stopped else hardest or len(records))
    names = {record["name"] for record in selected}
    rest = [record for record in records if record["name"] not in names]
    index = {
        "format": "tabi family",
        "tabi": __version__,
        "seed": seed,
        "count": count,
        "hardest": hardest,
        "tolerance": TOLERANCE,
        "complete": not stopped,
        "problems": sorted(selected, key=lambda record: (record["family"], record["index"])),
        "left_out": rest,
    }
    _settle(folder, before, index)
    return index | {"reused": reused, "interrupted": stopped}


def _hardest(folder: Path, records: list[Record], hardest: int | None) -> list[Record]:
    """The hardest, made again where only their figures are left; all that are there without a
    number: an export that was cut short has not seen the hardest.
    """
    there = {record["name"]: (folder / record["file"]).is_file() for record in records}
    if hardest is None:
        return [record for record in records if there[record["name"]]]
    return [
        record
        if there[record["name"]]
        else make(ProblemFile(folder, record["family"], record["index"], record["seed"]))
        for record in sorted(records, key=hardness, reverse=True)[:hardest]
    ]


def prepare(folder: Path, count: int, seed: int, hardest: int | None) -> dict[str, Any]:
    """Check the arguments, make the folder, and return its index, or an empty one."""
    if not 1 <= count <= MAX_PROBLEMS:
        raise TabiError(f"--count is {count}; expected a whole number from 1 to {MAX_PROBLEMS}")
    if hardest is not None and not 1 <= hardest <= count:
        raise TabiError(
            f"--hardest is {hardest}, of {count} problems; expected a whole number from 1 to that: "
            "give a larger --count"
        )
    if seed < 0:
        raise TabiError(f"--seed is {seed}; expected a whole number ≥ 0")
    if folder.exists() and not folder.is_dir():
        raise TabiError(f"{folder}: it is a file; expected a folder")
    if not folder.exists():
        if not folder.absolute().parent.is_dir():
            raise TabiError(f"{folder}: there is no folder {folder.absolute().parent}; make it")
        folder.mkdir()
    if not os.access(folder, os.W_OK):
        raise TabiError(f"{folder}: it cannot be written; choose a folder of yours")
    if not any(folder.iterdir()):
        empty = {"format": "tabi family", "seed": seed, "problems": [], "left_out": []}
        _write_text(folder / INDEX, json.dumps(empty) + "\n")
        return empty
    try:
        before = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        theirs = before["format"] == "tabi family" and before["seed"]
        for record in (*before["problems"], *before["left_out"]):
            known = (*hardness(record), record["index"], record["name"], record["file"])
            if [type(x) for x in known] != [int, int, int, str, str]:
                raise ValueError(known)
    except (OSError, ValueError, TypeError, KeyError):
        raise TabiError(
            f"{folder}: there are files, and no {INDEX} of such problems; "
            "expected an empty folder, or one that this command began"
        ) from None
    if theirs is False or theirs != seed:
        raise TabiError(
            f"{folder}: it holds problems of seed {theirs}, and --seed is {seed}; "
            "choose another folder, or that seed"
        )
    return before


def _settle(folder: Path, before: dict[str, Any], index: dict[str, Any]) -> None:
    """Write index and page; remove files of this set that are no longer in it."""
    stay = {record["file"] for record in index["problems"]}
    if index["complete"]:
        for record in (*before.get("problems", []), *index["left_out"]):
            file = folder / Path(str(record["file"])).name
            if file.name not in stay and file.suffix == ".hdf5":
                file.unlink(missing_ok=True)
                file.with_suffix(".json").unlink(missing_ok=True)
    _write_text(folder / INDEX, json.dumps(index, indent=2) + "\n")
    _write_text(folder / "README.md", readme(index))


def _write_text(file: Path, text: str) -> None:
    """All of it or nothing."""
    part = file.with_name(file.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, file)
