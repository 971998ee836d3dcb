"""``tabi validate loops``: random closed chains that may ask for more than their joints can do.

Chains of 3 to 30 joints lie in a plane or in space and are closed by balls, hinges and welds, some
by a second loop. So bonds are redundant by up to six rows and more, and their places are off by 0,
1 nm, 1 µm or 1 mm. Each chain flies, falls on a ground, or hangs from the world and is pushed.
Watched are numbers that are none, steps that miss their tolerance in what can be met, energy that
rises beyond the work of the push and what closing the offset may add, and the time of a step.

Closing a millimetre lifts a chain. That lift is computed from its configurations, must not exceed
the weight times the offset times ``bond_closing.MAX_LEVERAGE``, and is not counted; the lift of
smaller offsets is. A step of first order gives and takes energy on the way of a fast swing, a part
of the kinetic energy that falls with h. Where energy rises by more than MAX_ENERGY_RISE, the chain
is run again with h/16, and the rise has to fall to MAX_RISE_RATIO of it at least: energy that bonds
add by mistake would stay.
"""

from __future__ import annotations

import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from tabi._errors import SimulationError
from tabi.contact.bonds.bond_closing import MAX_LEVERAGE
from tabi.contact.matrix_form import sparse
from tabi.contact.rows import BILATERAL, BILATERAL_TWO
from tabi.lab.study import Criterion, Option, Validator, within
from tabi.lab.validate.lift import lift, velocity_only
from tabi.model.body import Body, Closure
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.model.shape import Shape, Sphere
from tabi.model.world import World
from tabi.simulation.simulator import Simulator
from tabi.spatial.inertia import solid_box
from tabi.spatial.transform import Transform, translation, z_to

Array = NDArray[np.float64]
FLIES, FALLS, PUSHED = "flies", "falls", "pushed"
OFFSETS = (0.0, 1e-9, 1e-6, 1e-3)
MOST_JOINTS = 30
# share of steps that may miss, and CPU time that a step may take [s]
MAX_MISSED_SHARE, LONGEST_STEP = 1e-5, 5e-3
# energy that may rise above the least so far, of the largest kinetic energy; with steps so many
# times shorter a rise that is larger has to be so much smaller
MAX_ENERGY_RISE, STEP_DIVISOR, MAX_RISE_RATIO = 1e-3, 16, 0.5
# steps of each chain, those with a push, and those whose time does not count
STEPS, PUSH, WARMUP_STEPS = 200, 20, 2
MILLISECOND = 1e-3


def random_chain(seed: int) -> tuple[Robot, str, float]:
    """A chain, what happens to it, and how far the places of its bonds are off [m]."""
    rng = np.random.default_rng([seed, 38])
    case, offset = (FLIES, FALLS, PUSHED)[seed % 3], OFFSETS[seed // 3 % 4]
    count = int(np.exp(rng.uniform(np.log(3), np.log(MOST_JOINTS + 1))))
    flat = bool(rng.random() < 0.5)
    corners = _corners(rng, count + 1, flat)
    robot = Robot(f"chain{seed}")
    bodies: list[Body] = []
    for k in range(count + 1):
        along = corners[(k + 1) % (count + 1)] - corners[k]
        joint = _joint(rng, k, case, flat)
        before = corners[k - 1] if k else np.zeros(3)
        joint.placement = translation(corners[k] - before)
        bodies.append(_link(robot, f"link{k}", joint, bodies[-1] if bodies else None, along))
    off = rng.normal(size=3)
    off *= offset / np.linalg.norm(off)
    _close(rng, robot, (bodies[-1], corners[-1]), (bodies[0], corners[0]), corners[0], off, flat)
    if count > 4 and rng.random() < 0.5:
        middle = count // 2
        joint = _joint(rng, 1, case, flat)
        joint.name, joint.placement = "strut_joint", translation(np.zeros(3))
        along = corners[1] - corners[middle]
        strut = _link(robot, "strut", joint, bodies[middle], along)
        ends = (strut, corners[middle]), (bodies[0], corners[0])
        _close(rng, robot, *ends, corners[1], off, flat)
    robot.excluded |= {
        frozenset((a.name, b.name)) for a in robot.bodies for b in robot.bodies if a is not b
    }
    return robot, case, offset


def _corners(rng: np.random.Generator, count: int, flat: bool) -> Array:
    """Return corners of a polygon with sides of some decimetres, in the plane y = 0 if flat."""
    angle = 2 * np.pi * (np.arange(count) + rng.uniform(-0.3, 0.3, count)) / count
    radius = count / (2 * np.pi) * rng.uniform(0.2, 0.4) * rng.uniform(0.7, 1.3, count)
    out = np.stack([radius * np.cos(angle), np.zeros(count), radius * np.sin(angle)], axis=1)
    if not flat:
        out[:, 1] = rng.uniform(-0.15, 0.15, count)
    return out


def _joint(rng: np.random.Generator, k: int, case: str, flat: bool) -> Joint:
    if k == 0:
        return Joint("base", "fixed" if case == PUSHED else "floating")
    if flat:
        return Joint(f"joint{k}", "revolute", axis=(0.0, 1.0, 0.0), damping=0.01)
    axis = rng.normal(size=3)
    kind = "spherical" if rng.random() < 0.2 else "revolute"
    return Joint(f"joint{k}", kind, axis=tuple(axis / np.linalg.norm(axis)), damping=0.01)


def _link(robot: Robot, name: str, joint: Joint, parent: Body | None, along: Array) -> Body:
    """A rod from its joint along a vector, with a ball at each end."""
    length = float(np.linalg.norm(along))
    X = Transform(z_to(along), 0.5 * along)
    rod = solid_box(2.0 * length, (0.04, 0.04, length)).transformed(X)
    body = robot.add_body(name, joint, parent, rod)
    body.shapes.append(Shape(Sphere(0.02), translation(0.5 * along)))
    return body


def _close(
    rng: np.random.Generator,
    robot: Robot,
    a: tuple[Body, Array],
    b: tuple[Body, Array],
    place: Array,
    off: Array,
    flat: bool,
) -> None:
    """A bond of two bodies, each with the place of its joint, at a place of one and beside it."""
    kind = str(rng.choice(["ball", "hinge", "weld"], p=[0.5, 0.4, 0.1]))
    axis = np.array([0.0, 1.0, 0.0]) if flat else rng.normal(size=3)
    R = z_to(axis)
    robot.bonds.append(
        Closure(kind, a[0], b[0], Transform(R, place - a[1]), Transform(R, place - b[1] + off))
    )


class ClosedChains(Validator, name="loops"):
    """Swing, drop and push closed chains: do steps miss, gain energy or take long?"""

    chains: Annotated[int, Option(min=1, help="Random closed chains.")] = 1000

    unit = "chains"
    criteria = (
        Criterion("broken", "no chain breaks", at_most=0),
        Criterion("gained", "no chain gains energy that stays with finer steps", at_most=0),
        Criterion("missed_share", "few steps miss their tolerance", at_most=MAX_MISSED_SHARE),
        Criterion("slowest_s", "no step takes long", at_most=LONGEST_STEP),
    )

    def cases(self) -> range:
        """Chains by their seeds."""
        return range(self.chains)

    def measure(self, case: int) -> dict[str, Any]:
        """A chain, again where a step was slow, and with finer steps where energy rose."""
        row: dict[str, Any] = run(case) | {"seed": case, "finer": None}
        if row["slowest_s"] > LONGEST_STEP:
            # kernels of a first contact may have been loaded on the way
            row["slowest_s"] = min(row["slowest_s"], run(case)["slowest_s"])
        if row["rise"] > MAX_ENERGY_RISE:
            less = run(case, finer=STEP_DIVISOR)["rise"]
            row["finer"] = (row["rise"], less)
            if not less < MAX_RISE_RATIO * row["rise"]:
                row["gained"].append(f"{row['rise']:.1e}, and {less:.1e} with h/{STEP_DIVISOR}")
        return row

    def figures(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return sums, the largest errors, and the faults of each chain."""
        redundant, steps = Counter(row["redundant"] for row in rows), sum(r["steps"] for r in rows)
        wrong = {
            key: [f"chain {r['seed']}, {r['words']}: {line}" for r in rows for line in r[key]]
            for key in ("missed", "broken", "gained")
        }
        worst = ("mismatch", "slowest_s", "rise", "lever")
        return {
            "chains": len(rows),
            "steps": steps,
            **wrong,
            "missed_share": len(wrong["missed"]) / max(steps, 1),
            "redundant": dict(sorted(redundant.items())),
            **{key: max((row[key] for row in rows), default=0.0) for key in worst},
            "finer": {row["seed"]: row["finer"] for row in rows if row["finer"]},
        }

    def lines(self, result: Mapping[str, Any]) -> Iterator[str]:
        """The result as sentences."""
        r = result
        yield (f"{r['chains']} closed chains, {r['steps']:,} steps: {within(r)} what is asked")
        rows = ", ".join(f"{count} by {rows}" for rows, count in r["redundant"].items())
        yield f"  redundant rows: {rows}; largest mismatch that was reported {r['mismatch']:.2g} m"
        yield (
            f"  steps not converged: {len(r['missed'])} (at most {MAX_MISSED_SHARE:g} of all); "
            f"broken: {len(r['broken'])}"
        )
        yield (
            f"  energy rose by more than {MAX_ENERGY_RISE:g} of the kinetic energy in "
            f"{len(r['finer'])} chains, by {r['rise']:.1e} at most; with h/{STEP_DIVISOR} it did "
            f"not fall to {MAX_RISE_RATIO:g} of that in {len(r['gained'])}"
        )
        yield (
            f"  closing {1e3 * OFFSETS[-1]:g} mm lifted a chain by at most {r['lever']:.2g} times "
            f"as much (allowed {MAX_LEVERAGE:g})"
        )
        yield (
            f"  longest step {1e3 * r['slowest_s']:.2f} ms of CPU time (at most "
            f"{1e3 * LONGEST_STEP:g})"
        )
        for key in ("broken", "gained", "missed"):
            yield from (f"  {key}: {line}" for line in r[key][:10])


def run(seed: int, steps: int = STEPS, finer: int = 1) -> dict[str, Any]:
    """One chain, for so many milliseconds; finer: steps in each of them."""
    robot, case, offset = random_chain(seed)
    world = World()
    if case == FALLS:
        world.add_ground(friction=0.6)
    chain = world.add_robot(robot)
    if case == FALLS:
        chain.place((0.0, 0.0, chain.extent((0.0, 0.0, -1.0)) + 0.05))
    joints = sum(body.joint.v_count for body in robot.bodies[1:])
    words = f"{joints} joints, {case}, off by {offset:g} m"
    out: dict[str, Any] = {"words": words, "missed": [], "broken": [], "gained": []}
    out |= {"steps": 0, "redundant": 0, "mismatch": 0.0, "slowest_s": 0.0, "rise": 0.0}
    out["lever"] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sim = Simulator(world, dt=MILLISECOND / finer)
        if case == PUSHED:
            force = np.random.default_rng(seed).normal(size=3) * 20.0
            duration = PUSH * MILLISECOND
            sim.apply_force(robot.bodies[-1].name, force=tuple(force), duration=duration)
        try:
            _watch(sim, steps * finer, PUSH * finer if case == PUSHED else 0, offset, out)
        except SimulationError as fault:
            out["broken"].append(str(fault))
    out["missed"] = [f"at {t:.3f} s by {error:.1e} m/s" for t, error in sim.missed]
    if not (np.isfinite(sim.state.q).all() and np.isfinite(sim.state.v).all()):
        out["broken"].append("its state is not finite")
    out["redundant"] = _redundant(sim)
    out["mismatch"] = max((max(x) for x in sim.data.bond_mismatch.values()), default=0.0)
    return out


def _redundant(sim: Simulator) -> int:
    """Rows of the bonds that say again what others do."""
    p = sim.data.problem
    if p is None:
        return 0
    bonds = np.isin(p.kind, (BILATERAL, BILATERAL_TWO))
    rows = np.repeat(bonds, 3)
    # the third row of a hinge's turning is none
    rows[2::3] &= p.kind != BILATERAL_TWO
    W = sparse(p)[rows][:, rows].toarray()
    scale = np.repeat(p.weight, 3)[rows] ** 0.5
    W *= np.minimum(scale, 1e3)[:, None] * np.minimum(scale, 1e3)
    return int(rows.sum()) - int(np.linalg.matrix_rank(W, 1e-8 * np.abs(W).max()))


def _watch(sim: Simulator, steps: int, pushed: int, offset: float, out: dict[str, Any]) -> None:
    """Do the steps; how much energy rises, and how long they take, into ``out``.

    Args:
        pushed: steps with a push, by the end of which energy is counted.
    """
    weight = 9.81 * sum(body.inertia.mass for body in sim.world.robots[0].bodies)
    least, kinetic, rise, lifted = np.inf, 1e-3 * weight, 0.0, 0.0
    for k in range(steps):
        before = sim.data.q.copy()
        begin = time.thread_time()
        sim.step()
        # kernels are loaded on the way of the first ones
        if k > WARMUP_STEPS:
            out["slowest_s"] = max(out["slowest_s"], time.thread_time() - begin)
        out["steps"] += 1
        energy = sim.energy
        kinetic = max(kinetic, energy.kinetic)
        if offset >= OFFSETS[-1]:
            lifted += max(0.0, lift(sim, velocity_only(sim, before)))
            out["lever"] = lifted / (weight * offset)
        if k >= pushed:
            least = min(least, energy.total - lifted)
            rise = max(rise, energy.total - lifted - least)
    out["rise"] = rise / kinetic
    if out["lever"] > MAX_LEVERAGE:
        out["gained"].append(f"{lifted:.1e} J by closing {offset:g} m")
