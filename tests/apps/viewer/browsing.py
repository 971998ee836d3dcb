"""A real browser without a window, and pages in it."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import viser.transforms as tf
from apps.pages import free_port, until

from tabi.apps.viewer.live import Live
from tabi.apps.viewer.page import Page

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
FLAGS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
]
# pixels; drawn by software, a large window takes seconds for a picture
WIDTH, HEIGHT = 620, 380


@contextmanager
def played(build) -> Iterator[Live]:
    """A page whose simulation runs."""
    page = Page(build().world, port=free_port())
    live = Live(page, say=lambda line: None, build=build)
    live.start()
    assert until(lambda: live.player.sim is not None or live.player.fault, 600)
    yield live
    live.close()
    page.close()


@contextmanager
def opened(
    browser: Any, live: Any, meshes: bool = True, said: list[str] | None = None, **window: Any
) -> Iterator[Any]:
    """The page in a new window, loaded and without the browser's complaints about slow drawing.

    Args:
        meshes: whether to wait for what is seen, and not only for the controls.
        said: takes what the browser writes as errors. window: of the browser's contexts.
    """
    context = browser.new_context(**{"viewport": {"width": WIDTH, "height": HEIGHT}} | window)
    tab = context.new_page()
    if said is not None:
        tab.on("console", lambda line: said.append(line.text) if line.type == "error" else None)
        tab.on("pageerror", lambda error: said.append(str(error)))
    before = set(live.page.server.get_clients())
    tab.goto(live.page.address)
    assert until(lambda: set(live.page.server.get_clients()) - before, 60), (
        "the browser did not connect"
    )
    # in a narrow window it is out of sight
    tab.locator("button", has_text="Pause").first.wait_for(state="attached", timeout=60_000)
    # meshes arrive after the controls
    time.sleep(3.0 if meshes else 1.0)
    tab.evaluate(
        "document.querySelectorAll('.mantine-Notification-closeButton').forEach(b => b.click())"
    )
    time.sleep(1.0)
    yield tab
    context.close()


def click(tab, name: str) -> None:
    """Click a button, wherever a page that is still being laid out has it,
    and whatever the browser says on top of it."""
    tab.get_by_role("button", name=name, exact=True).first.dispatch_event("click")


def index_of(live: Live, name: str) -> int:
    return [body.name for body in live.player.observer.bodies].index(name)


def pixel(live: Live, tab, point) -> tuple[float, float]:
    """Where a point of the world is in the window."""
    camera = max(live.page.server.get_clients().items())[1].camera
    canvas = tab.locator("canvas").first.bounding_box()
    p = tf.SO3(np.array(camera.wxyz)).as_matrix().T @ (np.asarray(point) - camera.position)
    focal = 0.5 * canvas["height"] / np.tan(0.5 * camera.fov)
    return canvas["x"] + 0.5 * canvas["width"] + focal * p[0] / p[2], canvas["y"] + 0.5 * canvas[
        "height"
    ] + focal * p[1] / p[2]
