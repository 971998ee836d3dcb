"""``tabi validate haptics``: a hand that feels a force when something fails; how long does it last?

A stand-in for a haptic device holds its handle with a spring of 100 N/m at 0; the loop pulls it
with another of 100 N/m to a place 20 mm away. At rest the hand feels

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
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from tabi.interaction.device_process import DeviceProcess
from tabi.interaction.devices import haply_messages as messages
from tabi.interaction.devices.protocol import Array, DeviceError, HandReading
from tabi.interaction.devices.stand_in_process import StandInProcess
from tabi.interaction.force_guard import HapticLimits
from tabi.interaction.haptic_loop import Law
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
LASTS, ALLOWANCE = 0.05, 0.03
STIFFNESS, PULL = 100.0, 0.02
FORCE = 0.5 * STIFFNESS * PULL
# when the moment comes, after all is at rest [s]; how long nothing happens then [s]
MOMENT, STILL, PATIENCE = 0.2, 0.3, 15.0
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


def validate(
    failures: int = 100,
    seed: int = 0,
    progress: Callable[[str, int, int], None] = lambda what, done, count: None,
) -> dict[str, Any]:
    """So many failures, of all kinds in turn; an interrupt keeps what is done.

    Returns:
        plain data: failures, by kind how long forces lasted [s], what did not come back, and how
        even the loop was meanwhile.
    """
    check_signals("the check of haptic failures")
    rng, interrupted = np.random.default_rng(seed), False
    lasted: dict[str, list[float]] = {kind: [] for kind in KINDS}
    lost: list[str] = []
    periods = {"count": 0, "below_2_ms": 0, "worst": 0.0, "work": 0.0}
    try:
        with FailureTrial() as trial:
            for k in range(failures):
                kind = KINDS[k % len(KINDS)]
                time_left, back = trial.run(kind, float(rng.uniform(0.0, MOMENT)))
                lasted[kind].append(time_left)
                lost += [] if back else [kind]
                progress("failures", k + 1, failures)
            trial.note_periods(periods)
    except KeyboardInterrupt:
        interrupted = True
    done = sum(map(len, lasted.values()))
    worst = max((t for times in lasted.values() for t in times), default=0.0)
    return {
        "failures": done,
        "lasted": lasted,
        "worst": worst,
        "late": sum(t > LASTS + ALLOWANCE for times in lasted.values() for t in times),
        "not_back": lost,
        "asked": LASTS,
        "allowance": ALLOWANCE,
        "periods": periods,
        "interrupted": interrupted,
        "within": worst <= LASTS + ALLOWANCE and not lost and done == failures,
    }


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

    def note_periods(self, found: dict[str, Any]) -> None:
        """How even the loop of the last process was."""
        periods = self.loop.felt().periods
        found |= {"count": periods.count, "below_2_ms": periods.below_two}
        found |= {"worst": periods.worst, "work": periods.work}

    def _break_service(self, kind: str, begin: float) -> float:
        process = self.service.process
        process.send_signal(signal.SIGSTOP if kind == "service stopped" else signal.SIGKILL)
        last = begin
        while (now := time.monotonic()) < begin + STILL:
            if self.loop.felt().force.any():
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
        time.sleep(STILL)
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
            felt = loop.felt()
            near = felt.running and abs(felt.force[0] - FORCE) < 0.1 * FORCE
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
                    time.sleep(STILL)
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
    """A simulation that does nothing but tell where to pull to."""

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
        """No more beats."""
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._over.wait(0.005):
            with self._lock:
                if not self._paused.is_set():
                    self._loop.tell((PULL, 0.0, 0.0, STIFFNESS))


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
        """When there was a force for the last time."""
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


def text(found: dict[str, Any]) -> str:
    """The result as sentences."""
    verdict = "within" if found["within"] else "NOT within"
    lines = [
        f"{found['failures']} failures of a haptic device, its process or its simulation: "
        f"{verdict} what is asked"
    ]
    for kind, times in found["lasted"].items():
        if times:
            lines.append(
                f"  {kind}: {len(times)}, the force lasted up to {1e3 * max(times):.0f} ms "
                f"(asked {1e3 * found['asked']:.0f} ms, and {1e3 * found['allowance']:.0f} ms for "
                "the scheduler)"
            )
    if found["not_back"]:
        lines.append(f"  did not come back: {', '.join(found['not_back'])}")
    p = found["periods"]
    lines.append(
        f"  the last loop: {p['count']} periods, {100 * p['below_2_ms']:.2f} % below 2 ms, the "
        f"longest {1e3 * p['worst']:.1f} ms, {1e6 * p['work']:.0f} µs of work in each"
    )
    return "\n".join(lines)


def main(port: int) -> None:
    """A simulation that is there to be killed: see ``FailureTrial``."""
    name = f"haply://127.0.0.1:{port}"
    with DeviceProcess(name, make_spring, size=4, limits=LIMITS) as loop:
        print(loop.pid, loop.memory, flush=True)
        _Heart(loop)
        threading.Event().wait()


if __name__ == "__main__":
    main(int(sys.argv[1]))
