"""Two revisions of tabi on the same runs: do they still compute the same?

    python benchmarks/same_runs.py REVISION [OTHER] [--only NAME]

OTHER is the working tree, if not given.

Each revision runs in a process of its own, on a copy of its sources: robots that stand, squat, fall
and push a cart, planned and steered walks, on soft soles too, a robot led and touched by a scripted
hand, feet and plates with sensors, a wall, a cradle, a linkage, belts, event-driven bounces, steps
of second order, every law of contact, surfaces that resist turning, and twenty random worlds. A run
is the same if every q and v is, to the last bit, and so are readings of sensors, forces of motors,
states of feet and displacements of soles. A run that only one of the revisions has is named.

Where the order of a sum has changed, bits differ and motions drift apart. Then the second revision
is asked step by step: it starts every step from the state and memory of the first one. Status,
contacts and their order have to be the same in every step, both have to be certified, and v after
the step has to agree to 1e-7 (relative to the fastest velocity, at least 1). What is said beside
it: how many steps agree to 1e-12, as they do where rounding is all that differs and Newton's last
step went all the way; one that ends within the tolerance keeps the digits of its path.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import operator
import os
import pickle
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
EXACT, CERTIFIED = 1e-12, 1e-7
# steps of each scene of the library; joints, motors, bonds, belts and impacts are all among them
SCENES = {
    "standing": 300,
    "squat": 400,
    "push": 500,
    "fall": 900,
    "cart": 250,
    "wall": 150,
    "cradle": 600,
    "linkage": 500,
    "conveyor": 500,
    "bounce": 700,
    "stairs": 300,
    "stack": 300,
    "walk": 1500,
    "steer": 1500,
    "soft-walk": 800,
    "soft-soles": 400,
    "lead": 2500,
    "touch": 2000,
    "force-plates": 600,
    "foot-impact": 400,
    "hip-sway": 400,
}
# the same scenes by other settings: name of the run, scene, settings as of --set, steps
CHANGED = (
    ("pyramid", "squat", ("simulation.contact=pyramid",), 150),
    ("frictionless", "stack", ("simulation.contact=frictionless",), 150),
    ("penalty", "squat", ("simulation.contact=penalty",), 200),
    ("selection", "squat", ("simulation.contact=selection",), 200),
    ("second order", "conveyor", ("simulation.order=2",), 300),
)
# arrays of a step beside q and v, by their places in ``sim.data``, one of which a revision has
READINGS = {
    "readings": ("memory.sensors.value",),
    "efforts": ("outcome.effort",),
    "feet": ("memory.foot",),
    "soles": ("memory.sole",),
}
SEEDS, SEED_STEPS = range(20), 150


# ---- one revision -------------------------------------------------------------------------------


def runs() -> dict[str, tuple[Callable[[], Any], int]]:
    """Every run: a function that makes its simulator, and how many steps it takes."""
    import tabi
    from tabi import scenes

    random_worlds = imported("tabi.validation.random_worlds", "tabi.lab.validate.random_worlds")
    random_world, random_velocity = random_worlds.random_world, random_worlds.random_velocity

    def random(seed: int) -> Any:
        world = random_world(seed)
        sim = tabi.Simulator(world)
        sim.set_state(sim.state.q, random_velocity(world, seed))
        return sim

    def turning() -> Any:
        """Things that roll and spin on surfaces that resist it,
        one of them held by a ball joint.
        """
        world = tabi.World()
        world.add_ground(friction=0.6)
        for k in range(4):
            thing = world.add_box(
                (0.1, 0.1, 0.1), 1.0, position=(0.3 * k, 0, 0.05), friction=0.5, name=f"box{k}"
            )
            for shape in thing.shapes:
                material = shape.material
                material.torsional_friction, material.rolling_friction = 0.01, 0.001 * k
        sim = tabi.Simulator(world)
        v = np.random.default_rng(7).normal(size=sim.model.v_count)
        sim.set_state(sim.state.q, v)
        return sim

    found: dict[str, tuple[Callable[[], Any], int]] = {
        name: (lambda name=name: scenes.load(name).simulator(), steps)
        for name, steps in SCENES.items()
    }
    found |= {
        name: (lambda scene=scene, by=by: scenes.load(scene, overrides=by).simulator(), steps)
        for name, scene, by, steps in CHANGED
    }
    found["turning"] = (turning, 300)
    found |= {f"random {seed}": (lambda seed=seed: random(seed), SEED_STEPS) for seed in SEEDS}
    return found


def imported(*names: str) -> Any:
    """The first module of these that the revision has."""
    for name in names:
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(name)
    raise SystemExit(f"this revision has none of the modules {', '.join(names)}")


def array_at(thing: Any, places: tuple[str, ...]) -> bytes | None:
    """The bytes of the array at the first place that there is, None where there is none."""
    for place in places:
        with contextlib.suppress(AttributeError):
            return np.ascontiguousarray(operator.attrgetter(place)(thing)).tobytes()
    return None


def look(sim: Any) -> dict[str, Any]:
    """State, memory and outcome of a simulator, in one form for every revision."""
    return _look_open(sim) if hasattr(sim, "data") else _look_closed(sim)


def put(sim: Any, moment: dict[str, Any]) -> None:
    """Give a simulator the state and memory of a moment; its clock goes on by itself."""
    (_put_open if hasattr(sim, "data") else _put_closed)(sim, moment)


# revisions with sim.data


def _look_open(sim: Any) -> dict[str, Any]:
    data = sim.data
    report, joint = data.outcome.report[0], data.memory.joint
    contact = data.memory.contact[: data.memory.count[0]]
    return {
        "q": np.array(data.q),
        "v": np.array(data.v),
        "joints": np.array([joint["saturation"], joint["mode"], joint["direction"]]),
        "identity": np.array([contact[k] for k in ("kind", "shape_a", "shape_b", "feature")]),
        "impulse": np.array(contact["impulse"]),
        "sticks": np.array(contact["status"] == 1),
        "iterations": int(report["iterations"]),
        "missed": int(report["missed"]),
        "residual": float(report["residual"]),
        **{name: array_at(data, places) for name, places in READINGS.items()},
    }


def _put_open(sim: Any, moment: dict[str, Any]) -> None:
    stepper, count = sim._stepper, moment["identity"].shape[1]
    if count > len(stepper.data.memory.contact):
        stepper.grow(count, 0)
    data = stepper.data
    data.q[:], data.v[:] = moment["q"], moment["v"]
    joint, contact = data.memory.joint, data.memory.contact[:count]
    joint["saturation"], joint["mode"], joint["direction"] = moment["joints"]
    for name, column in zip(
        ("kind", "shape_a", "shape_b", "feature"), moment["identity"], strict=True
    ):
        contact[name] = column
    contact["impulse"], contact["status"] = moment["impulse"], moment["sticks"]
    data.memory.count[0] = count
    stepper.prepare()


# revisions before


def _look_closed(sim: Any) -> dict[str, Any]:
    report, target = sim._room.report[0], sim._target
    touch = sim._memory.touch[: sim._memory.count[0]]
    shape, moments, bonds = np.array(touch["shape_a"]), 1 << 39, 1 << 40
    kind = (shape >= moments).astype(np.int64) + (shape >= bonds)
    shape = shape - np.where(kind == 1, moments, 0) - np.where(kind == 2, bonds, 0)
    return {
        "q": sim._q.copy(),
        "v": sim._v.copy(),
        "joints": np.array([target["saturated"], target["doing"], target["slides"]]),
        "identity": np.array([kind, shape, touch["shape_b"], touch["feature"]]),
        "impulse": np.array(touch["impulse"]),
        "sticks": touch["sticks"] != 0,
        "iterations": int(report["iterations"]),
        "missed": int(report["missed"]),
        "residual": float(report["residual"]),
    }


def _put_closed(sim: Any, moment: dict[str, Any]) -> None:
    count = moment["identity"].shape[1]
    if count > sim._points:
        sim._grow(count, sim._blocks)
    sim._q[:], sim._v[:] = moment["q"], moment["v"]
    target, touch = sim._target, sim._memory.touch[:count]
    target["saturated"], target["doing"], target["slides"] = moment["joints"]
    kind, shape, touch["shape_b"], touch["feature"] = moment["identity"]
    touch["shape_a"] = shape + np.where(kind == 1, 1 << 39, 0) + np.where(kind == 2, 1 << 40, 0)
    touch["impulse"], touch["sticks"] = moment["impulse"], moment["sticks"]
    sim._memory.count[0] = count
    sim._refresh()


def record(make: Callable[[], Any], steps: int, path: list[dict[str, Any]] | None) -> Iterator[Any]:
    """Every moment of a run; with a ``path`` each step starts from that one's."""
    sim = make()
    yield look(sim)
    for k in range(steps):
        if path is not None:
            put(sim, path[k])
        sim.step()
        yield look(sim)


def work(folder: Path, only: str | None) -> None:
    """Record all runs; or, where another revision's are in the folder ``path``, step by step."""
    for name, (make, steps) in runs().items():
        given = folder / "path" / f"{name}.pickle"
        if (only is not None and only not in name) or (
            given.parent.is_dir() and not given.exists()
        ):
            continue
        path = pickle.loads(given.read_bytes()) if given.exists() else None
        try:
            moments = list(record(make, steps, path))
        except ValueError as problem:
            print(f"{name} cannot run: {problem}", file=sys.stderr)
            continue
        (folder / f"{name}.pickle").write_bytes(pickle.dumps(moments))
        print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)


# ---- two of them --------------------------------------------------------------------------------


def sources(revision: str | None, folder: Path) -> Path:
    """The sources of a revision, unpacked; of the working tree where there is none."""
    if revision is None:
        return ROOT / "src"
    packed = subprocess.run(
        ["git", "archive", revision, "src"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as files:
        files.extractall(folder, filter="data")
    return folder / "src"


def run(source: Path, folder: Path, only: str | None) -> None:
    """Let a revision record its runs into a folder."""
    folder.mkdir(exist_ok=True)
    cache = {} if source == ROOT / "src" else {"TABI_CACHE_DIR": str(source.parent / "cache")}
    settings = os.environ | {"PYTHONPATH": str(source)} | cache
    command = [
        sys.executable,
        __file__,
        "--worker",
        str(folder),
        *(["--only", only] if only else []),
    ]
    subprocess.run(command, env=settings, check=True)


def same(a: list[dict[str, Any]], b: list[dict[str, Any]]) -> int:
    """The first step in which one of both has other bits than the other; −1 where none has."""
    for k, (x, y) in enumerate(zip(a, b, strict=True)):
        if x["q"].tobytes() != y["q"].tobytes() or x["v"].tobytes() != y["v"].tobytes():
            return k
        # revisions that do not keep what another one does are compared by the rest
        told = [name for name in READINGS if x.get(name) is not None and y.get(name) is not None]
        if any(x[name] != y[name] for name in told):
            return k
    return -1


def stepwise(a: list[dict[str, Any]], b: list[dict[str, Any]]) -> tuple[str, bool]:
    """How revisions differ that started every step alike, and whether it is allowed."""
    worst, close, faults = 0.0, 0, []
    for k, (x, y) in enumerate(zip(a, b, strict=True)):
        if k == 0:
            continue
        shape = x["identity"].shape == y["identity"].shape
        if (
            not shape
            or not np.all(x["identity"] == y["identity"])
            or (x["missed"] > 0) != (y["missed"] > 0)
        ):
            faults.append(k)
        else:
            scale = max(1.0, np.abs(x["v"]).max(initial=0.0))
            off = float(np.abs(x["v"] - y["v"]).max(initial=0.0) / scale)
            worst, close = max(worst, off), close + (off <= EXACT)
            if off > CERTIFIED and x["missed"] == 0:
                faults.append(k)
    text = f"{close} of {len(a) - 1} steps to {EXACT:g}, the worst {worst:.1e}"
    text += f"; {len(faults)} steps differ, first {faults[:3]}" if faults else ""
    return text, not faults


def main(old: str, new: str | None, only: str | None) -> int:
    """Record both, compare, and ask again step by step where they differ."""
    with tempfile.TemporaryDirectory() as place:
        base = Path(place)
        source = [sources(revision, base / str(k)) for k, revision in enumerate((old, new))]
        for k in range(2):
            (base / str(k)).mkdir(exist_ok=True)
            run(source[k], base / f"runs{k}", only)
        each = [{path.name for path in (base / f"runs{k}").glob("*.pickle")} for k in range(2)]
        names = sorted(each[0] & each[1])
        for name in sorted(each[0] ^ each[1]):
            print(f"{name.removesuffix('.pickle'):12} only one revision has it")
        read = lambda k, name: pickle.loads((base / f"runs{k}" / name).read_bytes())  # noqa: E731
        differ = {name: k for name in names if (k := same(read(0, name), read(1, name))) >= 0}
        good = True
        for name in names:
            if name not in differ:
                print(f"{name.removesuffix('.pickle'):12} the same to the last bit")
        if differ:
            (base / "runs2" / "path").mkdir(parents=True)
            for name in differ:
                (base / "runs0" / name).rename(base / "runs2" / "path" / name)
            run(source[1], base / "runs2", only)
        for name, first in differ.items():
            path = pickle.loads((base / "runs2" / "path" / name).read_bytes())
            text, fine = stepwise(path, read(2, name))
            good = good and fine
            says = "agrees" if fine else "DIFFERS"
            print(
                f"{name.removesuffix('.pickle'):12} {says} step by step: "
                f"{text} (bits from step {first})"
            )
        return 0 if good else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", nargs="?")
    parser.add_argument("new", nargs="?")
    parser.add_argument("--only", help="runs whose name has this in it")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.worker:
        work(told.worker, told.only)
    elif told.old:
        sys.exit(main(told.old, told.new, told.only))
    else:
        parser.error("a revision is missing; expected the one to compare with")
