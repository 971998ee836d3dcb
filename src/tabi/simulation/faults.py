"""Steps that missed their tolerance, and steps that cannot be: what is said of them."""

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
from tabi.step.depenetration import PARTING
from tabi.step.parts import name_of
from tabi.step.status import SINGULAR
from tabi.step.tables import CONTACTS

# overlap at the start that is said [m]
INSIDE = 1e-4
# mismatch of bonds that is said [m or rad]
OPEN = 1e-6
# deformation of a soft sole that is small, in thicknesses
SMALL = 0.2
# calls between the warning and who asked for steps: roll, advance, and step, run or rollout
DEPTH = 5


class MissedStepWarning(UserWarning):
    """A step's forces or joints do not obey their laws to the tolerance; said once of a run."""


class OverlapWarning(UserWarning):
    """Two bodies start inside of each other."""


class BriefPushWarning(UserWarning):
    """A push without a duration, which lasts one step of a longer run; reported once."""


class BondMismatchWarning(UserWarning):
    """Bonds that cannot be met together."""


class SinkWarning(UserWarning):
    """A soft sole that is deformed by more than is small."""


def warn_brief(pushes: Iterable[Push], data: Data, end: int) -> bool:
    """Say which push lasts one step only, where a longer run begins; whether there is one."""
    found = [push for push in pushes if push.brief and push.until > data.steps]
    if not found or end <= data.steps + 1:
        return False
    warnings.warn(
        f"the force on {found[0].link.name!r} was given no duration, so it lasts one step of "
        f"{data.dt:g} s of this run; give one, sim.apply_force(body, force, duration=0.1), or push "
        "in every step of a loop over sim.step()",
        BriefPushWarning,
        stacklevel=users_level(),
    )
    return True


def warn_inside(data: Data) -> bool:
    """Say which two bodies started deepest inside of each other, if any did;
    True, as it is done.
    """
    rows = data.contact[data.contact["kind"] == CONTACTS]
    depth = float(-rows["gap"].min()) if len(rows) else 0.0
    if depth <= INSIDE:
        return True
    row = rows[rows["gap"].argmin()]
    a, b = (data.model.shapes[row[side]].link for side in ("shape_a", "shape_b"))
    if -data.outcome.report[0]["overlap"] > INSIDE:
        what = (
            f"they leave the overlap at up to {PARTING:g} m/s without gaining speed, where there "
            "is room: move one of them, or exclude the pair (robot.exclude)"
        )
    else:
        # under a law of springs, which weight alone presses in by so much
        stiffness = float(min(data.law.memory(data.model)["stiffness"][:, 0], default=np.inf))
        weight = (
            float(np.linalg.norm(data.model.arrays.gravity)) * data.model.arrays.body["mass"].sum()
        )
        if depth <= INSIDE + weight / stiffness:
            return True
        what = (
            f"the springs of contact={name_of(data.law)!r} push them apart with up to "
            f"{stiffness * depth:.2g} N, and they gain energy by it: move one of them, or take "
            "contact='coulomb', which parts them gently"
        )
    warnings.warn(
        f"{a} and {b} start {1e3 * depth:.3g} mm inside of each other; {what}",
        OverlapWarning,
        stacklevel=DEPTH,
    )
    return True


def warn_apart(data: Data) -> bool:
    """Say which bonds cannot be met together, if any; True, as it is done."""
    apart = {name: size for name, size in data.bond_mismatch.items() if max(size) > OPEN}
    if apart:
        worst = sorted(apart, key=lambda name: -max(apart[name]))
        sizes = [
            ", ".join(
                f"{1e3 * size:.3g} {unit}"
                for size, unit in zip(apart[name], ("mm", "mrad"), strict=True)
                if size > OPEN
            )
            for name in worst[:4]
        ]
        listed = ", ".join(f"{name} by {by}" for name, by in zip(worst, sizes, strict=False))
        more = f" and {len(worst) - 4} more" if len(worst) > 4 else ""
        warnings.warn(
            f"bonds that cannot be met together stay open: {listed}{more}; the run goes on with "
            "what can be met: correct the places of the bonds, or hold less "
            "(sim.certificate.bond_mismatch has the rest)",
            BondMismatchWarning,
            stacklevel=DEPTH,
        )
    return True


def small_sink(data: Data) -> bool:
    """Whether no soft sole is pressed in so far that it would be stiffer in truth; else it is
    said, once.
    """
    for one in data.model.pads:
        deepest, thickness = float(np.abs(data.memory.sole[one.rows]).max()), one.pad.thickness
        if deepest > SMALL * thickness:
            shape = data.model.shapes[one.shape]
            warnings.warn(
                f"{shape.name or shape.link} is deformed by {1e3 * deepest:.2g} mm, more than "
                f"{SMALL:.0%} of its thickness of {1e3 * thickness:.3g} mm, at "
                f"{data.time:g} s: small strains are not true any more, and it would be "
                "stiffer; take a stiffer or thicker one; later ones are not told",
                SinkWarning,
                stacklevel=DEPTH,
            )
            return False
    return True


def error_of(data: Data) -> float:
    """Of contacts and joints in the last step [m/s or rad/s]; a NaN stays one."""
    report = data.outcome.report[0]
    return float(np.maximum(report["residual"], report["joint_residual"]))


def warn(data: Data) -> None:
    """Say that the last step missed, and between which bodies it pressed hardest."""
    report, where = data.outcome.report[0], "without contacts"
    if pressed := hardest(data):
        a, b, force = pressed
        where = f"{len(data.contact)} contacts, {a} and {b} press hardest ({force:.3g} N)"
    law = data.law
    if not law.CERTIFIED:
        why = getattr(law, "MISSED", "it found no solution")
        warnings.warn(
            f"the step to {data.time:g} s was missed by contact={name_of(law)!r}, {where}: {why}; "
            "later misses are only counted (sim.missed)",
            MissedStepWarning,
            stacklevel=DEPTH,
        )
        return
    spent = report["work"] >= data.tables.limits[0] or not data.reproducible
    more = "a larger budget" if spent else "a larger tolerance"
    warnings.warn(
        f"the step to {data.time:g} s missed its tolerance of {data.tolerance:g} m/s: error "
        f"{error_of(data):.2g} m/s, {where}; take a shorter dt or {more}, or see that bodies do "
        "not start inside of each other; later misses are only counted (sim.missed)",
        MissedStepWarning,
        stacklevel=DEPTH,
    )


def stop(seen: Observation, time: float, status: int) -> None:
    """Raise what there is to say of a step that cannot be, with its problem on disk."""
    if status == SINGULAR:
        raise SimulationError(
            f"a joint has no inertia at {time:g} s; "
            "check masses and armatures that were changed during the run"
        )
    path = Path(f"tabi-problem-{clock.strftime('%Y%m%d-%H%M%S')}.npz")
    try:
        seen.export_problem(path)
        kept = f"the contact problem is in {path}"
    except Exception:
        none = seen.problem() is None
        kept = "no contact was involved" if none else "its contact problem could not be written"
    raise SimulationError(
        f"velocities are not finite or absurd after {time:g} s; "
        f"the state is that of the step before, {kept}"
    )
