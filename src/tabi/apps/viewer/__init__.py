"""The page in the browser: a scene that draws and a page that poses. Knows no physics."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Callable
from typing import TYPE_CHECKING

from tabi.apps.viewer import supported  # noqa: F401  # isort: split
from tabi.apps.viewer.catalogue import Camera
from tabi.apps.viewer.live import Live
from tabi.apps.viewer.page import Page
from tabi.model.world import World

if TYPE_CHECKING:
    from tabi.simulation.simulator import Simulator

__all__ = ["show"]


def show(
    world: World,
    host: str = "127.0.0.1",
    port: int | None = None,
    open_browser: bool = True,
    live: bool = False,
    build: Callable[[], Simulator] | None = None,
    camera: Camera | None = None,
    name: str = "this one",
) -> None:
    """Show a world in the browser until Ctrl-C is pressed.

    Args:
        world: its robots can be posed.
        host: address to serve at; by default only this machine sees the page. Any other one asks
            visitors for a token.
        port: default: 8080 or the next free one; a requested port that is in use is refused.
        open_browser: whether to open the page here.
        live: whether to simulate it, as soon as the kernels are compiled.
        build: makes the simulator of a live page, with its controllers; default: motors hold the
            world's pose.
        camera: from where to look, and what at [m].
        name: of this scene in the page's list of scenes.
    """
    page = Page(world, host, port)
    if camera is not None:
        page.scene.look_from(*camera)
    print(f"The page is at {page.address} (Ctrl-C ends it).", flush=True)
    if open_browser:
        webbrowser.open(page.address)
    simulation = Live(page, build=build, name=name, camera=camera) if live else None
    try:
        if simulation:
            simulation.start()
        threading.Event().wait()
    except KeyboardInterrupt:
        pass
    finally:
        if simulation:
            simulation.close()
        page.close()
