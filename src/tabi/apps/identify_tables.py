"""``tabi identify sensor | joint | friction``: parameters from tables of measures or recordings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tabi import TabiError
from tabi.reporting.terminal import bar

if TYPE_CHECKING:
    import numpy as np

    from tabi.identification.friction_identification import Friction
    from tabi.identification.joint_identification import JointParameters, Log
    from tabi.identification.sensor_calibration import Calibration

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
READINGS = ("fx", "fy", "fz", "tx", "ty", "tz")
LOADS = tuple(f"load_{name}_{'n' if name[0] == 'f' else 'nm'}" for name in READINGS)
DIRECTION, CENTRE = ("gx", "gy", "gz"), ("cx_m", "cy_m", "cz_m")
GRAVITY = 9.81


def sensor(
    file: Annotated[
        Path,
        typer.Argument(
            help="A .csv of static poses: readings fx, fy, fz, tx, ty, tz, and what was on the "
            "sensor: load_fx_n … load_tz_nm; or the direction of gravity in its frame, gx, gy, gz, "
            "with mass_kg, cx_m, cy_m, cz_m."
        ),
    ],
    mass: Annotated[
        float | None,
        typer.Option(help="Mass of the weight [kg], where the table has no such column."),
    ] = None,
    centre: Annotated[
        tuple[float, float, float] | None,
        typer.Option(help="Of the weight in the sensor's frame: x y z [m], likewise."),
    ] = None,
    diagonal: Annotated[
        bool, typer.Option(help="Channels do not disturb each other: six scales, no more.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Calibration matrix G and offset of a six-axis force sensor, f = G (reading + offset), from
    static poses.
    """
    from tabi.identification import sensor_calibration

    readings, loads = _poses(file, mass, centre)
    calibration = sensor_calibration.calibrate(readings, loads, diagonal, str(file))
    _print(calibration.to_dict(), _sensor_text(str(file), calibration), as_json)


def _poses(
    file: Path, mass: float | None, centre: tuple[float, float, float] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Readings and loads, shape (n, 6)."""
    import numpy as np

    from tabi.identification import measured_tables, sensor_calibration

    names = measured_tables.header(file)
    if any(name in names for name in LOADS):
        table = measured_tables.read(file, (*READINGS, *LOADS))
        readings, loads = (
            np.stack([table[n] for n in columns], 1) for columns in (READINGS, LOADS)
        )
        return readings, loads
    needed = [*READINGS, *DIRECTION]
    needed += ["mass_kg"] if mass is None else []
    needed += CENTRE if centre is None else []
    table = measured_tables.read(file, needed)
    place = np.stack([table[n] for n in CENTRE], 1) if centre is None else np.array(centre)
    loads = sensor_calibration.weight(
        np.stack([table[n] for n in DIRECTION], 1),
        table["mass_kg"] if mass is None else np.full(len(table["fx"]), mass),
        place,
    )
    return np.stack([table[n] for n in READINGS], 1), loads


def _sensor_text(name: str, calibration: Calibration) -> str:
    rows = [f"{name}: f = G (reading + offset), from {calibration.poses} poses (95 % intervals)"]
    rows.append(f"  {'offset':>18}   G")
    for i, channel in enumerate(READINGS):
        cells = " ".join(
            f"{x:9.4g} ±{w:<8.2g}"
            for x, w in zip(calibration.matrix[i], calibration.matrix_width[i], strict=True)
        )
        offset = f"{calibration.offset[i]:9.4g} ±{calibration.offset_width[i]:<8.2g}"
        rows.append(f"  {channel} {offset} {cells}")
    return "\n".join(rows)


def joint(
    file: Annotated[
        Path,
        typer.Argument(
            help="A recording, or a .csv with time_s, position_rad, velocity_rad_s, command_rad, "
            "torque_nm and, if commanded, command_velocity_rad_s; of a joint that slides "
            "position_m, velocity_m_s, command_m, force_n, command_velocity_m_s."
        ),
    ],
    name: Annotated[
        str | None, typer.Option("--joint", help="Which joint of a recording; the only one else.")
    ] = None,
    torque: Annotated[
        str,
        typer.Option(
            help="Where the torque was measured: motor (its current, before the friction of the "
            "gear) or joint (behind it)."
        ),
    ] = "motor",
    as_json: AsJson = False,
) -> None:
    """Gains of a joint's servo, its viscous and its dry friction, from a log of its motion."""
    from tabi.identification import joint_identification

    log, slides = _log(file, name)
    parameters = joint_identification.identify(log, torque, slides)
    _print(parameters.to_dict(), _joint_text(parameters, slides), as_json)


def _log(file: Path, name: str | None) -> tuple[Log, bool]:
    import numpy as np

    from tabi.identification import measured_tables
    from tabi.identification.joint_identification import Log

    if file.suffix.lower() != ".csv":
        from tabi.identification.recorded_measures import log_of
        from tabi.recording.recorded import read

        return log_of(read(file), name, str(file))
    if name is not None:
        raise TabiError(f"--joint is for recordings; {file} is the table of one joint")
    slides = "position_m" in measured_tables.header(file)
    length, torque = ("m", "force_n") if slides else ("rad", "torque_nm")
    rate = f"command_velocity_{length}_s"
    needed = ["time_s", f"position_{length}", f"velocity_{length}_s", f"command_{length}", torque]
    table = measured_tables.read(file, needed, [rate])
    command_velocity = table.get(rate, np.zeros(len(table["time_s"])))
    t, q, v, command, effort = (table[n] for n in needed)
    return Log(t, q, v, command, command_velocity, effort, str(file)), slides


def _joint_text(result: JointParameters, slides: bool) -> str:
    from tabi.identification.joint_identification import UNITS

    titles = {
        "kp": "kp",
        "kd": "kd",
        "viscous": "viscous friction",
        "dry": "dry friction",
        "inertia": "inertia",
    }
    metres = {"N·m/rad": "N/m", "N·m·s/rad": "N·s/m", "N·m": "N", "kg·m²": "kg"}
    rows = [f"{result.name}: on the joint's side (95 % intervals)"]
    for key, e in result.estimates.items():
        unit = metres[UNITS[key]] if slides else UNITS[key]
        rows.append(f"  {titles[key]:<17}{e.value:10.5g} {unit:<11} {e.low:.5g} to {e.high:.5g}")
    rows.append(
        f"  left over: {result.noise:.2g} {'N' if slides else 'N·m'}, {result.blocks} blocks"
    )
    return "\n".join(rows)


def friction(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="A .csv of pulls with force_n, at which it slipped, and normal_n or mass_kg; or "
            "records of pulls, one each, with time_s, force_n and displacement_m; or a recording."
        ),
    ],
    normal: Annotated[
        float | None,
        typer.Option(help="Normal force on the floor [N], if the table has no such column."),
    ] = None,
    mass: Annotated[
        float | None, typer.Option(help="Mass of what is pulled [kg], instead, on a level floor.")
    ] = None,
    body: Annotated[str | None, typer.Option(help="What slides in a recording.")] = None,
    as_json: AsJson = False,
) -> None:
    """Coefficient of friction from pulls: the force at which a thing slips, or records of it."""
    if normal is not None and mass is not None:
        raise TabiError("--normal and --mass are both specified; expected one of them")
    pressed = normal if mass is None else GRAVITY * mass
    results = []
    with bar("pulls", len(files), show=len(files) > 1) as move:
        for k, file in enumerate(files):
            results.append(_friction(file, pressed, body))
            move(k + 1, file.name)
    whole = results[0] if len(results) == 1 else _mean_friction(results)
    name = str(files[0]) if len(files) == 1 else f"{len(files)} pulls"
    _print(whole.to_dict(), _friction_text(name, whole), as_json)


def _friction(file: Path, pressed: float | None, body: str | None) -> Friction:
    from tabi.identification import friction_identification, measured_tables

    if file.suffix.lower() != ".csv":
        from tabi.identification.recorded_measures import friction_of
        from tabi.recording.recorded import read

        run = read(file)
        if body is None:
            raise TabiError(
                f"{file} is a recording; say what slides in it: --body {run.body_names[-1]}"
            )
        return friction_of(run, body, str(file))
    names = measured_tables.header(file)
    if "displacement_m" in names or "time_s" in names:
        if pressed is None:
            raise TabiError(f"{file} is a record of a pull; give --normal [N] or --mass [kg]")
        table = measured_tables.read(file, ("time_s", "force_n", "displacement_m"))
        return friction_identification.from_record(
            table["time_s"], table["force_n"], table["displacement_m"], pressed, str(file)
        )
    if pressed is None:
        column = "mass_kg" if "mass_kg" in names and "normal_n" not in names else "normal_n"
        table = measured_tables.read(file, ("force_n", column))
        presses = table[column] * (GRAVITY if column == "mass_kg" else 1.0)
    else:
        table = measured_tables.read(file, ("force_n",))
        presses = pressed
    return friction_identification.from_pulls(table["force_n"], presses, str(file))


def _mean_friction(results: list[Friction]) -> Friction:
    """Return the mean friction of many records."""
    import numpy as np

    from tabi.identification.friction_identification import Friction
    from tabi.identification.regression import mean

    ratios = np.array([result.friction.value for result in results])
    return Friction(mean(ratios, "friction"), len(results), float(ratios.std(ddof=1)), ratios)


def _friction_text(name: str, result: Friction) -> str:
    e, extra = result.friction, []
    if result.r_squared == result.r_squared:
        extra.append(f"r² of the line f = μ f_n: {result.r_squared:.4f}")
    if result.deviation == result.deviation:
        extra.append(f"deviation of one: {result.deviation:.3g}")
    if result.at == result.at:
        extra.append(f"slips at {result.at:.4g} s")
    head = f"{name}: friction {e.value:.4g}, {e.low:.4g} to {e.high:.4g} (95 % interval)"
    pulls = f"  {result.pulls} pull{'s' * (result.pulls != 1)}"
    return "\n".join([head, "; ".join([pulls, *extra])])


def _print(numbers: dict[str, Any], text: str, as_json: bool) -> None:
    print(json.dumps(numbers, indent=2) if as_json else text, flush=True)
