"""``tabi identify``: parameters of a robot from records of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tabi import TabiError
from tabi.apps import identify_tables
from tabi.reporting.outputs import check_figure

if TYPE_CHECKING:
    from tabi.identification.tilt_identification import Tilt

app = typer.Typer(help="Find parameters of a robot in records of it.", no_args_is_help=True)
TiltFile = Annotated[
    Path,
    typer.Argument(
        help="A recording, or a .csv with the columns time_s and torque_nm (of one foot) or "
        "pitch_rad."
    ),
]
Signal = Annotated[
    str | None,
    typer.Option(help="What oscillates: torque (of a foot, about pitch) or pitch (of the base)."),
]
AboveInertia = Annotated[
    float | None,
    typer.Option(help="Of all above the bushes about their axis [kg·m²], if not recorded."),
]
AboveMass = Annotated[
    float | None, typer.Option(help="Of all above the bushes [kg], if not recorded.")
]
AboveHeight = Annotated[
    float | None,
    typer.Option(help="Of its centre of mass above the bushes' axis [m], if not recorded."),
]
ServoStiffness = Annotated[
    float | None,
    typer.Option(help="Of one ankle's servo [N·m/rad], if not recorded; rigid by default."),
]
ServoDamping = Annotated[
    float | None, typer.Option(help="Of one ankle's servo [N·m·s/rad], if not recorded.")
]
# samples of a curve that a figure shows
POINTS = 4000


@app.callback()
def identify() -> None:
    """Find parameters of a robot in records of it."""


@app.command()
def tilt(
    file: TiltFile,
    signal: Signal = None,
    start: Annotated[
        float | None,
        typer.Option(
            "--from",
            help="Begin to fit at this time [s]; by default a quarter of an oscillation after the "
            "record's beginning.",
        ),
    ] = None,
    inertia: AboveInertia = None,
    mass: AboveMass = None,
    height: AboveHeight = None,
    servo_stiffness: ServoStiffness = None,
    servo_damping: ServoDamping = None,
    figure: Annotated[
        Path | None,
        typer.Option(help="Draw record and fit into this file: .png, .pdf or .svg."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Stiffness and damping of the ankle bush, about pitch, of a robot on two feet that was tilted
    and let go.
    """
    if figure is not None:
        check_figure(figure)
        if figure.exists() and file.exists() and figure.samefile(file):
            raise TabiError(f"--figure {figure} is the record itself; choose another name")
    servo = (servo_stiffness, servo_damping)
    result = _identify(file, signal, start, (inertia, mass, height), servo)
    if figure is not None:
        draw(figure, result)
    print(json.dumps(result.to_dict(), indent=2) if as_json else text(result), flush=True)


def _identify(
    file: Path,
    signal: str | None,
    start: float | None,
    body: tuple[float | None, float | None, float | None],
    servo: tuple[float | None, float | None],
) -> Tilt:
    from tabi.identification import tilt_identification as experiment
    from tabi.recording.recorded import read

    table = file.suffix.lower() == ".csv"
    specified = [x for x in body if x is not None]
    if not table and not specified:
        if servo != (None, None):
            raise TabiError(
                "--servo-stiffness and --servo-damping are in the recording; leave them out, "
                "or give --inertia, --mass and --height as well"
            )
        run = read(file)
        return experiment.identify(run, signal or "torque", start=start, name=str(file))
    inertia, mass, height = body
    if inertia is None or mass is None or height is None:
        raise TabiError(
            f"{file} does not specify what stands on the bushes; "
            f"expected --inertia [kg·m²], --mass [kg] and --height [m] of it, all three"
        )
    if servo[1] is not None and servo[0] is None:
        raise TabiError("--servo-damping is given without --servo-stiffness; expected both")
    if table:
        record, step = experiment.read_table(file, signal), 0.0
    else:
        run = read(file)
        robot, step = experiment.robot_of(run, None), run.dt
        record = experiment.recorded(run, signal or "torque", robot, str(file))
    pendulum = experiment.Pendulum(
        inertia,
        mass,
        height,
        servo_stiffness=servo[0],
        servo_damping=servo[1] or 0.0,
        step=step,
    )
    return experiment.identify_table(record, pendulum, start)


def text(result: Tilt) -> str:
    """Format the identified parameters in a few lines."""
    o, (low, high), (least, most) = (
        result.oscillation,
        result.stiffness_interval,
        result.damping_interval,
    )
    unit = {"torque": "N·m", "pitch": "rad"}[result.record.signal]
    return "\n".join(
        (
            f"{result.record.name}: the bush of one foot about pitch (95 % intervals)",
            f"  stiffness  {result.stiffness:.5g} N·m/rad     {low:.5g} to {high:.5g}",
            f"  damping    {result.damping:.4g} N·m·s/rad   {least:.4g} to {most:.4g}",
            f"  from an oscillation of {result.record.signal}: {result.frequency:.4g} rad/s, "
            f"damping ratio {result.damping_ratio:.3g}, amplitude {o.amplitude:.3g} {unit}, "
            f"{o.start:.3g} to {result.record.time[-1]:.3g} s",
            f"  above the bushes: inertia {result.inertia:.4g} kg·m², "
            f"m g h {result.tilting:.4g} N·m/rad",
            f"  left over: {o.noise:.2g} {unit}, correlation {o.correlation:.2f}",
        )
    )


def draw(path: Path, result: Tilt) -> None:
    """Draw record and fit of the damped oscillation over time, as Hirukawa's figure 4 does."""
    from tabi.reporting.curves import Curve, Panel
    from tabi.reporting.figures import draw as drawn

    every = max(1, len(result.record.time) // POINTS)
    time, values = result.record.time[::every], result.record.values[::every]
    fitted = time[time >= result.oscillation.start]
    labels = {"torque": "torque [N·m]", "pitch": "pitch [rad]"}
    titles = {"torque": "Pitch torque of a foot", "pitch": "Pitch of the base"}
    signal = result.record.signal
    panel = Panel(
        "damped-oscillation",
        f"{titles[signal]}: K = {result.stiffness:.4g} N·m/rad, C = {result.damping:.3g} N·m·s/rad",
        "time [s]",
        labels[signal],
        [
            Curve("record", time, values, 0),
            Curve("fit", fitted, result.oscillation.at(fitted), 1, "dashed"),
        ],
        height=3.2,
    )
    drawn(path, [panel], "Damped oscillation after a tilt")


for command in (identify_tables.sensor, identify_tables.joint, identify_tables.friction):
    app.command()(command)
