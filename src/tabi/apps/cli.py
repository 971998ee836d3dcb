"""The command ``tabi``. Every subcommand imports what it needs when it runs, so that --help answers at once."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tabi import TabiError, __version__
from tabi.apps import catalogue, compare, run, validate
from tabi.apps.outputs import check_figure
from tabi.apps.recordings import commands
from tabi.apps.robots import Base, Feet, RobotArgument, named, standing
from tabi.apps.sweep.command import sweep

app = typer.Typer(
    name="tabi",
    help="A simulator for humanoid robots, and all that they touch, with exact Coulomb friction.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
bench = typer.Typer(help="Measure speed against other engines in one process.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(bench, name="bench")
app.add_typer(validate.app, name="validate")
app.command()(run.run)
app.command()(compare.compare)
app.command()(sweep)
app.command("list")(catalogue.list_scenes)
app.command("scene")(catalogue.show_scene)
app.command()(catalogue.scene_schema)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Tolerance = Annotated[float, typer.Option(help="Backward error to reach, relative to the largest free velocity.")]
Figure = Annotated[Path | None, typer.Option(help="Draw the performance profile: a .png, .pdf or .svg file.")]
Siconos = Annotated[bool | None, typer.Option("--siconos/--no-siconos", help="Compare with Siconos; by default where it is installed.")]
Dense = Annotated[bool, typer.Option("--dense", help="Let Siconos's Newton also run on dense matrices, its faster form for few contacts.")]


def main() -> None:
    """Run the command line: mistakes of the user end in one sentence and exit code 2, an interrupt in 130."""
    # not every terminal knows × and °
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app()
    except TabiError as error:
        print(f"tabi: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        # a full disk, say; what is left of the output goes nowhere, else it would fail once more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"tabi: {error}", file=sys.stderr)
        sys.exit(1)


def _print(text: object) -> None:
    """Print at once: an output that nobody reads (… | head) is then found by typer, which ends without a word."""
    print(text, flush=True)


def _version(asked: bool) -> None:
    if asked:
        _print(f"tabi {__version__}")
        raise typer.Exit


@app.callback()
def options(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False) -> None:
    """Options of every command."""


@app.command()
def demo(
    robot: RobotArgument = "hrp2",
    feet: Feet = None,
    base: Base = None,
    host: Annotated[str, typer.Option(help="Address to listen on; any but localhost lets other machines in, with a token.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port of the page; by default 8080, or the next free one.")] = None,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
    still: Annotated[bool, typer.Option("--still", help="Only draw and pose it, without a simulation.")] = False,
) -> None:
    """Simulate a robot on the ground, in the browser."""
    from tabi.apps.viewer import show

    world, shown = standing(robot, feet, base)
    show(world, host=host, port=port, open_browser=browser, live=not still, name=f"{shown.name} on the ground")


@app.command()
def export_problem(
    out: Annotated[Path, typer.Option(help="File to write: FCLib .hdf5, or .npz.")],
    robot: Annotated[str, typer.Option(help="hrp2, or a path to a URDF, MJCF or OpenHRP (.wrl) file.")] = "hrp2",
    time: Annotated[float, typer.Option(min=0.0, help="Which step: its time [s].")] = 0.5,
    feet: Feet = None,
    base: Base = None,
) -> None:
    """Let a robot stand, and write the contact problem of one step; `tabi solve` reads it."""
    from tabi.contact import files
    from tabi.simulation.simulator import Simulator

    files.check_output(out)
    sim = Simulator(standing(robot, feet, base)[0])
    sim.run(max(time, sim.dt))
    sim.export_problem(out)
    found = sim.certificate
    _print(f"{out}: {found.contacts} contacts at {sim.time:g} s, solved there to {found.residual:.1e} m/s")


@app.command()
def info(robot: RobotArgument, feet: Feet = None, base: Base = None, as_json: Json = False) -> None:
    """Load a robot and report what was found, mended and ignored."""
    from tabi.model.report import report

    loaded = named(robot, feet, base)
    loaded.compile()
    page = report(loaded)
    _print(json.dumps(page.to_dict(), indent=2) if as_json else page)


@app.command()
def solve(
    file: Annotated[Path, typer.Argument(help="A friction problem: FCLib .hdf5, or .npz with W, q, mu; normal first.")],
    tolerance: Tolerance = 1e-8,
    solver: Annotated[str, typer.Option(help="auto, gauss-seidel or 'accelerated gauss-seidel'.")] = "auto",
    as_json: Json = False,
) -> None:
    """Solve a bare contact problem and print its certificate; exit code 1 if it was not solved."""
    from tabi import contact
    from tabi.contact import files

    problem = files.read(file)
    # once for the compiler, once for the clock
    contact.solve_problem(problem, tolerance, solver=solver)
    s = contact.solve_problem(problem, tolerance, solver=solver)
    c = s.certificate
    if as_json:
        result = {"contacts": problem.contact_count, "converged": s.converged, "residual": s.residual, "iterations": s.iterations}
        figures = ("residual", "impulse_residual", "cone_violation", "approach", "signorini", "dissipation_gap")
        certificate = {name: getattr(c, name) for name in figures}
        print(json.dumps(result | {"seconds": s.seconds, "solver": s.solver, "tolerance": tolerance, "certificate": certificate}, indent=2))
    else:
        print(f"{file.name}: {problem.contact_count} contacts, {'solved' if s.converged else 'NOT SOLVED'} by {s.solver}")
        print(f"  backward error {c.residual:.2e} m/s, {s.residual:.2e} of the largest free velocity (asked for {tolerance:g})")
        print(f"  {s.iterations} iterations, {1e3 * s.seconds:.3f} ms")
        print(f"  cone violation {c.cone_violation:.1e} N·s, approach {c.approach:.1e} m/s, dissipation gap {c.dissipation_gap:.1e} J")
    if not s.converged:
        raise typer.Exit(1)


@app.command()
def doctor(as_json: Json = False) -> None:
    """Report the installation: versions, compiled kernels, optional parts."""
    from tabi.apps import doctor

    findings = doctor.examine()
    _print(json.dumps(findings, indent=2) if as_json else doctor.text(findings))


@app.command()
def warmup(quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False) -> None:
    """Compile every kernel now, so that no run has to wait for it."""
    from tabi.apps import warmup

    _print(warmup.run(show=not quiet))


@bench.command()
def dynamics(
    robots: Annotated[list[str] | None, typer.Argument(help="Robots beside hrp2: paths to URDF, MJCF or .wrl files.")] = None,
    as_json: Json = False,
    blocks: Annotated[int, typer.Option(min=3, help="Timed blocks per engine; medians are reported.")] = 31,
) -> None:
    """Forward and inverse dynamics, mass matrix and the free step against Pinocchio and MuJoCo."""
    from tabi.apps.bench import dynamics

    # the robots' own order and names, hrp2 first
    result = dynamics.measure([named("hrp2"), *(named(path) for path in robots or [])], blocks=blocks, show=not as_json)
    _print(json.dumps(result, indent=2) if as_json else dynamics.text(result))


@bench.command()
def fclib(
    paths: Annotated[list[Path] | None, typer.Argument(help="A folder of friction problems (FCLib .hdf5, or .npz), or files.")] = None,
    as_json: Json = False,
    figure: Figure = None,
    siconos: Siconos = None,
    dense: Dense = False,
    tolerance: Tolerance = 1e-8,
) -> None:
    """Friction problems from files by every solver, against Siconos."""
    from tabi.apps.bench import fclib, race

    _race(lambda others: fclib.measure(paths or [], tolerance, others), race.text, "problems from files", (siconos, dense), figure, as_json)


@bench.command()
def solver(
    as_json: Json = False,
    figure: Figure = None,
    count: Annotated[int, typer.Option(min=1, help="About so many problems; at least one of every kind.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the problems.")] = 0,
    siconos: Siconos = None,
    dense: Dense = False,
    tolerance: Tolerance = 1e-8,
) -> None:
    """tabi's own family of contact problems by every solver, against Siconos."""
    from tabi.apps.bench import solver

    measure = lambda others: solver.measure(solver.family(count, seed), tolerance, others)  # noqa: E731
    _race(measure, solver.text, "problems of the family", (siconos, dense), figure, as_json)


def _race(measure: Any, text: Any, what: str, siconos: tuple[bool | None, bool], figure: Path | None, as_json: bool) -> None:
    """Run a race of solvers, print it and draw its profile; one that was interrupted too, with what it has."""
    from tabi.apps.bench import profile, race

    if figure is not None:
        check_figure(figure)
    result = measure(race.methods(*siconos))
    if figure is not None and result["problems"]:
        profile.draw(figure, race.contenders(result["problems"]), race.title(result, what))
    _print(json.dumps(result, indent=2) if as_json else text(result))
    if result["interrupted"]:
        raise typer.Exit(130)


@bench.command()
def delassus(
    as_json: Json = False,
    figure: Annotated[Path | None, typer.Option(help="Draw time against contact points into this file: .png, .pdf or .svg.")] = None,
    blocks: Annotated[int, typer.Option(min=3, help="Timed blocks per way; medians are reported.")] = 31,
) -> None:
    """The Delassus operator of HRP-2's contacts, five ways against each other."""
    from tabi.apps.bench import delassus

    if figure is not None:
        check_figure(figure)
    result = delassus.measure(blocks=blocks, show=not as_json)
    if figure is not None:
        delassus.figure(result, figure)
    _print(json.dumps(result, indent=2) if as_json else delassus.text(result))


@bench.command()
def step(
    robots: Annotated[list[str] | None, typer.Argument(help="Robots beside hrp2: paths to URDF, MJCF or .wrl files.")] = None,
    as_json: Json = False,
    blocks: Annotated[int, typer.Option(min=3, help="Timed blocks per engine; medians are reported.")] = 101,
) -> None:
    """The whole step of a standing and a squatting robot against MuJoCo and Pinocchio."""
    from tabi.apps.bench import step

    result = step.measure([named("hrp2"), *(named(path) for path in robots or [])], blocks=blocks, show=not as_json)
    _print(json.dumps(result, indent=2) if as_json else step.text(result))


@bench.command()
def contacts(as_json: Json = False, blocks: Annotated[int, typer.Option(min=3, help="Timed blocks; medians are reported.")] = 15) -> None:
    """A thousand contact points: 128 stacks of boxes, and one brick wall."""
    from tabi.apps.bench import contacts

    result = contacts.measure(blocks=blocks, show=not as_json)
    _print(json.dumps(result, indent=2) if as_json else contacts.text(result))


@bench.command()
def cart(as_json: Json = False, blocks: Annotated[int, typer.Option(min=3, help="Timed blocks; medians are reported.")] = 31) -> None:
    """HRP-2 with its hands on a cart that carries a box."""
    from tabi.apps.bench import cart

    result = cart.measure(blocks=blocks, show=not as_json)
    _print(json.dumps(result, indent=2) if as_json else cart.text(result))


@bench.command()
def laws(as_json: Json = False) -> None:
    """The older laws by Lemke, friction pyramids and no friction, against the exact one."""
    from tabi.apps.bench import laws

    result = laws.measure(show=not as_json)
    _print(json.dumps(result, indent=2) if as_json else laws.text(result))


@bench.command()
def view(as_json: Json = False, seconds: Annotated[float, typer.Option(min=1.0, help="How long each scene is watched.")] = 5.0) -> None:
    """The page: cost of a picture, messages a second to a browser, and whether the simulation keeps time."""
    from tabi.apps.bench import view

    result = view.measure(seconds, show=not as_json)
    _print(json.dumps(result, indent=2) if as_json else view.text(result))


commands.register(app)


if __name__ == "__main__":
    main()
