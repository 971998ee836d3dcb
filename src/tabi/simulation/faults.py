"""Warnings of steps that did not converge, and errors of steps that failed."""

from __future__ import annotations

import time as clock
import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from tabi._errors import SimulationError, users_level
from tabi.observation.certificate import hardest
from tabi.observation.observation import Observation
from tabi.simulation.pushes import Push
from tabi.step.data import Data
from tabi.step.depenetration import PARTING_SPEED
from tabi.step.parts import name_of
from tabi.step.status import SINGULAR
from tabi.step.tables import CONTACTS

# overlap at the start from which on it is reported [m]
REPORTED_OVERLAP_M = 1e-4
# mismatch of bonds from which on it is reported [m or rad]
REPORTED_MISMATCH = 1e-6
# largest deformation of a soft sole that counts as small, in thicknesses
SMALL_STRAIN = 0.2
# calls between the warning and the user's line: roll, advance, and step, run or rollout
STACK_DEPTH = 5


class MissedStepWarning(UserWarning):
    """Warning of a step that did not converge to the tolerance; given once in a run."""


class OverlapWarning(UserWarning):
    """Warning of two bodies that start inside of each other."""


class BriefPushWarning(UserWarning):
    """Warning of a push without a duration, which lasts one step of a longer run; given once."""


class BondMismatchWarning(UserWarning):
    """Warning of bonds that contradict each other."""


class SinkWarning(UserWarning):
    """Warning of a soft sole whose deformation is not small."""


def warn_brief(pushes: Iterable[Push], data: Data, end: int) -> bool:
    """Warn of a push that lasts one step of a longer run; returns whether there is one."""
    brief = [push for push in pushes if push.brief and push.until > data.steps]
    if not brief or end <= data.steps + 1:
        return False
    warnings.warn(
        f"the force on {brief[0].link.name!r} was given no duration, so it lasts one step of "
        f"{data.dt:g} s of this run; give one, sim.apply_force(body, force, duration=0.1), or push "
        "in every step of a loop over sim.step()",
        BriefPushWarning,
        stacklevel=users_level(),
    )
    return True


def warn_overlap(data: Data) -> bool:
    """Warn of the two bodies that start deepest inside of each other, if any; returns True."""
    rows = data.contact[data.contact["kind"] == CONTACTS]
    depth = float(-rows["gap"].min()) if len(rows) else 0.0
    if depth <= REPORTED_OVERLAP_M:
        return True
    row = rows[rows["gap"].argmin()]
    a, b = (data.model.shapes[row[side]].link for side in ("shape_a", "shape_b"))
    if -data.outcome.report[0]["overlap"] > REPORTED_OVERLAP_M:
        what = (
            f"they leave the overlap at up to {PARTING_SPEED:g} m/s without gaining speed, where "
            "there is room: move one of them, or exclude the pair (robot.exclude)"
        )
    else:
        # under a law of springs, where weight alone causes an overlap
        stiffness = float(min(data.law.memory(data.model)["stiffness"][:, 0], default=np.inf))
        weight = (
            float(np.linalg.norm(data.model.arrays.gravity)) * data.model.arrays.body["mass"].sum()
        )
        if depth <= REPORTED_OVERLAP_M + weight / stiffness:
            return True
        what = (
            f"the springs of contact={name_of(data.law)!r} push them apart with up to "
            f"{stiffness * depth:.2g} N, and they gain energy by it: move one of them, or take "
            "contact='coulomb', which parts them gently"
        )
    warnings.warn(
        f"{a} and {b} start {1e3 * depth:.3g} mm inside of each other; {what}",
        OverlapWarning,
        stacklevel=STACK_DEPTH,
    )
    return True


def warn_bond_mismatch(data: Data) -> bool:
    """Warn of bonds that contradict each other, if any; returns True."""
    apart = {
        name: size for name, size in data.bond_mismatch.items() if max(size) > REPORTED_MISMATCH
    }
    if apart:
        worst = sorted(apart, key=lambda name: -max(apart[name]))
        sizes = [
            ", ".join(
                f"{1e3 * size:.3g} {unit}"
                for size, unit in zip(apart[name], ("mm", "mrad"), strict=True)
                if size > REPORTED_MISMATCH
            )
            for name in worst[:4]
        ]
        listed = ", ".join(f"{name} by {by}" for name, by in zip(worst, sizes, strict=False))
        rest = f" and {len(worst) - 4} more" if len(worst) > 4 else ""
        warnings.warn(
            f"bonds that cannot be met together stay open: {listed}{rest}; the run goes on with "
            "what can be met: correct the places of the bonds, or hold less "
            "(sim.certificate.bond_mismatch has the rest)",
            BondMismatchWarning,
            stacklevel=STACK_DEPTH,
        )
    return True


def is_sink_small(data: Data) -> bool:
    """Whether deformations of all soft soles are small; warns of one that is not."""
    for placed_pad in data.model.pads:
        deepest, thickness = (
            float(np.abs(data.memory.sole[placed_pad.rows]).max()),
            placed_pad.pad.thickness,
        )
        if deepest > SMALL_STRAIN * thickness:
            shape = data.model.shapes[placed_pad.shape]
            warnings.warn(
                f"{shape.name or shape.link} is deformed by {1e3 * deepest:.2g} mm, more than "
                f"{SMALL_STRAIN:.0%} of its thickness of {1e3 * thickness:.3g} mm, at "
                f"{data.time:g} s: small strains are not true any more, and it would be "
                "stiffer; take a stiffer or thicker one; later ones are not reported",
                SinkWarning,
                stacklevel=STACK_DEPTH,
            )
            return False
    return True


def error_of(data: Data) -> float:
    """Return the error of contacts and joints in the last step [m/s or rad/s], maybe NaN."""
    report = data.outcome.report[0]
    return float(np.maximum(report["residual"], report["joint_residual"]))


def warn_not_converged(data: Data) -> None:
    """Warn that the last step did not converge, with the bodies that press hardest."""
    report, where = data.outcome.report[0], "without contacts"
    if pressed := hardest(data):
        a, b, force = pressed
        where = f"{len(data.contact)} contacts, {a} and {b} press hardest ({force:.3g} N)"
    law = data.law
    if not law.CERTIFIED:
        why = getattr(law, "MISSED", "it found no solution")
        warnings.warn(
            f"the step to {data.time:g} s did not converge with contact={name_of(law)!r}, {where}: "
            f"{why}; later ones are only counted (sim.missed)",
            MissedStepWarning,
            stacklevel=STACK_DEPTH,
        )
        return
    spent = report["work"] >= data.tables.limits[0] or not data.reproducible
    remedy = "a larger budget" if spent else "a larger tolerance"
    warnings.warn(
        f"the step to {data.time:g} s did not converge to {data.tolerance:g} m/s: error "
        f"{error_of(data):.2g} m/s, {where}; take a shorter dt or {remedy}, or check that bodies "
        "do not start inside of each other; later ones are only counted (sim.missed)",
        MissedStepWarning,
        stacklevel=STACK_DEPTH,
    )


def raise_diverged(seen: Observation, time: float, status: int) -> None:
    """Raise the error of a step that failed, after saving its contact problem to a file."""
    if status == SINGULAR:
        raise SimulationError(
            f"a joint has no inertia at {time:g} s; "
            "check masses and armatures that were changed during the run"
        )
    path = Path(f"tabi-problem-{clock.strftime('%Y%m%d-%H%M%S')}.npz")
    try:
        seen.export_problem(path)
        where = f"the contact problem is in {path}"
    except Exception:
        none = seen.problem() is None
        where = "no contact was involved" if none else "its contact problem could not be written"
    raise SimulationError(
        f"velocities are not finite or implausible after {time:g} s; "
        f"the state is that of the step before, {where}"
    )
