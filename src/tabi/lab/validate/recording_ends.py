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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tabi._errors import TabiError
from tabi.lab.validate import recording_writer
from tabi.lab.validate.systems import check_signals
from tabi.recording.problems import RecordingError
from tabi.recording.recorded import Recorded, read

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


def validate(
    claims: Claims,
    moments: int = 1000,
    seed: int = 0,
    progress: Callable[[str, int, int], None] = lambda what, done, count: None,
) -> dict[str, Any]:
    """End so many runs or episodes; an interrupt keeps what is done.

    Args:
        claims: the numbers of the report of a recording.

    Returns:
        plain data: moments of each kind, steps that were simulated and those that a kill lost at
        most, and what was wrong.
    """
    found: dict[str, Any] = {"kinds": dict.fromkeys(WAYS, 0), "steps": 0, "lost_by_a_kill": 0}
    found["wrong"], rng, interrupted = Counter[str](), random.Random(seed), False
    if not hasattr(os, "fork"):
        raise TabiError("this experiment forks processes; run it on Linux or macOS")
    try:
        with tempfile.TemporaryDirectory() as folder, Writer(Path(folder)) as writer:
            while (done := sum(found["kinds"].values())) < moments:
                kind = min(WAYS, key=lambda one: found["kinds"][one])
                resets = min(RESETS, moments - done, max(1, moments // len(WAYS)))
                trial = _trial(kind, found["kinds"][kind], resets, rng)
                for what in writer.run(trial, found, claims):
                    found["wrong"][f"{trial['how']}: {what}"] += 1
                found["kinds"][kind] += trial["moments"]
                progress("moments", sum(found["kinds"].values()), moments)
    except KeyboardInterrupt:
        interrupted = True
    done = sum(found["kinds"].values())
    within = done >= moments and not found["wrong"]
    wrong = {"wrong": dict(found["wrong"])}
    return found | wrong | {"moments": done, "interrupted": interrupted, "within": within}


def _trial(kind: str, done: int, resets: int, rng: random.Random) -> dict[str, Any]:
    """What a process is to do."""
    how = WAYS[kind][done % len(WAYS[kind])]
    by_signal = how in ("kill", "interrupt")
    return {
        "how": how,
        "seed": rng.randrange(2**31),
        "delay": rng.uniform(0.0, recording_writer.LATEST),
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

    def run(self, trial: dict[str, Any], found: dict[str, Any], claims: Claims) -> list[str]:
        """Let a process record and end; what is wrong with its file."""
        self._path.unlink(missing_ok=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(trial | {"path": str(self._path)}), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise TabiError("the program that records has ended by itself; run it again")
        episode, step = divmod(int(json.loads(line)["at"]), recording_writer.EPISODE)
        plan = planned(trial["seed"], episode, step)
        found["steps"] += sum(steps for _, steps in plan)
        return judge(self._path, trial["how"], plan, found, claims)


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


def judge(
    path: Path, how: str, plan: list[tuple[int, int]], found: dict[str, Any], claims: Claims
) -> list[str]:
    """What is wrong with a recording of a plan that ended in some way."""
    total = sum(steps for _, steps in plan)
    try:
        last = read(path)
    except RecordingError:
        # killed before there was a file
        return [] if how in ("kill", "interrupt") and total <= SECOND else ["no recording"]
    have = [(round(one.begin / last.dt), one.rows - 1) for one in last.episodes]
    stored = sum(max(0, steps) for _, steps in have)
    wrong = []
    if how == "kill":
        found["lost_by_a_kill"] = max(found["lost_by_a_kill"], total - stored)
        if stored < total - SECOND or not begins_as(have, plan):
            wrong.append("more than the last second is missing")
    # the signal may come between a step's end and the note of it
    elif have != plan and not (
        how == "interrupt" and begins_as(plan, have) and stored <= total + 1
    ):
        wrong.append("steps are missing")
    for one in last.episodes:
        wrong += overclaimed(read(path, one.number), claims)
    if last.episodes[-1].rows and last.closed != (how != "kill"):
        wrong.append("it does not say whether it was closed")
    kind = last.episodes[-1].kind if last.episodes[-1].rows else ENDINGS[how]
    if kind != ENDINGS[how] and kind not in ("reset", "restore"):
        wrong.append("it does not say how it ended")
    return wrong


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
    """What the report of an episode claims beyond its rows."""
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


def text(result: dict[str, Any]) -> str:
    """What was found, for a terminal."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in result["kinds"].items())
    said = "; ".join(f"{what} ({count})" for what, count in result["wrong"].items()) or "nothing"
    return (
        f"{result['moments']} random moments of recordings ({kinds}), {result['steps']} steps\n"
        f"  a kill lost at most the last {result['lost_by_a_kill']} steps of 1 ms\n"
        f"  wrong: {said}"
    )
