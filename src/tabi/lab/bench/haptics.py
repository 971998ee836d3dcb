"""``tabi bench haptics``: does a hand get a robot's force a thousand times a second here?

HRP-2 stands, on rigid feet and on soft soles, and pushes a cart with 67 contacts, while a hand on
the stand-in device pulls at it: three processes, the simulation kept to the clock, the loop of the
device, and the device. Measured: periods of the loop, age of a reading when it is used,
how often the device did not answer in time and was lost for a second, how late steps are, and
the energy at the device's port: what the robot itself does on the hand is in it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np

from tabi import scenes
from tabi.interaction.coupling import Placement
from tabi.interaction.hand import HapticHand
from tabi.interaction.session import HapticSession, source_of
from tabi.interaction.shared_link import BINS
from tabi.lab.study import Benchmark, BenchPart, Option, constant_settings
from tabi.simulation.simulator import Simulator
from tabi.spatial.transform import translation

STANDING = """
title: HRP-2 stands
ground: {{friction: 0.8}}
robots:
  - {{robot: hrp2, complies: [{{body: right_hand}}]{soles}}}
"""
# of each case the scene, and the body that is pulled
SOLES = ", soles: {element_size_m: 0.0265, viscosity_s: 0.003}"
CASES = {
    "standing": (lambda: scenes.loads(STANDING.format(soles="")), "right_hand"),
    "soft soles": (lambda: scenes.loads(STANDING.format(soles=SOLES)), "right_hand"),
    "cart": (lambda: scenes.load("cart"), "cart"),
}
# motion of the hand along x: amplitude [m] and frequency [Hz]
AMPLITUDE_M, FREQUENCY_HZ = 0.02, 0.7
# time in which kernels are loaded and the device is found; its timeout
SETTLING_TIME_S, START_TIMEOUT_S = 0.5, 60.0


class HapticsBench(Benchmark, name="haptics"):
    """A hand on the stand-in device pulls at HRP-2 and at a cart in real time: periods of the
    device's loop, how late the simulation is, energy.
    """

    seconds: Annotated[
        float, Option(min=1.0, help="How long each scene is pulled at, in real time.")
    ] = 10.0
    scenes: tuple[str, ...] = tuple(CASES)

    packages = ()
    constants = constant_settings(device="stand-in", step_s=1e-3)

    def parts(self) -> Iterator[BenchPart]:
        """Yield the parts of the benchmark in order."""
        yield BenchPart("bins_ms", "", lambda: [1e3 * bin for bin in BINS])
        for name in self.scenes:
            yield BenchPart(("cases", name), name, pulled, (name, self.seconds))

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Scene by scene as sentences."""
        h = result["hardware"]
        yield (
            f"a hand on the stand-in pulls, steps of 1 ms by the clock, {h['processor']}, "
            f"{h['cores']} cores for three processes"
        )
        for name, case in result["cases"].items():
            late = case["late_ms"]
            yield (
                f"{name}, {case['contacts']} contacts: {case['real_time_factor']:.3f} × real time, "
                f"a step late by {late['median']:.2f} ms, 99 % {late['99 %']:.2f} ms"
            )
            yield (
                f"  loop of the device: {case['periods_below_2_ms']:.2%} of {case['periods']} "
                f"periods below 2 ms, worst {case['worst_period_ms']:.2f} ms, "
                f"work {case['work_of_a_period_ms']:.2f} ms"
            )
            yield (
                f"  oldest reading {case['oldest_reading_ms']:.1f} ms, lost {case['times_lost']} "
                f"times; up to {case['strongest_on_body_n']:.1f} N on the body, "
                f"{case['strongest_felt_n']:.1f} N in the hand; "
                f"energy to the hand {1e3 * case['energy_to_the_hand_j']:.3f} mJ; "
                + (
                    "every step certified"
                    if not case["missed"]
                    else f"{case['missed']} steps did not converge"
                )
            )


def pulled(name: str, seconds: float) -> dict[str, Any]:
    """One case, in real time."""
    make, body = CASES[name]
    sim = make().simulator()
    sim.run(SETTLING_TIME_S)
    with TemporaryDirectory() as folder:
        source = source_of(sim, f"stand-in:{_script(Path(folder))}")
        place = Placement(translation(sim.position(body)), 1.0)
        hand = HapticHand(sim, source, "attach", body, stiffness=300.0, placement=place)
        session = HapticSession(sim, "stand-in", hand)
        try:
            _wait(session)
            return _keep_time(sim, session, seconds)
        finally:
            session.close()


def _script(folder: Path) -> Path:
    """A hand that goes back and forth, holding on."""
    times = np.arange(0.0, 20.0 + 1e-9, 0.02)
    x = AMPLITUDE_M * np.sin(2.0 * np.pi * FREQUENCY_HZ * times)
    rows = [f"{t:.3f},{a:.6f},0,0,1" for t, a in zip(times, x, strict=True)]
    path = folder / "to_and_fro.hand.csv"
    path.write_text("\n".join(["time_s,x_m,y_m,z_m,buttons", *rows]) + "\n", encoding="utf-8")
    return path


def _wait(session: HapticSession) -> None:
    """Until the device is there and holds on; the simulation goes on meanwhile, by the clock."""
    begin = time.monotonic()
    while session.hand.holds is None and time.monotonic() - begin < START_TIMEOUT_S:
        session.sim.step()
        time.sleep(session.sim.dt)


def _keep_time(sim: Simulator, session: HapticSession, seconds: float) -> dict[str, Any]:
    """Step by the clock; how late steps are, how old readings, how even the device's loop."""
    count = round(seconds / sim.dt)
    late, ages, points, max_force = np.zeros(count), np.zeros(count), 0, 0.0
    before = session.source.hand_state
    begin = time.monotonic()
    for k in range(count):
        wait = begin + k * sim.dt - time.monotonic()
        if wait > 0.0:
            time.sleep(wait)
        sim.step()
        now = session.source.hand_state
        late[k] = time.monotonic() - begin - (k + 1) * sim.dt
        # where the device is lost there is no force, whatever the age
        ages[k] = now.age if now.running else 0.0
        max_force = max(max_force, float(np.linalg.norm(now.force)))
        points = max(points, len(sim.contacts)) if k % 100 == 0 else points
    wall = time.monotonic() - begin
    after = session.source.hand_state
    periods = np.subtract(after.periods.counts, before.periods.counts)
    return {
        "contacts": points,
        "real_time_factor": round(count * sim.dt / wall, 4),
        "periods": int(periods.sum()),
        "period_histogram": periods.tolist(),
        "periods_below_2_ms": round(_below(periods, 2e-3), 5),
        "worst_period_ms": round(1e3 * after.periods.worst, 3),
        "work_of_a_period_ms": round(1e3 * after.periods.work, 4),
        "oldest_reading_ms": round(1e3 * float(ages.max()), 3),
        "times_lost": after.connections - before.connections,
        "late_ms": {
            name: round(1e3 * float(np.quantile(late, at)), 3)
            for name, at in (("median", 0.5), ("99 %", 0.99), ("most", 1.0))
        },
        "strongest_felt_n": round(max_force, 3),
        "strongest_on_body_n": round(session.strongest, 3),
        "energy_to_the_hand_j": after.energy,
        "missed": sim.missed_count,
    }


def _below(periods: np.ndarray, limit: float) -> float:
    """Share of periods of a histogram up to a limit [s]."""
    return float(periods[: BINS.index(limit) + 1].sum() / max(periods.sum(), 1))
