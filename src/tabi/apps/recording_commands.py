"""``tabi replay``, ``plot``, ``report``, ``export`` and ``diff``: what one does with a recording.
Each imports what it needs when it runs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tabi import TabiError
from tabi.recording.file_names import EXPORTS, MOVIES, TABLES
from tabi.reporting.outputs import check_figure, check_plotting, check_writable
from tabi.reporting.terminal import bar

RecordingFile = Annotated[Path, typer.Argument(help="A recording, as Simulator.record writes it.")]
Until = Annotated[float | None, typer.Option("--until", help="End at this time [s].")]
From = Annotated[float | None, typer.Option("--from", help="Begin at this time [s].")]
Which = Annotated[
    int | None,
    typer.Option(
        "--episode", metavar="N", help="Episode, counted from 0; by default the last one, also -1."
    ),
]
Written = Annotated[
    Path,
    typer.Option(
        "--to", "--out", help=f"File to write; its ending says what: {', '.join(EXPORTS)}."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands on recordings."""
    for command in (replay, plot, report, export, diff):
        app.command()(command)


def replay(
    file: RecordingFile,
    episode: Which = None,
    host: Annotated[
        str,
        typer.Option(help="Address to listen on; other machines can reach anything but localhost."),
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65535, help="Port of the page; by default 8080, or the next free one."
        ),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
) -> None:
    """Play a recording in the browser, with a time bar."""
    run = _read(file, episode)
    from tabi.apps.viewer.replay import show

    show(run, host, port, browser)


def plot(
    file: RecordingFile,
    what: Annotated[
        str,
        typer.Option(
            help="Which of forces, cop, feet, soles, zmp, joints, energy, certificate; with commas."
        ),
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to draw: .png, .pdf or .svg; by default a .png beside the recording."
        ),
    ] = None,
    joint: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A joint to draw; may be repeated. By default those that move most.",
        ),
    ] = None,
    start: From = None,
    end: Annotated[
        float | None, typer.Option("--until", "--to", help="End at this time [s].")
    ] = None,
    episode: Which = None,
) -> None:
    """Draw forces, feet, balance, joints, energy and certificate of a recording."""
    from tabi.reporting import curves, figures

    out = out or file.with_suffix(".png")
    check_figure(out)
    if out.exists() and file.exists() and out.samefile(file):
        raise TabiError(f"--out {out} is the recording itself; choose another name")
    run = _read(file, episode)
    names = [name.strip() for name in what.split(",") if name.strip()] or list(curves.WHAT)
    panels = curves.panels(run, names, joint, start, end)
    title = ", ".join([*run.world.robot_names, file.name, *_named(run)])
    figures.draw(out, panels, title)
    named = "".join(f", {name}" for name in _named(run))
    print(f"{out}: {len(panels)} panels of {', '.join(names)}{named}", flush=True)


def report(
    file: RecordingFile,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Page to write, an .html file; by default beside the recording: RUN.report.html."
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print the numbers as JSON for machines; the page only where --out says."
        ),
    ] = False,
    episode: Which = None,
) -> None:
    """Write a page about a recording, to read and to print:
    verdict, certificate, figures, loads, what to look at, pictures.
    """
    from tabi.reporting.report import contacts, findings, page, walks

    if out is None and not as_json:
        out = file.with_suffix(".report.html")
    if out is not None:
        _check(file, out, (".html",), "--out")
        check_plotting()
    run = _read(file, episode)
    touches = contacts.touches(run)
    numbers, walked = findings.measure(run, touches), walks.walked(run)
    numbers["walks"] = walks.measure(run, walked, findings.fallen(numbers))
    numbers["verdict"] = findings.verdict(numbers)
    if out is not None:
        out.write_text(page.page(run, touches, numbers, file, walked), encoding="utf-8")
    if as_json:
        print(json.dumps(numbers, indent=2, default=str), flush=True)
    else:
        assert out is not None
        lines = [numbers["verdict"], *findings.episode_lines(numbers)]
        print(*lines, f"{out}: {out.stat().st_size / 1e6:.2f} MB", sep="\n", flush=True)


def export(
    file: RecordingFile,
    to: Written,
    rate: Annotated[
        float | None,
        typer.Option(
            help="Rows a second [Hz]; tables have all, .mcap and .html 60, films 20 by default."
        ),
    ] = None,
    start: From = None,
    end: Until = None,
    size: Annotated[str, typer.Option(help="Width and height of a film in pixels.")] = "640x480",
    episode: Which = None,
) -> None:
    """Write a recording in another form: tables, MCAP, a page that plays by itself, a film."""
    from tabi._errors import ModelError
    from tabi.reporting import frames

    kind = _check(file, to)
    if rate is not None and not 0 < rate < 1e6:
        raise ModelError(f"--rate is {rate:g} Hz; expected a number > 0 and < 1e6")
    pixels = _size(size)
    run = _read(file, episode)
    selected = frames.rows(
        run, rate or (None if kind in TABLES else 20.0 if kind in MOVIES else 60.0), start, end
    )
    if kind in TABLES:
        from tabi.reporting import tables

        written = (tables.write_csv if kind == ".csv" else tables.write_parquet)(run, to, selected)
    elif kind == ".mcap":
        from tabi.reporting import mcap_file

        written = mcap_file.write(run, to, selected)
    elif kind == ".html":
        from tabi.reporting import html

        written = html.write(run, to, selected)
    else:
        from tabi.reporting import movie

        with bar(to.name, len(selected)) as move:
            written = movie.write(run, to, selected, pixels, lambda done, count: move(done))
    of = "".join(f" of {name}" for name in _named(run))
    for path in written:
        print(
            f"{path}: {len(selected)} of {len(run.time)} rows{of}, "
            f"{path.stat().st_size / 1e6:.2f} MB",
            flush=True,
        )


def diff(
    a: Annotated[Path, typer.Argument(help="A recording.")],
    b: Annotated[Path, typer.Argument(help="Another one.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    episode: Annotated[
        list[int] | None,
        typer.Option(
            metavar="N",
            help="Episode of both, counted from 0; twice, the one of the first and of the second. "
            "By default the last of each.",
        ),
    ] = None,
) -> None:
    """Compare two recordings: exit code 0 if they are the same, 1 if they differ,
    2 if they cannot be compared.
    """
    from tabi.reporting import difference

    if episode and len(episode) > 2:
        raise TabiError(f"--episode was given {len(episode)} times; expected at most two")
    which = [*(episode or [None])] * 2
    result = difference.compare(_read(a, which[0]), _read(b, which[1]))
    print(json.dumps(result, indent=2) if as_json else difference.text(result), flush=True)
    if code := difference.code(result):
        raise typer.Exit(code)


def _read(path: Path, episode: int | None) -> Any:
    """Read an episode with rows; which of several is the default is printed on stderr."""
    from tabi.recording.recorded import RecordingError, read

    run = read(path, episode)
    if len(run.time) == 0:
        raise RecordingError(
            f"{path}: it has no row; the run ended before the first second was written"
        )
    if episode is None and run.episode_name:
        print(
            f"{path} has {len(run.episodes)} episodes; this is the last, {run.episode}: "
            "--episode chooses another",
            file=sys.stderr,
            flush=True,
        )
    return run


def _named(run: Any) -> list[str]:
    """The episode, where there are several."""
    return [run.episode_name] if run.episode_name else []


def _check(file: Path, to: Path, formats: tuple[str, ...] = EXPORTS, option: str = "--to") -> str:
    """The ending of a file that can be written, or an error before the work."""
    from tabi._errors import ModelError

    if to.suffix.lower() not in formats:
        raise ModelError(
            f"{option} {to}: the format {to.suffix or 'without suffix'!r} is not known; "
            f"expected {', '.join(formats)}"
        )
    check_writable(to)
    if to.exists() and file.exists() and to.samefile(file):
        raise ModelError(f"{option} {to} is the recording itself; choose another name")
    return to.suffix.lower()


def _size(words: str) -> tuple[int, int]:
    from tabi._errors import ModelError

    width, _, height = words.lower().partition("x")
    if not (
        width.isdigit()
        and height.isdigit()
        and 16 <= int(width) <= 4096
        and 16 <= int(height) <= 4096
    ):
        raise ModelError(f"--size is {words!r}; expected width and height in pixels, as in 640x480")
    # films of odd sizes do not play everywhere
    return int(width) // 2 * 2, int(height) // 2 * 2
