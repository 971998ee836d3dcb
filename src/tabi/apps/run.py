"""``tabi run``: a scene from its start to its end, with a summary as text or as JSON.

Exit codes: 0, every step certified; 1, steps did not converge, the simulation or its
recording had to stop, or a robot fell that was expected to stand; 2, the scene or an option cannot
be, and nothing was done; 3, all that went well, but a robot did not finish its walk: it stopped,
fell, or landed its feet elsewhere; 130, interrupted, with the recording kept.
"""

from __future__ import annotations

import io
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tabi import TabiError
from tabi.recording.file_names import checked
from tabi.reporting.outputs import check_writable
from tabi.runs.play import PACE, play
from tabi.runs.step_error import run_error

if TYPE_CHECKING:
    from tabi.scenes import Scene

# limit of the duration of scenes, too
MAX_DURATION_S = 1e6
# how every recording begins
HDF5 = b"\x89HDF\r\n\x1a\n"

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set a value of the scene, e.g. --set ground.friction=0.2; may be repeated.",
    ),
]
SceneArgument = Annotated[
    str, typer.Argument(help="A built-in scene (see `tabi list`), or the path of a scene file.")
]


def run(
    scene: SceneArgument,
    settings: Settings = None,
    time: Annotated[
        float | None, typer.Option(help="How long [s]; by default what the scene says.")
    ] = None,
    record: Annotated[
        Path | None, typer.Option(help="Write a recording (HDF5) into this file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    real_time: Annotated[
        bool, typer.Option("--real-time", help="Do not run ahead of the clock.")
    ] = False,
    error: Annotated[
        bool,
        typer.Option(
            "--error",
            help="Run it with h/2, h/4 and tolerance/100 too, and say how each number changes.",
        ),
    ] = False,
    expect_standing: Annotated[
        bool, typer.Option("--expect-standing", help="End with 1 if a robot fell.")
    ] = False,
    page: Annotated[
        bool, typer.Option("--page/--headless", help="Show it in the browser instead.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65535, help="Port of the page; by default 8080, or the next free one."
        ),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open a browser for the page.")] = True,
    device: Annotated[
        str | None,
        typer.Option(
            help="A hand: scripted (the scene's own), scripted:FILE, stand-in, haply, touch, …"
        ),
    ] = None,
) -> None:
    """Run a scene and print a summary; exit code 1 if a step did not converge, 3 if a robot did
    not finish its walk.
    """
    in_step = device is None or device.startswith("scripted")
    check_together(page, record, error, as_json or expect_standing)
    from tabi import scenes

    loaded = scenes.load(scene, settings or [])
    if time is not None:
        loaded = scenes.load(scene, all_settings(settings, time))
    if error and not in_step:
        raise TabiError(f"--error wants runs that are alike; leave out --device {device}")
    if error:
        raise typer.Exit(run_error(loaded, partial(play, device=device), as_json, expect_standing))
    if page:
        name = loaded.name if scene in scenes.names() and not settings else f"{loaded.name} (yours)"
        open_page(loaded, name, port=port, browser=browser, device=device)
        return
    # a device that people hold keeps the time of people
    summary = play(loaded, record, None if in_step and not real_time else PACE, device=device)
    print(json.dumps(summary.to_dict(), indent=2) if as_json else summary.text(), flush=True)
    if summary.code(expect_standing):
        raise typer.Exit(summary.code(expect_standing))


def check_together(page: bool, record: Path | None, error: bool, summary: bool) -> None:
    """Refuse options that do not go together, and a recording that cannot be written.

    Args:
        summary: whether one is asked for.
    """
    if error and (page or record):
        raise TabiError("--error is four runs, and prints numbers; leave out --page and --record")
    if page and (record or summary):
        raise TabiError(
            "--page lasts until it is closed and has no summary; "
            "leave out --record, --json and --expect-standing"
        )
    if record is not None:
        check_writable(record)
        _check_no_loss(checked(record))


def open_page(
    scene: Scene,
    name: str,
    host: str = "127.0.0.1",
    port: int | None = None,
    browser: bool = True,
    device: str | None = None,
) -> None:
    """A scene in the browser, until it is closed.

    Args:
        name: in the page's list of scenes. host, port: where to listen; see ``viewer.show``.
        browser: whether to open one. device: of a person's hand.
    """
    from tabi.apps.viewer import show

    camera = None if scene.camera is None else (scene.camera.position_m, scene.camera.look_at_m)
    build, close = scene.simulator, lambda: None
    if device is not None:
        from tabi.scenes.hands import Holding

        holding = Holding(partial(scene.simulator, False), scene.contents.hand, device)
        build, close = holding.simulator, holding.close
    try:
        show(
            scene.world(),
            host=host,
            port=port,
            open_browser=browser,
            live=True,
            build=build,
            camera=camera,
            name=name,
        )
    finally:
        close()


def all_settings(settings: list[str] | None, time: float | None) -> list[str]:
    """Return the settings, with the duration [s] if one is specified."""
    if time is not None and not 0 < time <= MAX_DURATION_S:
        raise TabiError(f"--time is {time:g} s; expected a number > 0 and ≤ {MAX_DURATION_S:g}")
    return [*(settings or []), *([] if time is None else [f"duration_s={time!r}"])]


def _check_no_loss(path: Path) -> None:
    """Refuse to write a recording over a file that is none: a scene, or a robot."""
    with path.open("rb") if path.is_file() else io.BytesIO() as file:
        begins = file.read(len(HDF5))
    if begins and begins != HDF5:
        raise TabiError(
            f"--record {path}: that file is there and is no recording; "
            "choose another name, or remove it"
        )
