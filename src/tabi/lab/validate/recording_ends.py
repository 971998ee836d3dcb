"""``tabi validate recordings``: processes that record are killed, exit, raise and reset at random
moments; is every step in the file, and does a report claim more than that?

A box on the ground is recorded with every step, in episodes of random length that begin by a reset
or by a state that is restored. Of every file it is asked

    reset, exit, exception    every step of every episode is there, to the last one
    kill                      all but the last second is there, and nothing of anything else
    report                    each episode has as many steps as it has rows beside the first, none
                              is certified without steps, and the ending is what it was
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from tabi._errors import TabiError
from tabi.lab.study import Criterion, Option, Validator, progress
from tabi.lab.validate import recording_writer
from tabi.lab.validate.systems import check_signals
from tabi.recording.problems import RecordingError
from tabi.recording.recorded import Recorded, read
from tabi.reporting.report import contacts, findings

# moments of these kinds come in turn; those of one kind in one of these ways
WAYS = {
    "kill": ("kill",),
    "exit": ("exit", "end"),
    "exception": ("exception", "callback", "interrupt"),
    "reset": ("closed",),
}
# resets in one process
RESETS = 25
# how the report has to say that a run ended
ENDINGS = {
    "kill": "",
    "exit": "exit",
    "end": "exit",
    "exception": "exception",
    "callback": "exception",
    "interrupt": "exception",
    "closed": "closed",
}
# steps of the last second
SECOND = 1000

Claims = Callable[[Recorded], dict[str, Any]]


def claimed(run: Recorded) -> dict[str, Any]:
    """The numbers of the report of a recording."""
    return findings.measure(run, contacts.touches(run))


class RecordingEnds(Validator, name="recordings"):
    """Kill, exit, raise and reset at random moments while recording: is every step in the file,
    and does a report claim more than was recorded?
    """

    moments: Annotated[int, Option(min=1, help="Kills, exits, exceptions, resets.")] = 1000
    seed: Annotated[int, Option(min=0, help="Of the moments.")] = 0
    claims: Claims = claimed

    unit = "moments"
    criteria = (Criterion("wrong", "nothing is wrong with any file", at_most=0),)

    def cases(self) -> Iterator[tuple[Writer, str, dict[str, Any]]]:
        """Kinds of moments in turn, the rarest first."""
        if not hasattr(os, "fork"):
            raise TabiError("this experiment forks processes; run it on Linux or macOS")
        rng, kinds = random.Random(self.seed), dict.fromkeys(WAYS, 0)
        with tempfile.TemporaryDirectory() as folder, Writer(Path(folder)) as writer:
            while (done := sum(kinds.values())) < self.moments:
                kind = min(kinds, key=lambda name: kinds[name])
                resets = min(RESETS, self.moments - done, max(1, self.moments // len(WAYS)))
                trial = _trial(kind, kinds[kind], resets, rng)
                yield writer, kind, trial
                kinds[kind] += trial["moments"]
                progress(self.unit, sum(kinds.values()), self.moments)

    def measure(self, case: tuple[Writer, str, dict[str, Any]]) -> RecordingEnd:
        """Measure one case and return its row."""
        writer, kind, trial = case
        steps, (lost, wrong) = writer.run(trial, self.claims)
        return RecordingEnd(kind, trial["how"], trial["moments"], steps, lost, wrong)

    def figures(self, rows: Sequence[RecordingEnd]) -> dict[str, Any]:
        """Moments of each kind, steps that were simulated and those that a kill lost at most, and
        what was wrong.
        """
        kinds = {kind: sum(row.moments for row in rows if row.kind == kind) for kind in WAYS}
        return {
            "kinds": kinds,
            "steps": sum(row.steps for row in rows),
            "lost_by_a_kill": max((row.lost for row in rows), default=0),
            "wrong": dict(Counter(f"{row.how}: {what}" for row in rows for what in row.wrong)),
            "moments": sum(kinds.values()),
        }

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines for a terminal."""
        kinds = ", ".join(f"{count} {kind}" for kind, count in result["kinds"].items())
        wrong = "; ".join(f"{what} ({count})" for what, count in result["wrong"].items())
        yield (
            f"{result['moments']} random moments of recordings ({kinds}), {result['steps']} steps"
        )
        yield f"  a kill lost at most the last {result['lost_by_a_kill']} steps of 1 ms"
        yield f"  wrong: {wrong or 'nothing'}"


@dataclass(frozen=True)
class RecordingEnd:
    """End of a process: in which way, its moments and steps, steps that a kill lost, and what
    was wrong with its file.
    """

    kind: str
    how: str
    moments: int
    steps: int
    lost: int
    wrong: list[str]


def _trial(kind: str, done: int, resets: int, rng: random.Random) -> dict[str, Any]:
    """Return the task of a process as plain data."""
    how = WAYS[kind][done % len(WAYS[kind])]
    by_signal = how in ("kill", "interrupt")
    return {
        "how": how,
        "seed": rng.randrange(2**31),
        "delay": rng.uniform(0.0, recording_writer.MAX_SIGNAL_TIME_S),
        # a run that a signal or its resets end has no last step of its own
        "steps": -1 if by_signal or kind == "reset" else rng.randint(1, recording_writer.MAX_STEPS),
        "episodes": resets + 1 if kind == "reset" else -1,
        "moments": resets if kind == "reset" else 1,
    }


class Writer:
    """The program that records, in a folder."""

    def __init__(self, folder: Path) -> None:
        check_signals("the check of recordings")
        self._path = folder / "run.h5"
        command = [sys.executable, "-m", recording_writer.__name__]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *problem: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def run(self, trial: dict[str, Any], claims: Claims) -> tuple[int, tuple[int, list[str]]]:
        """Let a process record and end; its steps, and what its file was judged."""
        self._path.unlink(missing_ok=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(trial | {"path": str(self._path)}), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise TabiError("the program that records has ended by itself; run it again")
        episode, step = divmod(int(json.loads(line)["at"]), recording_writer.EPISODE)
        plan = planned(trial["seed"], episode, step)
        steps = sum(steps for _, steps in plan)
        return steps, check(self._path, trial["how"], plan, claims)


def planned(seed: int, episode: int, step: int) -> list[tuple[int, int]]:
    """Episodes of a run that came to a step of an episode: where each begins, and its steps;
    without those in which nothing is simulated. One that begins where the last one ended is a part
    of that.
    """
    plan: list[tuple[int, int]] = []
    for number, (begin, length, _) in enumerate(recording_writer.episodes(seed)):
        steps = step if number == episode else length
        if begin and plan and sum(plan[-1]) == begin:
            plan[-1] = (plan[-1][0], plan[-1][1] + steps)
        else:
            plan.append((begin, steps))
        if number == episode:
            break
    return [(begin, steps) for begin, steps in plan if steps] or [plan[0]]


def check(
    path: Path, how: str, plan: list[tuple[int, int]], claims: Claims
) -> tuple[int, list[str]]:
    """Return the steps that a kill lost from a recording of a plan, and what is wrong with it."""
    total = sum(steps for _, steps in plan)
    try:
        last = read(path)
    except RecordingError:
        # killed before there was a file
        early = how in ("kill", "interrupt") and total <= SECOND
        return 0, [] if early else ["no recording"]
    have = [(round(e.begin / last.dt), e.rows - 1) for e in last.episodes]
    stored = sum(max(0, steps) for _, steps in have)
    wrong, lost = [], max(0, total - stored) if how == "kill" else 0
    if how == "kill":
        if stored < total - SECOND or not begins_as(have, plan):
            wrong.append("more than the last second is missing")
    # the signal may come between a step's end and the note of it
    elif have != plan and not (
        how == "interrupt" and begins_as(plan, have) and stored <= total + 1
    ):
        wrong.append("steps are missing")
    for episode in last.episodes:
        wrong += overclaimed(read(path, episode.number), claims)
    if last.episodes[-1].rows and last.closed != (how != "kill"):
        wrong.append("it does not say whether it was closed")
    kind = last.episodes[-1].kind if last.episodes[-1].rows else ENDINGS[how]
    if kind != ENDINGS[how] and kind not in ("reset", "restore"):
        wrong.append("it does not say how it ended")
    return lost, wrong


def begins_as(have: list[tuple[int, int]], plan: list[tuple[int, int]]) -> bool:
    """Whether episodes are the first of others, the last one perhaps with fewer steps."""
    if not have or have[-1][1] < 1:
        return len(have) <= 1
    *whole, (begin, steps) = have
    return (
        len(have) <= len(plan)
        and whole == plan[: len(whole)]
        and begin == plan[len(whole)][0]
        and steps <= plan[len(whole)][1] + 1
    )


def overclaimed(run: Recorded, claims: Claims) -> list[str]:
    """Return what the report of an episode claims beyond its rows."""
    if not len(run.time):
        return []
    wrong, numbers = [], claims(run)
    steps = len(run.time) - 1
    if not np.allclose(np.diff(run.time), run.dt, atol=1e-9):
        wrong.append("its time does not run forwards by steps")
    if numbers["certificate"]["steps"] != steps or numbers["certified"] != (steps > 0):
        wrong.append("the report claims other steps than there are")
    if ("not closed" in numbers["verdict"]) != (run.episodes[run.episode].kind == ""):
        wrong.append("the report is wrong about the end")
    return wrong
