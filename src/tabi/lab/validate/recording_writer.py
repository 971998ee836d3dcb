"""The program that ``recording_ends`` starts: it forks a process for each line of its input, which
records a box on the ground and ends as the line says, and prints what became of it.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from tabi.model.world import World
from tabi.simulation.simulator import Simulator

# steps of an episode at most, and of a run that does not end by a signal
MAX_EPISODE_STEPS, MAX_STEPS = 400, 1500
# seconds from a process's start to its signal, at most
MAX_SIGNAL_TIME_S = 0.4
# seconds that a process may go on after an interrupt
PATIENCE = 20.0
# numbers below it are steps, those above it episodes
EPISODE = 10**9


def episodes(seed: int) -> Iterator[tuple[int, int, int]]:
    """Episodes of a run, without end: the step each begins at, its steps, and after how many of
    them a state is saved, for the next one to begin with; 0 where that one begins by a reset.
    """
    rng, begin = random.Random(seed), 0
    while True:
        # now and then nothing at all is simulated
        length = rng.randint(1, MAX_EPISODE_STEPS) if rng.random() < 0.9 else 0
        save = rng.randint(1, length) if length and rng.random() < 0.3 else 0
        yield begin, length, save
        begin = begin + save if save else 0


def box() -> Simulator:
    """Return a simulation to record: cheap, and never without contacts."""
    world = World()
    world.add_ground()
    world.add_box(size=(0.3, 0.3, 0.3), mass=3.0, position=(0.0, 0.0, 0.15))
    return Simulator(world)


def record(sim: Simulator, trial: dict[str, Any], now: Any) -> None:
    """One run, to its end or to the signal that ends it."""
    how, left = trial["how"], trial["steps"]
    if how == "callback":
        # called before the recording's own turn
        sim.every(1, Fails(left, now))
    recording = sim.record(trial["path"])
    for number, (_, length, save) in enumerate(episodes(trial["seed"])):
        saved = None
        for k in range(1, length + 1):
            sim.step()
            now[0], left = EPISODE * number + k, left - 1
            saved = sim.save() if k == save else saved
            if left == 0:
                break
        if left == 0 or number + 1 == trial["episodes"]:
            break
        if saved is not None:
            sim.restore(saved)
        else:
            sim.reset()
        now[0] = EPISODE * (number + 1)
    if how == "closed":
        recording.close()
    if how == "exit":
        sys.exit(3)
    if how == "exception":
        raise RuntimeError("as planned")


class Fails:
    """A callback that raises after so many steps, and notes the last one."""

    def __init__(self, steps: int, now: Any) -> None:
        self.left, self.now = steps, now

    def __call__(self, data: object) -> None:
        """Count down the steps."""
        self.left -= 1
        if self.left == 0:
            self.now[0] += 1
            raise RuntimeError("as planned")


def serve(sim: Simulator) -> tuple[dict[str, Any], Any] | None:
    """Fork for each line; in the new process, its trial and where it notes its steps, and before
    that that it runs.
    """
    now = np.frombuffer(mmap.mmap(-1, 16), np.int64)
    for line in sys.stdin:
        trial, now[:] = json.loads(line), 0
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
            now[1] = 1
            return trial, now
        if trial["how"] in ("kill", "interrupt"):
            # Python itself loses an interrupt that comes while it forks
            while not now[1]:
                time.sleep(0.001)
            time.sleep(trial["delay"])
            number = signal.SIGKILL if trial["how"] == "kill" else signal.SIGINT
            os.kill(child, number)
        status = _ended(child, trial["how"])
        print(json.dumps({"code": os.waitstatus_to_exitcode(status), "at": int(now[0])}))
        sys.stdout.flush()
    return None


def _ended(child: int, how: str) -> int:
    """The status of a process when it has ended; one that goes on after an interrupt is killed."""
    end = time.monotonic() + PATIENCE
    while True:
        done, status = os.waitpid(child, os.WNOHANG if how == "interrupt" else 0)
        if done:
            return status
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            return os.waitpid(child, 0)[1]
        time.sleep(0.005)


if __name__ == "__main__":
    warm = box()
    warm.step()
    warm.reset()
    plan = serve(warm)
    # out here, so that an exception ends the process as it ends a script
    if plan is not None:
        record(warm, *plan)
