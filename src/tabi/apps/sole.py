"""``tabi sole``: what a deformable sole is, under a robot's foot or of an outline: mass, stiffness,
modes, pressure under a load.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tabi import TabiError
from tabi.reporting.outputs import check_figure
from tabi.reporting.terminal import print_now

if TYPE_CHECKING:
    from tabi.soles import DeformableSole, Layer, PressureMap

Source = Annotated[
    str | None,
    typer.Argument(
        metavar="[ROBOT|FILE]",
        help="hrp2, hrp1s, hoap2, cb, a path to a robot's file: the sole of its first foot; or a "
        "mesh of Gmsh (.msh).",
    ),
]
OutlineText = Annotated[
    str | None,
    typer.Option("--outline", help='Corners instead of a robot, "x,y x,y …" [m].'),
]
Thickness = Annotated[
    list[float], typer.Option(help="Of a layer [m]; repeated for more, from the foot down.")
]
YoungModulus = Annotated[list[float], typer.Option(help="Of a layer [Pa]; one for all, or each.")]
PoissonRatio = Annotated[list[float], typer.Option(help="Of a layer; one for all, or each.")]
Density = Annotated[list[float], typer.Option(help="Of a layer [kg/m³]; one for all, or each.")]
Viscosity = Annotated[
    list[float], typer.Option(help="Damping time of a layer [s]; one for all, or each.")
]
Load = Annotated[
    str | None,
    typer.Option(
        "--wrench",
        metavar="F,CX,CY",
        help="Vertical force [N] and its centre of pressure in the foot's frame [m]; a robot's "
        "weight in the middle of the sole if not given.",
    ),
]
FigureFile = Annotated[
    Path | None, typer.Option(help="Draw the pressure into this file: .png, .pdf or .svg.")
]
# elements along a sole, modes that are printed
ELEMENTS_ALONG, MODE_COUNT = 16, 6
# products with a compliance in a step, of two soles; time of a step without them [s]
PRODUCTS, RIGID = 16, 1e-4
DIRECTIONS = ("x", "y", "z", "roll", "pitch", "yaw")


def sole(
    source: Source = None,
    outline: OutlineText = None,
    thickness: Thickness = [0.02],  # noqa: B006 - typer's way to say a list's default
    young_modulus: YoungModulus = [2e6],  # noqa: B006
    poisson_ratio: PoissonRatio = [0.45],  # noqa: B006
    density: Density = [1100.0],  # noqa: B006
    viscosity: Viscosity = [1e-3],  # noqa: B006
    wrench: Load = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    figure: FigureFile = None,
) -> None:
    """Mass, stiffness, modes and pressure of a deformable sole."""
    if figure is not None:
        check_figure(figure)
    if (source is None) == (outline is None):
        raise TabiError(
            "give a robot, a file or --outline, one of them; for example tabi sole hrp2"
        )
    layers = layers_of(thickness, young_modulus, poisson_ratio, density, viscosity)
    name, made, load = _made(source, outline, layers)
    load = load if wrench is None else _numbers("--wrench", wrench, 3)
    pressure = made.pressure(load) if load is not None else None
    if figure is not None:
        if pressure is None:
            raise TabiError("--figure draws the pressure under a load; give --wrench F,CX,CY")
        draw(figure, made, pressure, name)
    values = summary(name, made, pressure)
    print_now(json.dumps(values, indent=2) if as_json else text(values))


def layers_of(thickness: list[float], *rest: list[float]) -> tuple[Layer, ...]:
    """Return layers from values that are specified once for all, or once for each."""
    from tabi.soles import Layer

    names = ("--young-modulus", "--poisson-ratio", "--density", "--viscosity")
    for name, values in zip(names, rest, strict=True):
        if len(values) not in (1, len(thickness)):
            raise TabiError(
                f"{name} is given {len(values)} times and --thickness {len(thickness)} times; "
                "expected once, or once for each layer"
            )
    each = [values * len(thickness) if len(values) == 1 else values for values in rest]
    return tuple(Layer(*row) for row in zip(thickness, *each, strict=True))


def _made(
    source: str | None, outline: str | None, layers: tuple[Layer, ...]
) -> tuple[str, DeformableSole, tuple[float, ...] | None]:
    """Return name, sole, and its default load [N, m]."""
    import numpy as np

    from tabi import soles

    if source is not None and source.endswith(".msh"):
        return source, soles.sole_of_mesh(soles.read_msh(source), layers), None
    weight = None
    if source is not None:
        from tabi.apps.robots import named

        robot = named(source)
        if not robot.feet:
            raise TabiError(
                f"{source} has no feet; give the corners of a sole by --outline instead"
            )
        side, foot = next(iter(robot.feet.items()))
        corners, name = foot.polygon, f"{robot.name}, foot {side!r}"
        weight = 9.81 * sum(body.inertia.mass for body in robot.bodies)
    else:
        corners = np.array([_numbers("--outline", pair, 2) for pair in (outline or "").split()])
        name = "outline"
    size = float(np.ptp(corners, axis=0).max()) / ELEMENTS_ALONG if len(corners) else 1.0
    made = soles.make_sole(corners, layers, size)
    middle = made.ground_centre
    return name, made, None if weight is None else (weight, float(middle[0]), float(middle[1]))


def _numbers(option: str, text: str, count: int) -> tuple[float, ...]:
    try:
        numbers = tuple(float(word) for word in text.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) != count:
        example = "500,0.02,0" if count == 3 else '"0,0 0.24,0 0.24,0.1 0,0.1"'
        raise TabiError(
            f"{option} has {text!r}; expected {count} numbers with commas between, {example} say"
        )
    return numbers


def summary(name: str, made: DeformableSole, pressure: PressureMap | None) -> dict[str, Any]:
    """Return all values of the sole in SI units."""
    K = made.stiffness
    values: dict[str, Any] = {
        "sole": name,
        "nodes": len(made.mesh.points),
        "tetrahedra": len(made.mesh.tetrahedra),
        "ground_nodes": made.node_count,
        "ground_area_m2": float(made.areas.sum()),
        "mass_kg": made.mass,
        "centre_of_mass_m": made.inertia.centre.tolist(),
        "inertia_kg_m2": made.inertia.tensor.tolist(),
        "stiffness": {key: float(K[i, i]) for i, key in enumerate(DIRECTIONS)},
        "stiffness_matrix": K.tolist(),
        "damping_time_s": made.viscosity,
        "estimated_step_s": step_time(made),
        "modes": [
            {
                "frequency_hz": mode.frequency,
                "damping_ratio": mode.damping_ratio,
                "mass_share": mode.share.tolist(),
            }
            for mode in made.modes(MODE_COUNT)
        ],
    }
    if pressure is not None:
        values["load"] = {
            "force_n": float(pressure.force[:, 2].sum()),
            "centre_of_pressure_m": pressure.centre_of_pressure.tolist(),
            "sink_m": pressure.sink,
            "tilt_rad": pressure.motion[3:5].tolist(),
            "largest_pressure_pa": float(pressure.pressure.max()),
            "touching_nodes": int(pressure.touching.sum()),
            "points_m": pressure.points.tolist(),
            "pressure_pa": pressure.pressure.tolist(),
        }
    return values


def step_time(made: DeformableSole) -> float:
    """About how long a step of a robot on two such soles takes here [s].

    It is that of products with the compliance, PRODUCTS of them, and of a robot on rigid feet: so
    ``tabi bench sole`` finds it with 60 and with 300 ground nodes.
    """
    C, f, times = made.compliance, made.areas.repeat(3), []
    for _ in range(20):
        before = time.perf_counter()
        _ = C @ f
        times.append(time.perf_counter() - before)
    return RIGID + PRODUCTS * sorted(times)[len(times) // 2]


def text(values: dict[str, Any]) -> str:
    """Format the values in a few lines."""
    K = values["stiffness"]
    lines = [
        f"sole of {values['sole']}: {1e4 * values['ground_area_m2']:.0f} cm², "
        f"{values['mass_kg']:.3g} kg",
        f"  mesh        {values['tetrahedra']} tetrahedra, {values['nodes']} nodes, "
        f"{values['ground_nodes']} of them on the ground",
        f"  stiffness   x {K['x']:.3g}, y {K['y']:.3g}, z {K['z']:.3g} N/m",
        f"              roll {K['roll']:.3g}, pitch {K['pitch']:.3g}, yaw {K['yaw']:.3g} N·m/rad",
    ]
    modes = ", ".join(
        f"{m['frequency_hz']:.0f} ({m['damping_ratio']:.2g})" for m in values["modes"]
    )
    lines.append(f"  modes       {modes} Hz (damping ratio)")
    step = 1e3 * values["estimated_step_s"]
    holds = "1 kHz holds" if step < 1.0 else "1 kHz does not hold: take larger elements"
    lines.append(
        f"  in a step   about {step:.2g} ms on this machine for a robot on two of them: {holds}"
    )
    if "load" in values:
        load = values["load"]
        x, y = (1e3 * c for c in load["centre_of_pressure_m"])
        lines += [
            f"  under       {load['force_n']:.4g} N at ({x:.1f}, {y:.1f}) mm without friction: "
            f"sinks {1e3 * load['sink_m']:.3g} mm",
            f"  pressure    {1e-3 * load['largest_pressure_pa']:.3g} kPa at most, "
            f"{load['touching_nodes']} nodes push",
        ]
    return "\n".join(lines)


def draw(path: Path, made: DeformableSole, pressure: PressureMap, name: str) -> None:
    """Draw the pressure over the ground face, seen from above."""
    from matplotlib.figure import Figure

    x, y, _ = 1e3 * made.ground_points.T
    figure = Figure(figsize=(7.0, 4.8), layout="constrained")
    axes: Any = figure.subplots()
    shown = axes.tripcolor(
        x, y, made.ground_triangles, 1e-3 * pressure.pressure, shading="gouraud", cmap="viridis"
    )
    axes.triplot(x, y, made.ground_triangles, color="white", lw=0.2, alpha=0.5)
    at = 1e3 * pressure.centre_of_pressure
    axes.plot(*at, "o", color="white", mec="black", label="centre of pressure")
    axes.set(xlabel="x, forwards [mm]", ylabel="y, to the left [mm]", aspect="equal")
    axes.set_title(
        f"{name}: {pressure.force[:, 2].sum():.0f} N, sinks {1e3 * pressure.sink:.2g} mm"
    )
    figure.legend(loc="outside lower left", fontsize=8, frameon=False)
    figure.colorbar(shown, ax=axes, label="pressure [kPa]", shrink=0.8)
    figure.savefig(path, dpi=150)
