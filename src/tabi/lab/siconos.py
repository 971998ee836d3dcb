"""Siconos as competitor: friction problems solved by Debian's python3-siconos,
in a process of its own.

It belongs to the system's Python and is never imported here: ``siconos_worker`` runs there on one
thread and is asked for one problem at a time, from zero impulses, with its default options. Siconos
stops by its own measure, so its tolerance is lowered, tenfold at a time, until tabi's certificate
is met; only the run that meets it is timed. A run that crashes or takes too long is a problem not
solved; the next one gets a fresh process.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from tabi._errors import ModelError
from tabi.contact import Problem, judge

PYTHON = "/usr/bin/python3"
MISSING = f"Siconos is not installed for {PYTHON}; on Debian: apt install python3-siconos"
WORKER = Path(__file__).with_name("siconos_worker.py")
# name → Siconos's solver, whether its matrix is dense, most iterations
METHODS = {
    "NSGS": ("NSGS", False, 20000),
    "NSN_AC": ("NSN_AC", False, 200),
    "NSN_AC dense": ("NSN_AC", True, 200),
}
# tolerances tried: that of the certificate, and four times a tenth
LOWERINGS = 5
START_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class SiconosAnswer:
    """Result of Siconos for one problem.

    Attributes:
        impulse: λ [N·s] in the order of the problem, or None where there is none.
        converged: whether tabi's certificate is within the tolerance.
        residual: backward error relative to ‖q‖∞, by tabi's certificate; the best one met.
        seconds: of Siconos's driver alone, in the run that ended so.
        own_tolerance: what Siconos was asked for in that run.
        fault: why there is no better answer: "crashed", "time limit", an error;
            empty where there was none.
    """

    impulse: NDArray[np.float64] | None = None
    converged: bool = False
    residual: float = float("inf")
    iterations: int = 0
    seconds: float = float("inf")
    own_tolerance: float = float("nan")
    fault: str = ""


@functools.cache
def available() -> bool:
    """Whether the system's Python has Siconos."""
    try:
        return (
            subprocess.run(
                [PYTHON, "-I", "-c", "import siconos.numerics"],
                capture_output=True,
                timeout=START_TIMEOUT_S,
            ).returncode
            == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


def version() -> str | None:
    """Return the version of the package python3-siconos; the one that Siconos itself reports is
    wrong.
    """
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        query = ["dpkg-query", "--show", "--showformat=${Version}", "python3-siconos"]
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout
    return None


class Session:
    """A running Siconos. To be used in a ``with``.

    Args:
        seconds: time a run may take until it is stopped;
            no lower tolerance is tried after as much in all.
    """

    def __init__(self, seconds: float = 10.0) -> None:
        if not available():
            raise ModelError(MISSING)
        self.seconds = seconds
        self.process: subprocess.Popen[bytes] | None = None
        self.folder = tempfile.TemporaryDirectory(prefix="tabi-siconos-")
        self.written: tuple[Problem, Path] | None = None
        self.count = 0

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        self.folder.cleanup()

    def solve(self, problem: Problem, method: str, tolerance: float = 1e-8) -> SiconosAnswer:
        """The first run whose impulses tabi's certificate accepts, or the best one met."""
        if method not in METHODS:
            raise ModelError(
                f"Siconos method is {method!r}; expected one of {', '.join(map(repr, METHODS))}"
            )
        best, start = SiconosAnswer(), time.monotonic()
        for lowering in range(LOWERINGS):
            method_tolerance = tolerance * 0.1**lowering
            got = self._ask(self._file(problem), method, method_tolerance)
            if "fault" in got:
                # where it is stopped or falls, it would with less tolerance too
                return SiconosAnswer(**{**vars(best), "fault": got["fault"]})
            impulse = from_ntt(np.array(got["impulse"]))
            certificate = judge(problem.blocks, impulse)
            converged = certificate.converged(tolerance)
            if converged or not best.residual <= certificate.relative:
                best = SiconosAnswer(
                    problem.to_theirs(impulse),
                    converged,
                    certificate.relative,
                    got["iterations"],
                    got["seconds"],
                    method_tolerance,
                )
            if converged or time.monotonic() - start > self.seconds:
                break
        return best

    def _file(self, problem: Problem) -> Path:
        """The problem on disk; the last one is kept for the next method."""
        if self.written is None or self.written[0] is not problem:
            if self.written is not None:
                self.written[1].unlink(missing_ok=True)
            self.count += 1
            self.written = (problem, Path(self.folder.name) / f"{self.count}.npz")
            write(self.written[1], problem)
        return self.written[1]

    def _ask(self, file: Path, method: str, tolerance: float) -> dict[str, Any]:
        if self.process is None:
            self._start()
        assert self.process is not None
        assert self.process.stdin is not None
        solver, dense, iterations = METHODS[method]
        request = {
            "file": str(file),
            "solver": solver,
            "dense": dense,
            "tolerance": tolerance,
            "iterations": iterations,
        }
        # a process that has just fallen is found when its answer is read
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        return self._answer(self.seconds)

    def _start(self) -> None:
        single = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
        # isolated (-I): neither this package's folder nor the caller's PYTHONPATH hides
        # the system's siconos
        command = [PYTHON, "-I", str(WORKER)]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **single},
        )
        if "ready" not in self._answer(START_TIMEOUT_S):
            raise ModelError(
                f"Siconos does not start under {PYTHON}; "
                f"{PYTHON} -c 'import siconos.numerics' says why"
            )

    def _answer(self, seconds: float) -> dict[str, Any]:
        """The next line of the process; where there is none in time, the process is ended."""
        assert self.process is not None
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        line = self.process.stdout.readline() if ready else b""
        if line.endswith(b"\n"):
            return json.loads(line)
        self._stop()
        return {"fault": "crashed" if ready else "time limit"}

    def _stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def solve_all(
    problems: Iterable[Problem],
    tolerance: float = 1e-8,
    methods: Iterable[str] = ("NSGS", "NSN_AC"),
    seconds: float = 10.0,
) -> list[dict[str, SiconosAnswer]]:
    """Every problem by every method, in order.

    Args:
        tolerance: backward error to reach, relative to ‖q‖∞, by tabi's certificate.
        seconds: time a run may take until it is stopped.
    """
    with Session(seconds) as session:
        names = list(methods)
        return [
            {method: session.solve(problem, method, tolerance) for method in names}
            for problem in problems
        ]


def write(path: Path, problem: Problem) -> None:
    """A problem as the worker reads it: triplets of W by columns, without zeros, q and mu,
    normal first.
    """
    p = problem.blocks
    # theirs are rows 2, 0, 1 of ours in each contact
    place = np.arange(len(p.q)).reshape(-1, 3)[:, (2, 0, 1)].ravel()
    W = (
        scipy.sparse.bsr_matrix(
            (p.value.reshape(-1, 3, 3), p.column, p.start), (len(p.q), len(p.q))
        )
        .tocsr()[place][:, place]
        .tocsc()
    )
    W.eliminate_zeros()
    # column by column in order: the order of summation decides whether a Newton
    # that wanders converges
    W.sort_indices()
    column = np.repeat(np.arange(len(p.q)), np.diff(W.indptr))
    np.savez(path, row=W.indices, column=column, value=W.data, q=p.q[place], mu=p.mu)


def from_ntt(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """A vector of Siconos, normal first, in tabi's order, tangents first."""
    return np.ascontiguousarray(vector.reshape(-1, 3)[:, (1, 2, 0)].ravel())
