"""``tabi validate haptics``: how long does a force on a hand last when something fails?

A stand-in for a haptic device holds its handle with a spring of 100 N/m at 0; the loop pulls it
with another of 100 N/m to a place 20 mm away. At rest the force on the hand is

    f = k_h k_l/(k_h + k_l) · 20 mm = 1 N                                                       (1)
Then, at a random moment, one of these:

    service killed       the device's service is gone: what the loop publishes is looked at
    service stopped      the same, of a service that is stopped (SIGSTOP) and goes on later
    process stopped      the loop's process is stopped (SIGSTOP) and goes on later
    process killed       the loop's process is killed; another is started
    simulation still     no more heartbeats for a while
    simulation killed    the simulation's own process is killed
    simulation stopped   the simulation's own process is stopped (SIGSTOP)
Of each it is asked when the device last had a force, as another connection to the stand-in sees it,
and whether the force of (1) comes back; where the simulation is killed, whether the loop's process
ends and its memory is given back.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from tabi.interaction.device_process import DeviceProcess
from tabi.interaction.devices import haply_messages as messages
from tabi.interaction.devices.protocol import Array, DeviceError, HandReading
from tabi.interaction.devices.stand_in_process import StandInProcess
from tabi.interaction.force_guard import HapticLimits
from tabi.interaction.haptic_loop import Law
from tabi.lab.study import Criterion, Option, Validator, progress, within
from tabi.lab.validate.systems import check_signals

KINDS = (
    "service killed",
    "service stopped",
    "process stopped",
    "process killed",
    "simulation still",
    "simulation killed",
    "simulation stopped",
)
# what is asked for [s], and what the scheduler of a machine that does other things may add [s]
MAX_FORCE_TIME_S, ALLOWANCE = 0.05, 0.03
STIFFNESS, PULL = 100.0, 0.02
FORCE = 0.5 * STIFFNESS * PULL
# moment of the failure, after all is at rest [s]; how long nothing happens then [s]
FAILURE_TIME_S, REST_TIME_S, PATIENCE = 0.2, 0.3, 15.0
LIMITS = HapticLimits(ramp=0.1)


class _Spring:
    """f = −k (x − c), with (c, k) from the simulation."""

    def __call__(
        self, reading: HandReading, model: Array, dt: float
    ) -> tuple[Array, Array, Sequence[float]]:
        force = model[3] * (model[:3] - reading.position)
        return force, np.zeros(3), (float(force @ force),)


def make_spring() -> Law:
    """A law that pulls to a place."""
    return _Spring()


class HapticFailures(Validator, name="haptics"):
    """Kill and stop a haptic device's service, its process and the simulation: does its force end
    in time, and does it come back?
    """

    failures: Annotated[int, Option(min=1, help="Failures at random moments.")] = 100
    seed: int = 0

    unit = "failures"
    criteria = (
        Criterion("worst", "each force ends in time [s]", at_most=MAX_FORCE_TIME_S + ALLOWANCE),
        Criterion("not_back", "each comes back", at_most=0),
    )

    def cases(self) -> Iterator[tuple[FailureTrial, str, float]]:
        """Failures of all kinds in turn, each at a moment [s]."""
        check_signals("the check of haptic failures")
        rng = np.random.default_rng(self.seed)
        with FailureTrial() as trial:
            for k in range(self.failures):
                yield trial, KINDS[k % len(KINDS)], float(rng.uniform(0.0, FAILURE_TIME_S))
                progress(self.unit, k + 1, self.failures)

    def measure(self, case: tuple[FailureTrial, str, float]) -> Failure:
        """Measure one case and return its row."""
        trial, kind, moment = case
        lasted, back = trial.run(kind, moment)
        return Failure(kind, lasted, back, trial.periods())

    def figures(self, rows: Sequence[Failure]) -> dict[str, Any]:
        """By kind how long forces lasted [s], what did not come back, and how even the loop was."""
        times = [row.lasted for row in rows]
        none = {"count": 0, "below_2_ms": 0, "worst": 0.0, "work": 0.0}
        return {
            "failures": len(rows),
            "lasted": {kind: [r.lasted for r in rows if r.kind == kind] for kind in KINDS},
            "worst": max(times, default=0.0),
            "late": sum(t > MAX_FORCE_TIME_S + ALLOWANCE for t in times),
            "not_back": [row.kind for row in rows if not row.back],
            "asked": MAX_FORCE_TIME_S,
            "allowance": ALLOWANCE,
            "periods": rows[-1].periods if rows else none,
        }

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """The result as sentences."""
        r, p = result, result["periods"]
        yield (
            f"{r['failures']} failures of a haptic device, its process or its simulation: "
            f"{within(r)} what is asked"
        )
        for kind, times in r["lasted"].items():
            if times:
                yield (
                    f"  {kind}: {len(times)}, the force lasted up to {1e3 * max(times):.0f} ms "
                    f"(asked {1e3 * r['asked']:.0f} ms, and {1e3 * r['allowance']:.0f} ms for "
                    "the scheduler)"
                )
        if r["not_back"]:
            yield f"  did not come back: {', '.join(r['not_back'])}"
        yield (
            f"  the last loop: {p['count']} periods, {100 * p['below_2_ms']:.2f} % below 2 ms, the "
            f"longest {1e3 * p['worst']:.1f} ms, {1e6 * p['work']:.0f} µs of work in each"
        )


@dataclass(frozen=True)
class Failure:
    """A failure: how long the force lasted [s], whether it came back, and how even the loop is."""

    kind: str
    lasted: float
    back: bool
    periods: dict[str, float]


class FailureTrial:
    """A stand-in, a loop and a watcher."""

    def __enter__(self) -> FailureTrial:
        self.service = StandInProcess(("--stiffness", f"{STIFFNESS:g}", "--damping", "5"))
        self.name = f"haply://127.0.0.1:{self.service.port}"
        self.loop = DeviceProcess(self.name, make_spring, size=4, limits=LIMITS)
        self._heart = _Heart(self.loop)
        return self

    def __exit__(self, *problem: object) -> None:
        self._heart.end()
        self.loop.close()
        self.service.close()

    def run(self, kind: str, moment: float) -> tuple[float, bool]:
        """One failure; how long the force lasted [s], and whether all came back."""
        if kind in ("simulation killed", "simulation stopped"):
            return self._other_simulation(kind, moment)
        if not self._at_rest(self.loop):
            return float("inf"), False
        with _Watch(self.service.port) as watch:
            time.sleep(moment)
            begin = time.monotonic()
            if kind.startswith("service"):
                lasted = self._break_service(kind, begin)
            else:
                lasted = self._break(kind, begin, watch)
        return lasted, self._at_rest(self.loop)

    def periods(self) -> dict[str, float]:
        """Return statistics of the loop periods of the last process."""
        statistics = self.loop.hand_state().periods
        counts = {"count": statistics.count, "below_2_ms": statistics.below_two}
        return counts | {"worst": statistics.worst, "work": statistics.work}

    def _break_service(self, kind: str, begin: float) -> float:
        process = self.service.process
        process.send_signal(signal.SIGSTOP if kind == "service stopped" else signal.SIGKILL)
        last = begin
        while (now := time.monotonic()) < begin + REST_TIME_S:
            if self.loop.hand_state().force.any():
                last = now
            time.sleep(0.001)
        if kind == "service stopped":
            process.send_signal(signal.SIGCONT)
            return last - begin
        port = self.service.port
        self.service.close()
        for _ in range(20):
            with contextlib.suppress(DeviceError):
                arguments = ("--stiffness", f"{STIFFNESS:g}", "--damping", "5")
                self.service = StandInProcess(arguments, port)
                break
            time.sleep(0.2)
        return last - begin

    def _break(self, kind: str, begin: float, watch: _Watch) -> float:
        pid = self.loop.pid
        assert pid is not None
        if kind == "simulation still":
            self._heart.pause(True)
        else:
            os.kill(pid, signal.SIGSTOP if kind == "process stopped" else signal.SIGKILL)
        time.sleep(REST_TIME_S)
        lasted = watch.last_force() - begin
        if kind == "simulation still":
            self._heart.pause(False)
        elif kind == "process stopped":
            os.kill(pid, signal.SIGCONT)
        else:
            self._heart.pause(True)
            self.loop.restart()
            self._heart.pause(False)
        return max(lasted, 0.0)

    def _at_rest(self, loop: DeviceProcess) -> bool:
        """Whether the force of (1) comes, in good time."""
        end, since = time.monotonic() + PATIENCE, None
        while time.monotonic() < end:
            hand = loop.hand_state()
            near = hand.running and abs(hand.force[0] - FORCE) < 0.1 * FORCE
            since = (since or time.monotonic()) if near else None
            if since is not None and time.monotonic() - since > 0.1:
                return True
            time.sleep(0.005)
        return False

    def _other_simulation(self, kind: str, moment: float) -> tuple[float, bool]:
        """Another process is the simulation, with a service of its own."""
        with StandInProcess(("--stiffness", f"{STIFFNESS:g}", "--damping", "5")) as service:
            command = [sys.executable, "-m", __name__, str(service.port)]
            other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            try:
                assert other.stdout is not None
                pid, memory = other.stdout.readline().split()
                with _Watch(service.port) as watch:
                    if not watch.until_force(FORCE):
                        return float("inf"), False
                    time.sleep(moment)
                    begin = time.monotonic()
                    stopped = kind == "simulation stopped"
                    os.kill(other.pid, signal.SIGSTOP if stopped else signal.SIGKILL)
                    time.sleep(REST_TIME_S)
                    lasted = max(watch.last_force() - begin, 0.0)
                    if stopped:
                        os.kill(other.pid, signal.SIGCONT)
                        return lasted, watch.until_force(FORCE)
                return lasted, gone(int(pid), memory)
            finally:
                other.kill()
                other.wait()
                if other.stdout is not None:
                    other.stdout.close()


class _Heart:
    """A simulation that only commands the position to pull to."""

    def __init__(self, loop: DeviceProcess) -> None:
        self._loop, self._over, self._paused = loop, threading.Event(), threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def pause(self, paused: bool) -> None:
        """Stand still, or go on; between two beats."""
        with self._lock:
            (self._paused.set if paused else self._paused.clear)()

    def end(self) -> None:
        """Stop the heartbeats of the simulation."""
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._over.wait(0.005):
            with self._lock:
                if not self._paused.is_set():
                    self._loop.publish_model((PULL, 0.0, 0.0, STIFFNESS))


class _Watch:
    """Another connection to the stand-in, that notes its force every millisecond or two."""

    def __init__(self, port: int) -> None:
        self._where = f"ws://127.0.0.1:{port}"
        self._seen: list[tuple[float, float]] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *problem: object) -> None:
        self._over.set()
        self._thread.join()

    def last_force(self) -> float:
        """Return the time of the last force that was not zero [s]."""
        return max((t for t, size in list(self._seen) if size > 0.0), default=-float("inf"))

    def until_force(self, size: float) -> bool:
        """Whether a force comes, in good time."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self._seen and abs(self._seen[-1][1] - size) < 0.1 * size:
                return True
            time.sleep(0.005)
        return False

    def _look(self) -> None:
        # a service that is killed is no fault of the watch
        with (
            contextlib.suppress(WebSocketException, OSError),
            connect(self._where, compression=None, ping_interval=None) as link,
        ):
            link.recv()
            while not self._over.wait(0.001):
                link.send(messages.probe_message("TABI"), text=True)
                state = messages.parse_frame(link.recv()).inverse3[0].state
                f = state.current_cursor_force
                if f is not None:
                    self._seen.append((time.monotonic(), abs(f.x) + abs(f.y) + abs(f.z)))


def gone(pid: int, memory: str) -> bool:
    """Whether a process ends and its memory is given back, in good time."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if not _runs(pid) and not os.path.exists(f"/dev/shm/{memory}"):
            return True
        time.sleep(0.02)
    return False


def _runs(pid: int) -> bool:
    """Whether a process is there, and is more than a name that its new parent has not read yet."""
    try:
        os.kill(pid, 0)
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return Path("/proc").is_dir() is False
    return status.rpartition(")")[2].split()[0] not in ("Z", "X")


def main(port: int) -> None:
    """A simulation that is there to be killed: see ``FailureTrial``."""
    name = f"haply://127.0.0.1:{port}"
    with DeviceProcess(name, make_spring, size=4, limits=LIMITS) as loop:
        print(loop.pid, loop.memory, flush=True)
        _Heart(loop)
        threading.Event().wait()


if __name__ == "__main__":
    main(int(sys.argv[1]))
