"""``tabi validate worlds``: random worlds, let go again and again, and watched step by step.

What is watched, and how it is known apart from the step itself:
- overlap: the deepest point that the next step's own search finds [m], the pair, and how far the
  two turned meanwhile;
- tunnelling: the centre of a shape under the ground or inside of another shape, by their formulas;
- energy: the largest rise of kinetic and potential energy less the work of motors, over any stretch
  of a drop [J];
- steps that did not converge, and values that are not finite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import SimulationError
from tabi.collision.arrays import (
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    FIELD,
    PLANE,
    POLYTOPE,
    SPHERE,
)
from tabi.lab.study import Column, Criterion, Option, Validator, table, within
from tabi.lab.validate.random_worlds import random_velocity, random_world
from tabi.model.shape import HeightField
from tabi.simulation.simulator import Simulator

Array = NDArray[np.float64]
# steps after which a world is let go again, from where it began and with other velocities
DROP = 2500
# specified maximum of an overlap, at 1 ms and up to 200 rad/s
MAX_OVERLAP_M = 5e-3
# overlaps are counted between these [m]
BINS = (0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
KINDS = {
    SPHERE: "sphere",
    CAPSULE: "capsule",
    CYLINDER: "cylinder",
    BOX: "box",
    POLYTOPE: "polytope",
    ELLIPSOID: "ellipsoid",
    PLANE: "plane",
    FIELD: "height field",
}


@dataclass
class Record:
    """Measures of a world's run.

    Attributes:
        steps: done.
        contacts: points, at most.
        missed: (time [s], residual [m/s]) of steps that missed their tolerance.
        penetration: deepest overlap [m]; pair, time: whose and when [s];
            turn: how far the two had turned in a step [rad].
        counts: steps by their deepest overlap, between BINS.
        tunnelled: shapes whose centre was under the ground or inside another one, and when;
            a hundred at most.
        energy_gained: largest rise less the work of motors [J];
            energy: what that drop had at its beginning, over its least [J].
        fault: why it stopped, if it did.
    """

    seed: int
    trees: int = 0
    things: int = 0
    steps: int = 0
    contacts: int = 0
    missed: list[tuple[float, float]] = field(default_factory=list)
    penetration: float = 0.0
    pair: str = ""
    time: float = 0.0
    turn: float = 0.0
    counts: list[int] = field(default_factory=lambda: [0] * (len(BINS) - 1))
    tunnelled: list[str] = field(default_factory=list)
    energy_gained: float = 0.0
    energy: float = 0.0
    fault: str = ""


class Watch:
    """Looks at a simulator after each step."""

    def __init__(self, sim: Simulator, record: Record) -> None:
        self.sim, self.record = sim, record
        self.shape = sim.data.tables.shapes.shape
        body = self.shape["body"]
        self.allowed = body[:, None] != body
        for i, row in enumerate(self.shape):
            self.allowed[i, sim.data.tables.shapes.never[row["never"] : row["never_end"]]] = False
        self.allowed[body == 0] = False
        self.grounds = [k for k, kind in enumerate(self.shape["kind"]) if kind in (PLANE, FIELD)]
        self.allowed[:, self.grounds] = False
        self.moving = np.flatnonzero(body)
        self.spin = np.zeros(len(sim.data.body))
        self.drop()

    def drop(self) -> None:
        """A new drop begins."""
        self.start = self.least = self.energy()
        self.work = 0.0

    def energy(self) -> float:
        """Kinetic and potential [J]."""
        sim = self.sim
        return sim.energy.total

    def look(self, v_before: Array) -> None:
        """After a step that began with these velocities."""
        sim, record = self.sim, self.record
        data = sim.data
        count = int(data.memory.count[0])
        record.steps += 1
        record.contacts = max(record.contacts, count)
        self.overlap(data.memory.contact[:count])
        self.spin = sim.dt * np.linalg.norm(data.body["velocity"][:, :3], axis=1)
        self.tunnels()
        self.work += 0.5 * sim.dt * float(data.outcome.effort["motor"] @ (v_before + data.v))
        now = self.energy() - self.work
        self.least = min(self.least, now)
        if now - self.least > record.energy_gained:
            record.energy_gained, record.energy = now - self.least, self.start - self.least

    def overlap(self, points: NDArray[np.void]) -> None:
        """Measure the points with which the step began; self.spin is that of the step before."""
        record, depth = self.record, 0.0
        if len(points):
            e = int(points["gap"].argmin())
            p, depth = points[e], max(0.0, -float(points["gap"][e]))
            if depth > record.penetration:
                pair = " on ".join(
                    f"{KINDS[int(self.shape['kind'][k])]} {self.sim.model.shapes[k].link}"
                    for k in (p["shape_a"], p["shape_b"])
                )
                record.penetration = depth
                record.pair = pair
                record.time = self.sim.time - self.sim.dt
                record.turn = float(self.spin[p["a"]] + self.spin[p["b"]])
        record.counts[min(int(np.searchsorted(BINS[1:], depth)), len(record.counts) - 1)] += 1

    def tunnels(self) -> None:
        """Centres under the ground or inside other shapes, where the step began."""
        if len(self.record.tunnelled) >= 100:
            return
        pose = self.sim.data.shape_pose
        p = pose["position"]
        for k in self.grounds:
            for i in self.moving[_below(self.sim, k, p[self.moving])].tolist():
                self.note(i, k)
        square = ((p[:, None] - p) ** 2).sum(axis=2)
        for i, k in np.argwhere(self.allowed & (square < self.shape["reach"] ** 2)).tolist():
            if self.inside(p[i], k):
                self.note(i, k)

    def note(self, i: int, k: int) -> None:
        """Shape i is where it cannot be."""
        names = [self.sim.model.shapes[j].link for j in (i, k)]
        self.record.tunnelled.append(f"{names[0]} in {names[1]} at {self.sim.time:g} s")

    def inside(self, point: Array, k: int) -> bool:
        """Whether a point is inside of the bounded shape k."""
        row, pose, c = self.shape[k], self.sim.data.shape_pose[k], self.sim.data.tables.shapes
        d = pose["rotation"].reshape(3, 3).T @ (point - pose["position"])
        if row["kind"] == CYLINDER:
            return bool(np.hypot(d[0], d[1]) < row["half"][0] and abs(d[2]) < row["half"][2])
        if row["kind"] in (SPHERE, CAPSULE):
            d[2] -= np.clip(d[2], -row["half"][2], row["half"][2])
            return bool(d @ d < row["radius"] ** 2)
        if row["kind"] == ELLIPSOID:
            return bool(np.square(d / row["half"]).sum() < 1.0)
        faces = c.face[row["face"] : row["face_end"]]
        return bool((faces["normal"] @ d < faces["offset"]).all())


def _below(sim: Simulator, k: int, points: Array) -> NDArray[np.bool_]:
    """Which points are below a plane or height field."""
    shape = sim.model.shapes[k]
    d = (points - shape.placement.p) @ shape.placement.R
    if not isinstance(shape.geometry, HeightField):
        return d[:, 2] < 0.0
    h, size = shape.geometry.heights, np.asarray(shape.geometry.size)
    last = np.array(h.shape)[::-1] - 1
    place = (d[:, :2] / size + 0.5) * last
    beside = ((place < 0) | (place > last)).any(axis=1)
    i, j = np.clip(place.astype(int), 0, last - 1).T
    a, b = place[:, 0] - i, place[:, 1] - j
    low, far = h[j, i], h[j + 1, i + 1]
    # the diagonal goes from the cell's lowest x and y to its highest
    right = low + a * (h[j, i + 1] - low) + b * (far - h[j, i + 1])
    left = low + b * (h[j + 1, i] - low) + a * (far - h[j + 1, i])
    return ~beside & (d[:, 2] < np.where(a > b, right, left))


COLUMNS = (
    Column("overlap, m: above", "above", ".0e"),
    Column("to", "to", ".0e"),
    Column("steps", "steps", ",d"),
)


def run(seed: int, steps: int = 10_000, dt: float = 1e-3, keep: Path | None = None) -> Record:
    """Let the world of a seed go every DROP steps, and watch it.

    Args:
        dt: step [s]; drops last as long whatever it is.
        keep: folder for the problems of steps that miss their tolerance.
    """
    world = random_world(seed)
    sim, record = Simulator(world, dt=dt), Record(seed, len(world.robots), len(world.objects))
    watch, drop = Watch(sim, record), max(1, round(DROP * 1e-3 / dt))
    try:
        for k in range(steps):
            if k % drop == 0:
                sim.set_state(sim.model.initial(), random_velocity(world, 1000 * seed + k // drop))
                watch.drop()
            before, known = sim.state.v, sim.missed_count
            sim.step()
            watch.look(before)
            if sim.missed_count > known and keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                sim.export_problem(keep / f"world{seed}_step{k}.npz")
    except SimulationError as error:
        record.fault = str(error)
    record.missed = list(sim.missed)
    return record


class Worlds(Validator, name="worlds"):
    """Drop random shapes and trees: does anything break, tunnel, overlap,
    gain energy or miss its tolerance?
    """

    worlds: Annotated[
        int,
        Option(min=1, help="Random worlds: shapes and trees dropped on grounds of all kinds."),
    ] = 100
    steps: Annotated[int, Option(min=1, help="Steps of 1 ms of each.")] = 10_000
    keep: Annotated[
        Path | None,
        Option(help="Folder for the contact problems of steps that miss, in FCLib form."),
    ] = None

    unit = "worlds"
    criteria = (
        Criterion("worlds", "there are worlds", at_least=1),
        Criterion("nan", "nothing stops", at_most=0),
        Criterion("tunnelled", "nothing gets through", at_most=0),
        Criterion(
            "worst_penetration", f"no overlap above {MAX_OVERLAP_M:g} m", at_most=MAX_OVERLAP_M
        ),
    )

    def cases(self) -> range:
        """Seeds of the worlds."""
        return range(self.worlds)

    def measure(self, case: int) -> Record:
        """Measure one case and return its row."""
        return run(case, self.steps, keep=self.keep)

    def figures(self, rows: Sequence[Record]) -> dict[str, Any]:
        """The figures of all, and those of each world."""
        return summary(rows)

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """All worlds as sentences, and overlaps as a table."""
        r = result
        yield (
            f"{r['worlds']} worlds, {r['steps']:,} steps: {r['nan']} stopped, "
            f"{r['tunnelled']} times something was inside or below"
        )
        yield (
            f"deepest overlap {1e3 * r['worst_penetration']:.3g} mm: {r['worst_pair']}, "
            f"turning by {r['worst_turn']:.3g} rad in that step"
        )
        yield (
            f"energy gained at most {r['energy_gained']:.3g} J, "
            f"{100 * r['energy_gained_share']:.2g} % of its drop"
            f"; {r['energy_gained_without_trees']:.2g} J where nothing has joints"
        )
        yield (
            f"{r['missed']} steps did not converge, worst {r['worst_residual']:.1e} m/s"
            + (f", in the worlds {', '.join(map(str, r['seeds_missed']))}" if r["missed"] else "")
        )
        yield ""
        yield from table(COLUMNS, r["histogram"])
        for record in r["each"]:
            if record["fault"]:
                yield f"  world {record['seed']} stopped: {record['fault']}"
            yield from (f"  world {record['seed']}: {what}" for what in record["tunnelled"][:3])
        yield ""
        yield (
            f"{within(r)} what is promised: nothing stops, "
            f"nothing gets through, no overlap above {1e3 * MAX_OVERLAP_M:g} mm"
        )


def summary(records: Sequence[Record]) -> dict[str, Any]:
    """The figures of several worlds together, as plain data."""
    nothing = Record(-1)
    deepest = max(records, key=lambda r: r.penetration, default=nothing)
    gained = max(records, key=lambda r: r.energy_gained, default=nothing)
    counts = np.sum([r.counts for r in [nothing, *records]], axis=0).tolist()
    return {
        "worlds": len(records),
        "steps": sum(r.steps for r in records),
        "missed": sum(len(r.missed) for r in records),
        "worst_residual": max((residual for r in records for _, residual in r.missed), default=0.0),
        "worst_penetration": deepest.penetration,
        "worst_pair": deepest.pair,
        "worst_turn": deepest.turn,
        "energy_gained": gained.energy_gained,
        "energy_gained_share": gained.energy_gained / gained.energy if gained.energy > 0 else 0.0,
        "energy_gained_without_trees": max(
            (r.energy_gained for r in records if r.trees == 0), default=0.0
        ),
        "nan": sum(bool(r.fault) for r in records),
        "tunnelled": sum(len(r.tunnelled) for r in records),
        "histogram": [
            {"above": low, "to": high, "steps": n}
            for low, high, n in zip(BINS, BINS[1:], counts, strict=False)
        ],
        "seeds_missed": [r.seed for r in records if r.missed],
        "each": [asdict(r) for r in records],
    }
