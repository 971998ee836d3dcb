"""``tabi validate external``: a robot whose controller, another process, is killed at random
moments of wall time; is anything lost, and does the robot do as asked?

HRP-2 stands and is driven in lock-step by ``bare_controller``, which commands new positions in
every step. In every step it is checked that

    before the kill   each motor got the answer to this very measurement, to the last bit
    after it, hold    motors keep their last commands; in the end the robot stands
    after it, limp    no motor gives any effort, from the first step without an answer on
and of every run whether all its steps are there; of every fifth also in its recording.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from tabi import robots
from tabi.control.processes.external import ControllerWarning, External, external
from tabi.lab.study import Criterion, Option, Validator, progress
from tabi.lab.validate import bare_controller
from tabi.model.lookup import joint_rows
from tabi.model.world import World
from tabi.recording.recording import Recording
from tabi.simulation.simulator import Simulator

# steps of a run, of 1 ms
STEPS = 250
# as a share of a run's wall time: where the kill may fall
MAX_MOMENT_SHARE = 0.9
# one of so many runs is recorded: its file is most of the work
RECORDING_PERIOD = 5
# what may be
WRONG = ("answers", "hold", "limp", "steps", "recordings", "fallen")


class ControllerKills(Validator, name="external"):
    """Kill a robot's controller, another process, at random moments: is anything lost,
    and does the robot do as asked?
    """

    kills: Annotated[int, Option(min=1, help="Controllers to kill.")] = 100
    seed: Annotated[int, Option(min=0, help="Of the moments.")] = 0

    unit = "kills"
    criteria = (
        Criterion.of(lambda r: sum(r["wrong"].values()), "nothing is wrong in any run", at_most=0),
    )

    def cases(self) -> Iterator[tuple[KillTrial, float, bool]]:
        """Moments of two robots in turn, until so many controllers were killed in time."""
        rng, trials = np.random.default_rng(self.seed), [KillTrial("hold"), KillTrial("limp")]
        with trials[0], trials[1]:
            while (done := sum(trial.killed for trial in trials)) < self.kills:
                yield (
                    trials[done % 2],
                    float(rng.uniform(0.0, MAX_MOMENT_SHARE)),
                    done % RECORDING_PERIOD == 0,
                )
                progress(self.unit, done + 1, self.kills)

    def measure(self, case: tuple[KillTrial, float, bool]) -> Killed:
        """Measure one case and return its row."""
        trial, moment, recorded = case
        return trial.run(moment, recorded)

    def figures(self, rows: Sequence[Killed]) -> dict[str, Any]:
        """Kills of each kind, those that came too late, and runs in which something was wrong, by
        what.
        """
        kinds = Counter(row.late for row in rows)
        wrong = Counter(what for row in rows for what in row.wrong)
        return {
            "hold": kinds["hold"],
            "limp": kinds["limp"],
            "missed": kinds[None],
            "wrong": {what: wrong[what] for what in WRONG},
            "kills": kinds["hold"] + kinds["limp"],
            "steps": STEPS,
        }

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines for a terminal."""
        wrong = {what: count for what, count in result["wrong"].items() if count}
        words = ", ".join(f"{what} in {count} runs" for what, count in wrong.items()) or "nothing"
        yield (
            f"{result['kills']} controllers killed at random moments of {result['steps']} steps "
            f"({result['hold']} hold, {result['limp']} limp)"
        )
        yield f"  wrong: {words}"


@dataclass(frozen=True)
class Killed:
    """A run: the intended reaction to the kill of the controller, None if the kill came too late,
    and the faults.
    """

    late: str | None
    wrong: frozenset[str] = frozenset()


class KillTrial:
    """A standing robot with a controller that is killed, again and again.

    Attributes:
        drive: the controller. killed: how often it was, in time.
    """

    def __init__(self, late: str) -> None:
        world = World()
        world.add_ground(friction=0.8)
        self.late, self.robot = late, world.add_robot(robots.hrp2())
        self.robot.stand_on_ground()
        self.sim = Simulator(world)
        self.rows = joint_rows(self.sim.model, self.robot)
        program = [sys.executable, "-S", "-E", bare_controller.__file__]
        self.drive: External = external(program, robot=self.robot, late=late)
        self.sim.set_controller(self.robot, self.drive)
        # how long a run takes [s]
        self._wall, self.killed = 0.0, 0

    def __enter__(self) -> KillTrial:
        start = time.perf_counter()
        self.sim.step()
        for _ in range(2):
            start = time.perf_counter()
            self.sim.reset()
            self.sim.run(STEPS * self.sim.dt)
        self._wall = time.perf_counter() - start
        return self

    def __exit__(self, *problem: object) -> None:
        self.drive.close()

    def run(self, moment: float, recorded: bool = False) -> Killed:
        """One run, with a kill at a share of its wall time; one that comes too late is no kill."""
        self.sim.reset()
        lost, wrong = self.drive.lost_count, set[str]()
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", ControllerWarning)
            path = Path(folder) / "run.hdf5"
            with self.sim.record(path) if recorded else nullcontext():
                self._steps(moment, wrong)
            if recorded and Recording.load(path).summary["rows"] != STEPS + 1:
                wrong.add("recordings")
        if self.drive.lost_count == lost:
            return Killed(None)
        if self.sim.data.steps != STEPS or not np.isfinite(self.sim.q).all():
            wrong.add("steps")
        if self.late == "hold" and self.sim.fallen(self.robot):
            wrong.add("fallen")
        self.killed += 1
        return Killed(self.late, frozenset(wrong))

    def _steps(self, moment: float, wrong: set[str]) -> None:
        """All steps of a run; what is wrong with one is noted."""
        sim, motor = self.sim, self.sim.data.command.motor
        begin = sim.measure(self.robot).position.tolist()
        # the program is there from the first answer on
        sim.step()
        process = self.drive.process
        assert process is not None
        killer = threading.Timer(moment * self._wall, process.kill)
        killer.start()
        last = motor.tobytes()
        for _ in range(STEPS - 1):
            now = sim.time
            sim.step()
            if self.drive.fault is None:
                command = [bare_controller.target(x, now) for x in begin]
                if motor["position"][self.rows].tolist() != command:
                    wrong.add("answers")
                last = motor.tobytes()
            elif self.late == "hold" and motor.tobytes() != last:
                wrong.add("hold")
            elif self.late == "limp" and sim.measure(self.robot).effort.any():
                wrong.add("limp")
        # a kill that came too late is over before the next run begins
        killer.join()
        process.wait()
