"""The commands under ``tabi bench``. Each imports what it measures when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tabi.apps.robots import named
from tabi.apps.showing import Json, Tolerance
from tabi.apps.stamp import stamped_json
from tabi.reporting.outputs import check_figure
from tabi.reporting.terminal import bar, tell

bench = typer.Typer(
    help="Measure speed against other engines in one process.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Figure = Annotated[
    Path | None, typer.Option(help="Draw the performance profile: a .png, .pdf or .svg file.")
]
Siconos = Annotated[
    bool | None,
    typer.Option(
        "--siconos/--no-siconos", help="Compare with Siconos; by default where it is installed."
    ),
]
Dense = Annotated[
    bool,
    typer.Option(
        "--dense",
        help="Let Siconos's Newton also run on dense matrices, its faster form for few contacts.",
    ),
]


@bench.command()
def dynamics(
    robots: Annotated[
        list[str] | None,
        typer.Argument(help="Robots beside hrp2: paths to URDF, MJCF, .wrl or .body files."),
    ] = None,
    as_json: Json = False,
    blocks: Annotated[
        int, typer.Option(min=3, help="Timed blocks per engine; medians are reported.")
    ] = 31,
) -> None:
    """Forward and inverse dynamics, mass matrix and the free step against Pinocchio and MuJoCo."""
    from tabi.lab.bench import dynamics

    # the robots' own order and names, hrp2 first
    chosen = [named("hrp2"), *(named(path, gains=False) for path in robots or [])]
    result = dynamics.measure(chosen, blocks=blocks, show=not as_json)
    tell(stamped_json(result) if as_json else dynamics.text(result))


@bench.command()
def fclib(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="A folder of friction problems (FCLib .hdf5, or .npz), or files."),
    ] = None,
    as_json: Json = False,
    figure: Figure = None,
    siconos: Siconos = None,
    dense: Dense = False,
    tolerance: Tolerance = 1e-8,
) -> None:
    """Friction problems from files by every solver, against Siconos."""
    from tabi.lab.bench.solvers import fclib, race

    _race(
        lambda others: fclib.measure(paths or [], tolerance, others),
        race.text,
        "problems from files",
        (siconos, dense),
        figure,
        as_json,
    )


@bench.command()
def solver(
    as_json: Json = False,
    figure: Figure = None,
    count: Annotated[
        int, typer.Option(min=1, help="About so many problems; at least one of every kind.")
    ] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the problems.")] = 0,
    siconos: Siconos = None,
    dense: Dense = False,
    tolerance: Tolerance = 1e-8,
) -> None:
    """tabi's own family of contact problems by every solver, against Siconos."""
    from tabi.lab.bench.solvers import solver

    def measure(others: tuple[str, ...]) -> dict[str, Any]:
        return solver.measure(solver.family(count, seed), tolerance, others)

    _race(measure, solver.text, "problems of the family", (siconos, dense), figure, as_json)


def _race(
    measure: Any,
    text: Any,
    what: str,
    siconos: tuple[bool | None, bool],
    figure: Path | None,
    as_json: bool,
) -> None:
    """Run a race of solvers, print it and draw its profile;
    one that was interrupted too, with what it has.
    """
    from tabi.lab.bench.solvers import profile, race

    if figure is not None:
        check_figure(figure)
    result = measure(race.methods(*siconos))
    if figure is not None and result["problems"]:
        profile.draw(figure, race.contenders(result["problems"]), race.title(result, what))
    tell(stamped_json(result) if as_json else text(result))
    if result["interrupted"]:
        raise typer.Exit(130)


@bench.command()
def delassus(
    as_json: Json = False,
    figure: Annotated[
        Path | None,
        typer.Option(help="Draw time against contact points into this file: .png, .pdf or .svg."),
    ] = None,
    blocks: Annotated[
        int, typer.Option(min=3, help="Timed blocks per way; medians are reported.")
    ] = 31,
) -> None:
    """The Delassus operator of HRP-2's contacts, five ways against each other."""
    from tabi.lab.bench.solvers import delassus

    if figure is not None:
        check_figure(figure)
    result = delassus.measure(blocks=blocks, show=not as_json)
    if figure is not None:
        delassus.figure(result, figure)
    tell(stamped_json(result) if as_json else delassus.text(result))


@bench.command()
def step(
    robots: Annotated[
        list[str] | None,
        typer.Argument(help="Robots beside hrp2: paths to URDF, MJCF, .wrl or .body files."),
    ] = None,
    as_json: Json = False,
    blocks: Annotated[
        int, typer.Option(min=3, help="Timed blocks per engine; medians are reported.")
    ] = 101,
) -> None:
    """The whole step of a standing and a squatting robot against MuJoCo and Pinocchio."""
    from tabi.lab.bench import step

    chosen = [named("hrp2"), *(named(path, gains=False) for path in robots or [])]
    result = step.measure(chosen, blocks=blocks, show=not as_json)
    tell(stamped_json(result) if as_json else step.text(result))


@bench.command()
def robots(
    files: Annotated[
        list[Path], typer.Argument(help="URDF, MJCF, .wrl or .body files, as many as you like.")
    ],
    as_json: Json = False,
    blocks: Annotated[
        int, typer.Option(min=3, help="Timed blocks per engine; medians are reported.")
    ] = 31,
    seconds: Annotated[float, typer.Option(min=0.01, help="How long each falls limp.")] = 3.0,
) -> None:
    """Robots from files against MuJoCo, standing and falling limp."""
    from tabi.lab.bench import robots

    with bar("robots", len(files)) as move_on:
        result = robots.measure(files, blocks, seconds, move_on)
    tell(stamped_json(result) if as_json else robots.text(result))
    if result["interrupted"]:
        raise typer.Exit(130)


@bench.command()
def loop(
    robot: Annotated[
        str,
        typer.Argument(
            help="hrp2, hrp1s, hoap2, cb, or a path to a URDF, MJCF, .wrl or .body file."
        ),
    ] = "hrp2",
    as_json: Json = False,
    blocks: Annotated[
        int, typer.Option(min=3, help="Timed blocks per loop; medians are reported.")
    ] = 61,
) -> None:
    """A Python loop with a new command in every step against the same loop around MuJoCo."""
    from tabi.lab.bench import loop

    result = loop.measure(named(robot), blocks=blocks)
    tell(stamped_json(result) if as_json else loop.text(result))


@bench.command()
def external(
    program: Annotated[
        list[str] | None,
        typer.Argument(help="A controller's program and its arguments, beside the one in Python."),
    ] = None,
    as_json: Json = False,
    blocks: Annotated[int, typer.Option(min=3, help="Blocks of 100 questions.")] = 61,
) -> None:
    """How long a controller in another process takes to answer, against a bare socket."""
    from tabi.lab.bench import external

    result = external.measure(program or [], blocks=blocks)
    tell(stamped_json(result) if as_json else external.text(result))


@bench.command()
def sensors(
    as_json: Json = False,
    blocks: Annotated[
        int, typer.Option(min=3, help="Timed blocks per loop; medians are reported.")
    ] = 101,
) -> None:
    """What sensors of a standing HRP-2 add to a step, and MuJoCo's to its own."""
    from tabi.lab.bench import sensors

    result = sensors.measure(blocks=blocks, show=not as_json)
    tell(stamped_json(result) if as_json else sensors.text(result))


@bench.command()
def start(
    as_json: Json = False,
    warm: Annotated[
        bool, typer.Option("--warm", help="Only with the kernels in the cache.")
    ] = False,
) -> None:
    """Seconds from a command to HRP-2's first step: nothing cached, and with a warm cache."""
    from tabi.lab.bench import start

    result = start.measure(cold=not warm)
    tell(stamped_json(result) if as_json else start.text(result))


@bench.command()
def contacts(
    as_json: Json = False,
    blocks: Annotated[int, typer.Option(min=3, help="Timed blocks; medians are reported.")] = 15,
    balls: Annotated[int, typer.Option(min=1, help="Balls that fall into the pit.")] = 200,
    seconds: Annotated[float, typer.Option(min=0.01, help="How long they fall and roll.")] = 1.5,
) -> None:
    """A thousand contact points: 128 stacks of boxes, one brick wall, and a pit of balls."""
    from tabi.lab.bench import contacts

    result = contacts.measure(blocks=blocks, show=not as_json, balls=balls, seconds=seconds)
    tell(stamped_json(result) if as_json else contacts.text(result))


@bench.command()
def cart(
    as_json: Json = False,
    blocks: Annotated[int, typer.Option(min=3, help="Timed blocks; medians are reported.")] = 31,
) -> None:
    """HRP-2 with its hands on a cart that carries a box."""
    from tabi.lab.bench import cart

    result = cart.measure(blocks=blocks, show=not as_json)
    tell(stamped_json(result) if as_json else cart.text(result))


@bench.command()
def laws(as_json: Json = False) -> None:
    """The older laws by Lemke, friction pyramids and no friction, against the exact one."""
    from tabi.lab.bench.solvers import laws

    result = laws.measure(show=not as_json)
    tell(stamped_json(result) if as_json else laws.text(result))


@bench.command()
def foot(
    as_json: Json = False,
    blocks: Annotated[
        int, typer.Option(min=3, help="Timed blocks of the standing robot; medians are reported.")
    ] = 31,
    passes: Annotated[int, typer.Option(min=1, help="How often each jump is timed.")] = 5,
) -> None:
    """Laws of feet, constraint selection and springs, against the exact law."""
    from tabi.lab.bench.feet import foot

    result = foot.measure(passes=passes, blocks=blocks, show=not as_json)
    tell(stamped_json(result) if as_json else foot.text(result))


@bench.command()
def walk(
    as_json: Json = False,
    steps: Annotated[int, typer.Option(min=2, help="How many steps it walks.")] = 20,
) -> None:
    """HRP-2 walks with all its sensors: real-time factor on one core, and MuJoCo's step."""
    from tabi.lab.bench.feet import walk

    result = walk.measure(steps, show=not as_json)
    tell(stamped_json(result) if as_json else walk.text(result))


@bench.command()
def sole(
    as_json: Json = False,
    steps: Annotated[int, typer.Option(min=2, help="How many steps it walks.")] = 4,
) -> None:
    """HRP-2 walks on soft soles of 60 and of 300 ground nodes: time of a step, and rigid feet."""
    from tabi.lab.bench.feet import sole

    result = sole.measure(steps)
    tell(stamped_json(result) if as_json else sole.text(result))


@bench.command()
def haptics(
    as_json: Json = False,
    seconds: Annotated[
        float, typer.Option(min=1.0, help="How long each scene is pulled at, in real time.")
    ] = 10.0,
) -> None:
    """A hand on the stand-in device pulls at HRP-2 and at a cart in real time: periods of the
    device's loop, how late the simulation is, energy.
    """
    from tabi.lab.bench import haptics

    result = haptics.measure(seconds)
    tell(stamped_json(result) if as_json else haptics.text(result))


@bench.command()
def view(
    as_json: Json = False,
    seconds: Annotated[float, typer.Option(min=1.0, help="How long each scene is watched.")] = 5.0,
) -> None:
    """The page: cost of a picture, messages a second to a browser,
    and whether the simulation keeps time.
    """
    from tabi.lab.bench import view

    result = view.measure(seconds, show=not as_json)
    tell(stamped_json(result) if as_json else view.text(result))
