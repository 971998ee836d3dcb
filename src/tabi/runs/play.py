"""A scene from its start to its end, with a recording and a summary; an interrupt keeps both."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tabi import TabiError
from tabi.reporting.terminal import bar, interrupt
from tabi.runs.summary import Summary
from tabi.runs.watch import RunWatch

if TYPE_CHECKING:
    from tabi.scenes import Scene
    from tabi.simulation.simulator import Simulator

# simulated seconds between two looks at the keyboard and the robots; with the clock to keep, fewer
LOOK, PACE = 0.05, 0.01
# a step that is hard, or is being compiled, may take long
ENDING = "tabi: ending after this step; Ctrl-C once more ends at once\n"
# time between two looks after which steps go one by one
MAX_LOOK_PERIOD_S = 1.0


def play(
    scene: Scene,
    record: Path | None = None,
    pace: float | None = None,
    show: bool = True,
    device: str | None = None,
) -> Summary:
    """Run a scene to its end, or until Ctrl-C, or until the simulation fails.

    Args:
        record: file for a recording. pace: simulated seconds between looks at the clock;
            default: as fast as it goes.
        show: a bar, on a terminal. device: of a person's hand.
    """
    path = None if record is None else str(record)
    summary = Summary(scene.name, scene.title, scene.settings, recording=path)
    sim = scene.simulator(plays=device is None)
    session = scene.hand(sim, device) if device else None
    meta = {"name": scene.name, "settings": list(scene.settings)}
    recording = (
        None
        if record is None
        else sim.record(record, scene.contents.record.rate_hz, scene.to_yaml(), meta)
    )
    watch = RunWatch(scene, sim, summary)
    try:
        with (
            bar(
                "loading kernels", scene.duration, "{task.completed:.2f} of {task.total:g} s", show
            ) as move,
            interrupt(ENDING if show else "") as interrupts,
        ):

            def look() -> bool:
                watch.look()
                move(sim.time, f"{watch.factor:.1f} × real time" if watch.factor else "", "running")
                return bool(interrupts)

            summary.interrupted = _advance(sim, scene.duration, pace, look, interrupts)
    except KeyboardInterrupt:
        summary.interrupted = True
    except TabiError as fault:
        summary.stopped = str(fault)
    if recording is not None:
        try:
            recording.close(KeyboardInterrupt() if summary.interrupted else None)
        except TabiError as fault:
            summary.stopped = summary.stopped or str(fault)
    watch.finish()
    if session is not None:
        summary.hand = session.summary()
        session.close()
    return summary


def _advance(
    sim: Simulator,
    duration: float,
    pace: float | None,
    look: Callable[[], bool],
    interrupts: Sequence[int] = (),
) -> bool:
    """Run all steps, with a look now and then, until one returns true; return whether one did.

    The first step brings the kernels, so the clock starts after it.

    Args:
        interrupts: not empty once the user interrupts it.
    """
    end = round(duration / sim.dt)
    chunk = max(1, round((pace or LOOK) / sim.dt))
    every = max(1, round(LOOK / sim.dt))
    sim.step()
    stop = look()
    start = clock.monotonic() - sim.dt
    done = 1
    next_look, slow, last = every, False, clock.monotonic()
    while done < end and not stop:
        count = min(chunk, end - done)
        # a problem that is hard may take seconds: an interrupt does not wait for many of them
        for _ in range(count if slow else 1):
            sim.run(sim.dt * (1 if slow else count))
            done += 1 if slow else count
            if interrupts:
                return True
        slow, last = clock.monotonic() - last > MAX_LOOK_PERIOD_S, clock.monotonic()
        if pace is not None:
            clock.sleep(max(0.0, start + done * sim.dt - clock.monotonic()))
        if done >= min(next_look, end):
            next_look = done + every
            stop = look()
    return stop
