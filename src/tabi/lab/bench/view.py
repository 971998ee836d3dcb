"""``tabi bench view``: what a page costs: a picture, messages to a browser,
and whether the simulation keeps time meanwhile.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import numpy as np

from tabi.apps.viewer import catalogue
from tabi.apps.viewer.live import Live
from tabi.apps.viewer.marks.overlay import BOXES, Overlay
from tabi.apps.viewer.page import Page
from tabi.apps.viewer.player import Builder, simulated
from tabi.apps.viewer.view import Observer
from tabi.lab.study import Benchmark, BenchPart, Option, constant_settings
from tabi.model.world import World

SCENES = ("standing", "cart")
BODIES = 40


class ViewBench(Benchmark, name="view"):
    """The page: cost of a picture, messages a second to a browser,
    and whether the simulation keeps time.
    """

    seconds: Annotated[float, Option(min=1.0, help="How long each scene is watched.")] = 5.0
    scenes: tuple[str, ...] = SCENES

    packages = ("viser",)
    constants = constant_settings(dt=1e-3, drawn=[box.name for box in BOXES if box.shown])

    def parts(self) -> Iterator[BenchPart]:
        """The machine, a picture, and scene by scene."""
        yield BenchPart("machine", "the machine by itself", hiccups)
        yield BenchPart(f"frame_of_{BODIES}_bodies", f"{BODIES} bodies", forty)
        for name in self.scenes:
            arguments = catalogue.builder(name), self.seconds
            yield BenchPart(("scenes", name), name, watch, arguments)

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """Yield the lines for a terminal."""
        hardware = result["hardware"]
        yield (
            f"{hardware['processor']}, {hardware['cores']} cores; "
            f"viser {result['versions']['viser']}"
        )
        yield (
            f"a millisecond of work by itself: median {result['machine']['median_ms']:.2f} ms, "
            f"at worst {result['machine']['worst_ms']:.1f} ms"
        )
        frame = result[f"frame_of_{BODIES}_bodies"]
        yield (
            f"{BODIES} falling bodies: {frame['look_ms']:.2f} ms to look, "
            f"{frame['draw_ms']:.2f} ms to draw"
        )
        for name, r in result["scenes"].items():
            yield (
                f"{name}: {r['bodies']} bodies, {r['contacts']} contacts; "
                f"{r['real_time_factor']:.3f} × real time, "
                f"at worst {r['worst_lateness_ms']:.1f} ms late"
            )
            yield (
                f"  {r['pictures_per_second']:.0f} pictures a second, "
                f"{r['draw_ms']:.2f} ms each (slowest {r['slowest_draw_ms']:.1f} ms);"
                f" client: {r['client']['messages_per_second']:.0f} messages/s, "
                f"{1e-3 * r['client']['bytes_per_second']:.0f} kB/s,"
                f" longest wait {1e3 * r['client']['longest_wait_s']:.0f} ms"
            )


def hiccups(seconds: float = 3.0) -> dict[str, float]:
    """Return how long a millisecond of work takes now and then on this machine while nothing else
    of ours runs; no page can be more punctual.
    """
    taken, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        sum(range(30_000))
        taken.append(time.perf_counter() - start)
        time.sleep(0.004)
    return {"median_ms": _median(taken), "worst_ms": round(1e3 * max(taken), 3)}


def forty(frames: int = 200) -> dict[str, float]:
    """Milliseconds of the simulation's side of a picture in which as many boxes fall."""
    world = World()
    world.add_ground()
    for k in range(BODIES):
        world.add_box(
            size=(0.1, 0.1, 0.1), mass=1.0, position=(0.2 * (k % 8), 0.2 * (k // 8), 1.0 + 0.01 * k)
        )
    page = Page(world)
    try:
        sim = simulated(world)()
        observer, overlay = Observer(sim), Overlay(page.server)
        look, draw = [], []
        for _ in range(frames):
            sim.run(0.002)
            start = time.perf_counter()
            view = observer.look(certify=False)
            middle = time.perf_counter()
            with page.server.atomic():
                page.scene.move(view.positions, view.rotations)
                overlay.draw(view)
            look.append(middle - start)
            draw.append(time.perf_counter() - middle)
        return {"look_ms": _median(look), "draw_ms": _median(draw)}
    finally:
        page.close()


def watch(build: Builder, seconds: float) -> dict[str, Any]:
    """A simulation in a page, with a client in another process."""
    world = build().world
    page = Page(world)
    live = Live(page, say=lambda line: None, build=build)
    drawn: list[float] = []
    plain = live.draw

    def timed(view: Any) -> None:
        start = time.perf_counter()
        plain(view)
        drawn.append(time.perf_counter() - start)

    live.draw = timed
    live.start()
    try:
        while live.player.loading:
            time.sleep(0.05)
        port = str(page.server.get_port())
        command = [sys.executable, "-m", "tabi.lab.bench.view_client", port, str(seconds)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as client:
            # what a page costs that joins is apart
            joined = time.monotonic() + 30.0
            while not page.server.get_clients() and time.monotonic() < joined:
                time.sleep(0.05)
            time.sleep(1.5)
            live.player.take_lateness()
            drawn.clear()
            sim, start = live.player.sim, time.monotonic()
            assert sim is not None
            before = sim.time
            time.sleep(max(0.5, seconds - 1.0))
            spent, went = time.monotonic() - start, sim.time - before
            late, pictures = live.player.take_lateness(), list(drawn)
            counts = json.loads(client.communicate(timeout=60)[0])
        view, fault = live.player.view, live.player.fault
        assert view is not None
        return {
            "bodies": len(view.positions),
            "contacts": len(view.points),
            "real_time_factor": round(went / spent, 4),
            "worst_lateness_ms": round(1e3 * late, 2),
            "pictures_per_second": round(len(pictures) / spent, 1),
            "draw_ms": _median(pictures),
            "slowest_draw_ms": round(1e3 * max(pictures, default=0.0), 3),
            "client": {name: round(value, 4) for name, value in counts.items()},
            "missed": view.missed,
            "fault": fault,
        }
    finally:
        live.close()
        page.close()


def _median(seconds: list[float]) -> float:
    return round(1e3 * float(np.median(seconds)), 3) if seconds else 0.0
