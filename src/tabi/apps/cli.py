"""The command ``tabi``. Every subcommand imports what it needs when it runs,
so that --help answers at once.
"""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tabi import TabiError, __version__
from tabi.apps import catalogue, identify, run
from tabi.apps import recording_commands as commands
from tabi.apps.check import check
from tabi.apps.lab_commands import CommandGroup
from tabi.apps.optimise_command import optimise
from tabi.apps.robots import (
    Base,
    Collision,
    Feet,
    RobotArgument,
    StandIns,
    named,
    standing,
)
from tabi.apps.showing import Json, Tolerance
from tabi.apps.sole import sole
from tabi.apps.sweep_command import sweep
from tabi.apps.walk import walk
from tabi.reporting.terminal import print_now, show_warnings

if TYPE_CHECKING:
    from tabi.contact import Problem, Solution

app = typer.Typer(
    name="tabi",
    cls=CommandGroup,
    help="A simulator for humanoid robots, and all that they touch, with exact Coulomb friction.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(identify.app, name="identify")
app.command()(run.run)
app.command()(check)
app.command()(sweep)
app.command()(optimise)
app.command()(sole)
app.command()(walk)
app.command("list")(catalogue.list_scenes)
app.command("scene")(catalogue.show_scene)
app.command()(catalogue.scene_schema)


def main() -> None:
    """Run the command line: mistakes of the user end in one sentence and exit code 2,
    an interrupt in 130.
    """
    # not every terminal knows × and °
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    show_warnings()
    try:
        app()
    except TabiError as error:
        print(f"tabi: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        # a full disk, say; what is left of the output goes nowhere,
        # else it would fail once more at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"tabi: {error}", file=sys.stderr)
        sys.exit(1)


def _version(requested: bool) -> None:
    if requested:
        print_now(f"tabi {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options of every command."""


# the scene that ``tabi demo`` opens
DEMO = "steer"


@app.command()
def demo(
    robot: Annotated[
        str | None,
        typer.Argument(
            help="hrp2, hrp1s, hoap2, cb, or a path to a URDF, MJCF, OpenHRP (.wrl) or Choreonoid "
            "(.body) file: it stands on the ground. Without one HRP-2 walks, and you steer it."
        ),
    ] = None,
    feet: Feet = None,
    base: Base = None,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on; any but localhost lets other machines in, with a token."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            min=1, max=65535, help="Port of the page; by default 8080, or the next free one."
        ),
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
    still: Annotated[
        bool, typer.Option("--still", help="Only draw and pose it, without a simulation.")
    ] = False,
    stand_ins: StandIns = False,
    collision: Collision = "file",
) -> None:
    """Steer HRP-2 in the browser, or simulate a robot on the ground there."""
    if robot is None and not (still or feet or base or stand_ins or collision != "file"):
        from tabi import scenes

        run.open_page(scenes.load(DEMO), DEMO, host, port, browser)
        return
    from tabi.apps.viewer import show

    world, shown = standing(robot or "hrp2", feet, base, stand_ins, collision)
    show(
        world,
        host=host,
        port=port,
        open_browser=browser,
        live=not still,
        name=f"{shown.name} on the ground",
    )


@app.command()
def export_problem(
    out: Annotated[Path, typer.Option(help="File to write: FCLib .hdf5, or .npz.")],
    robot: Annotated[
        str,
        typer.Option(help="hrp2, hrp1s, hoap2, cb, or a path to a URDF, MJCF, .wrl or .body file."),
    ] = "hrp2",
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
    certificate = sim.certificate
    print_now(
        f"{out}: {certificate.contacts} contacts at {sim.time:g} s, "
        f"solved there to {certificate.residual:.1e} m/s"
    )


@app.command()
def info(
    robot: RobotArgument,
    feet: Feet = None,
    base: Base = None,
    stand_ins: StandIns = False,
    collision: Collision = "file",
    as_json: Json = False,
) -> None:
    """Load a robot and report what was found, corrected and ignored."""
    from tabi.model.report.summary import report

    loaded = named(robot, feet, base, stand_ins, collision=collision)
    loaded.compile()
    page = report(loaded)
    print_now(json.dumps(page.to_dict(), indent=2) if as_json else page)


@app.command()
def solve(
    file: Annotated[
        Path,
        typer.Argument(
            help="A friction problem: FCLib .hdf5, or .npz with W, q, mu; normal first."
        ),
    ],
    tolerance: Tolerance = 1e-8,
    solver: Annotated[
        str, typer.Option(help="auto, gauss-seidel or 'accelerated gauss-seidel'.")
    ] = "auto",
    as_json: Json = False,
) -> None:
    """Solve a bare contact problem and print its certificate; exit code 1 if it was not solved."""
    from tabi import contact
    from tabi.contact import files

    problem = files.read(file)
    # once for the compiler, once for the clock
    contact.solve_problem(problem, tolerance, solver=solver)
    s = contact.solve_problem(problem, tolerance, solver=solver)
    if as_json:
        print(json.dumps(_solved(problem, s, tolerance), indent=2))
    else:
        print(_solved_text(file.name, problem, s, tolerance))
    if not s.converged:
        raise typer.Exit(1)


def _solved(problem: Problem, s: Solution, tolerance: float) -> dict[str, Any]:
    figures = (
        "residual",
        "impulse_residual",
        "cone_violation",
        "approach",
        "signorini",
        "dissipation_gap",
    )
    return {
        "contacts": problem.contact_count,
        "converged": s.converged,
        "residual": s.residual,
        "iterations": s.iterations,
        "seconds": s.seconds,
        "solver": s.solver,
        "tolerance": tolerance,
        "certificate": {name: getattr(s.certificate, name) for name in figures},
    }


def _solved_text(name: str, problem: Problem, s: Solution, tolerance: float) -> str:
    c = s.certificate
    return "\n".join(
        (
            f"{name}: {problem.contact_count} contacts, "
            f"{'solved' if s.converged else 'NOT SOLVED'} by {s.solver}",
            f"  backward error {c.residual:.2e} m/s, {s.residual:.2e} of the largest free velocity "
            f"(asked for {tolerance:g})",
            f"  {s.iterations} iterations, {1e3 * s.seconds:.3f} ms",
            f"  cone violation {c.cone_violation:.1e} N·s, approach {c.approach:.1e} m/s, "
            f"dissipation gap {c.dissipation_gap:.1e} J",
        )
    )


@app.command()
def doctor(as_json: Json = False) -> None:
    """Report the installation: versions, kernels, extras; exit code 1 if it cannot work."""
    from tabi.apps import doctor

    findings = doctor.examine()
    print_now(json.dumps(findings, indent=2) if as_json else doctor.text(findings))
    if findings["problems"]:
        raise typer.Exit(1)


@app.command()
def warmup(
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bar.")] = False,
    ship: Annotated[
        bool,
        typer.Option("--ship", help="Put them into the package too, for a wheel built from it."),
    ] = False,
) -> None:
    """Compile every kernel now, so that no run has to wait for it."""
    from tabi.runs import warmup

    print_now(warmup.run(show=not quiet))
    if ship:
        print_now(warmup.ship())


commands.register(app)


if __name__ == "__main__":
    main()
