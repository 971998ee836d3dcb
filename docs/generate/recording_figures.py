"""Makes the pictures of the page on recordings:
one run is recorded, then plotted, filmed, and played by a headless browser.

python docs/generate/recording_figures.py            needs chromium on the path, and playwright
"""

from __future__ import annotations

import io
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from filling import PICTURES
from PIL import Image
from saving import save_figure, save_film, save_image

import tabi
from tabi.apps.viewer.replay import Replay
from tabi.recording.recorded import Recorded, read
from tabi.reporting import curves, figures, html, movie
from tabi.reporting.frames import rows
from tabi.reporting.report import contacts, findings, page

FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def pushed(path: Path) -> Recorded:
    """HRP-2 holds its pose, is pushed at the chest, tilts on its soles and comes back."""
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(tabi.robots.hrp2())
    world.add_box(
        size=(0.3, 0.3, 0.3), mass=3.0, friction=0.4, position=(0.6, 0.1, 0.15), name="crate"
    )
    robot.stand_on_ground()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    with sim.record(path, meta={"name": "HRP-2, pushed"}):
        sim.run(0.5)
        sim.apply_force(robot.body("chest"), force=(180, 60, 0), duration=0.12)
        sim.run(2.0)
    return read(path)


def reported(run: Recorded) -> str:
    found = contacts.touches(run)
    return page.page(run, found, findings.measure(run, found), Path("push.h5"))


def shown(page: Any, name: str) -> None:
    save_image(Image.open(io.BytesIO(page.screenshot())), PICTURES / name)


def screenshots(run: Recorded, folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    (page_file,) = html.write(run, folder / "run.html", rows(run, 60))
    (report_file := folder / "push.report.html").write_text(reported(run), encoding="utf-8")
    replay = Replay(run)
    try:
        with sync_playwright() as p:
            browser = p.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            page = browser.new_page(viewport={"width": 900, "height": 560})
            page.goto(page_file.as_uri())
            page.evaluate("window.tabi.seek(50)")
            page.wait_for_timeout(1500)
            shown(page, "recording_player.webp")
            page = browser.new_page(viewport={"width": 940, "height": 1180})
            page.goto(report_file.as_uri())
            shown(page, "recording_report.webp")
            page = browser.new_page(viewport={"width": 1100, "height": 640})
            page.goto(replay.address)
            page.wait_for_timeout(8000)
            replay.go(840)
            page.wait_for_timeout(3000)
            # it says that there is no graphics card, which is no part of the page
            page.locator(".mantine-Notification-closeButton").click()
            page.wait_for_timeout(2000)
            shown(page, "recording_replay.webp")
            browser.close()
    finally:
        replay.close()


def main() -> None:
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        run = pushed(Path(folder) / "run.hdf5")
        panels = curves.panels(run, ["cop", "forces", "energy"])
        plotted = figures.picture(panels, "HRP-2, pushed at 0.5 s")
        save_figure(plotted, PICTURES / "recording_plot.png", dpi=160)
        film = Path(folder) / "film.gif"
        movie.write(run, film, rows(run, 12.5, 0.4, 2.4), (320, 260))
        save_film(film, PICTURES / "recording.webp")
        screenshots(run, Path(folder))
    print(f"{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
