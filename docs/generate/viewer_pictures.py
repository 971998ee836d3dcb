"""Makes the pictures of the page that plays:
a browser without a window opens it, pulls, and takes a picture of all of it.

python docs/generate/viewer_pictures.py            needs chromium on the path, playwright and Pillow
"""

from __future__ import annotations

import io
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import viser.transforms as tf
from filling import PICTURES
from PIL import Image
from playwright.sync_api import sync_playwright
from saving import save_image

import tabi
from tabi.apps.viewer import catalogue
from tabi.apps.viewer.live import Live
from tabi.apps.viewer.page import Page

FLAGS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
]
SIZE = {"width": 1280, "height": 800}
# when HRP-2 is half way through a step [s]
WALKED = 8.45


@contextmanager
def opened(browser: Any, scene: str) -> Iterator[tuple[Any, Live]]:
    """A scene that plays in a browser."""
    build = catalogue.builder(scene)
    page = Page(build().world)
    live = Live(page, build=build)
    live.start()
    tab = browser.new_page(viewport=SIZE)
    try:
        tab.goto(page.address)
        while not page.server.get_clients() or live.player.loading:
            time.sleep(0.1)
        time.sleep(6.0)  # meshes and shadows arrive after the connection
        tab.evaluate(
            "document.querySelectorAll('.mantine-Notification-closeButton').forEach(b => b.click())"
        )
        time.sleep(1.0)
        yield tab, live
    finally:
        tab.close()
        live.close()
        page.close()


def look(
    live: Live, position: tuple[float, float, float], target: tuple[float, float, float]
) -> Any:
    """Put the camera somewhere [m]; the camera."""
    client = next(iter(live.page.server.get_clients().values()))
    client.camera.position, client.camera.look_at = np.array(position), np.array(target)
    time.sleep(2.0)
    return client.camera


def pull(
    live: Live, tab: Any, body: str, offset: tuple[float, float, float], by: tuple[float, float]
) -> None:
    """Take a body with Ctrl at an offset from its origin [m], and move the mouse by so many pixels;
    it stays pressed.
    """
    camera = next(iter(live.page.server.get_clients().values())).camera
    canvas = tab.locator("canvas").first.bounding_box()
    view, observer = live.player.view, live.player.observer
    assert view is not None
    assert observer is not None
    index = [b.name for b in observer.bodies].index(body)
    p = tf.SO3(np.array(camera.wxyz)).as_matrix().T @ (
        view.positions[index] + offset - camera.position
    )
    focal = 0.5 * canvas["height"] / np.tan(0.5 * camera.fov)
    x, y = 0.5 * canvas["width"] + focal * p[0] / p[2], 0.5 * canvas["height"] + focal * p[1] / p[2]
    tab.mouse.move(x, y)
    tab.keyboard.down("Control")
    tab.mouse.down()
    for k in range(1, 11):
        tab.mouse.move(x + 0.1 * k * by[0], y + 0.1 * k * by[1])
        time.sleep(0.2)
    time.sleep(2.0)


def save(tab: Any, name: str, box: tuple[int, int, int, int] | None = None) -> None:
    """Take the picture, or a part of it, in few colours."""
    image = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
    image = image.crop(box) if box else image
    save_image(image, PICTURES / name)


def walked_to(live: Live, time_s: float) -> None:
    """From the start to a moment of the simulation [s], and stop there."""
    live.player.reset()
    while seen(live) > 1.0:
        time.sleep(0.01)
    while seen(live) < time_s - 1.0:
        time.sleep(0.01)
    live.player.set_speed(0.2)
    while seen(live) < time_s:
        time.sleep(0.01)
    live.player.play(False)
    time.sleep(3.0)


def seen(live: Live) -> float:
    """The time of the newest view [s]."""
    return 0.0 if live.player.view is None else live.player.view.time


def unfold(tab: Any, *folders: str) -> None:
    """Open folders of the panel."""
    for name in folders:
        tab.get_by_text(name, exact=True).first.click(force=True)
        time.sleep(1.0)


def rendered() -> None:
    """Colour, depth and segmentation side by side, without a browser."""
    world = tabi.World()
    world.add_ground()
    world.add_robot(tabi.robots.hrp2()).stand_on_ground()
    world.add_box(size=(0.3, 0.3, 0.3), mass=3.0, position=(0.6, 0.0, 0.15))
    sim = tabi.Simulator(world)
    eye = tabi.Camera((2.3, -1.7, 1.2), (0.15, 0.0, 0.62), field_of_view=40, size=(420, 420))
    colour, depth, seen = (sim.render(eye, kind) for kind in ("colour", "depth", "segmentation"))
    near, far = float(depth.min()), 5.0
    grey = np.clip(255 * (far - depth) / (far - near), 0, 255).astype(np.uint8)
    rng = np.random.default_rng(4)
    palette = rng.integers(70, 240, (len(sim.model.links) + 1, 3)).astype(np.uint8)
    palette[0], palette[-1] = 225, 250
    image = Image.fromarray(np.hstack([colour, np.dstack([grey] * 3), palette[seen]]))
    save_image(image, PICTURES / "render.webp")


def main() -> None:
    """All pictures."""
    rendered()
    names = catalogue.names()
    standing = next(name for name in names if "stand" in name)
    cart = next(name for name in names if "cart" in name)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        if path is None:
            raise SystemExit("no chromium on the path; install one to make pictures")
        # drawing by software takes all there is: the simulation goes first
        polite = Path(folder) / "chromium"
        polite.write_text(f'#!/bin/sh\nexec nice -n 19 "{path}" "$@"\n')
        polite.chmod(0o755)
        browser = playwright.chromium.launch(executable_path=polite, args=FLAGS)
        with opened(browser, standing) as (tab, live):
            unfold(tab, "plots")
            pull(live, tab, "left_hand", (0.0, 0.0, -0.06), (150.0, -60.0))
            save(tab, "viewer.webp")
        with opened(browser, standing) as (tab, live):
            live.controls.shown["see through bodies"].value = True
            look(live, (0.95, 0.55, 0.42), (0.0, 0.0, 0.12))
            save(tab, "viewer_feet.webp", (0, 0, 950, 800))
        with opened(browser, cart) as (tab, live):
            look(live, (2.6, -2.0, 1.3), (0.25, 0.0, 0.55))
            save(tab, "viewer_cart.webp", (0, 0, 950, 800))
        with opened(browser, "walk") as (tab, live):
            look(live, (3.6, -2.2, 1.3), (1.7, 0.2, 0.5))
            walked_to(live, WALKED)
            save(tab, "viewer_walk.webp", (0, 0, 950, 800))
        browser.close()


if __name__ == "__main__":
    main()
