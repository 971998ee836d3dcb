"""Friction and servo logs from recordings of tabi, for ``tabi identify``.

Of a body that slides, μ = |Σ f_t| / Σ f_n over its contacts in every row in which all that press
slip (statuses are recorded with the contacts). Of a joint, its log is recorded: position, velocity,
effort and commanded position of its motor; the commanded velocity is the rate of that.
"""

from __future__ import annotations

import numpy as np

from tabi._errors import unknown
from tabi.identification.damped_oscillation import IdentificationError
from tabi.identification.friction_identification import Friction
from tabi.identification.joint_identification import Log
from tabi.identification.regression import mean
from tabi.model.arrays import PRISMATIC
from tabi.recording.recorded import STATUS, Recorded

SLIP, OPEN = STATUS.index("slip"), STATUS.index("open")


def friction_of(run: Recorded, body: str, name: str = "the recording") -> Friction:
    """μ of a body that slides in a recording."""
    if body not in run.body_names:
        raise unknown("body", body, name, run.body_names)
    ratios, times = [], []
    which = run.body_names.index(body)
    for row in range(len(run.time)):
        c = run.contacts_at(row)
        slipping = ((c["body_a"] == which) | (c["body_b"] == which)) & (c["status"] != OPEN)
        if not slipping.any() or not (c["status"][slipping] == SLIP).all():
            continue
        force, normal = c["force"][slipping], c["normal"][slipping]
        pressing = (force * normal).sum(axis=1)
        along = force - pressing[:, None] * normal
        if pressing.sum() > 0:
            ratios.append(float(np.linalg.norm(along.sum(axis=0)) / pressing.sum()))
            times.append(float(run.time[row]))
    if len(ratios) < 2:
        raise IdentificationError(
            f"{name}: {body!r} slides in {len(ratios)} of {len(run.time)} rows; "
            f"expected a run in which it slips"
        )
    values = np.array(ratios)
    return Friction(mean(values, name), 1, float(values.std(ddof=1)), values, at=times[0])


def log_of(run: Recorded, joint: str | None, name: str = "the recording") -> tuple[Log, bool]:
    """Return the log of a joint, and whether it is prismatic."""
    known = [label for label in run.joint_names if run.world.joint_of.count(label) == 1]
    if joint is None and len(known) != 1:
        raise IdentificationError(
            f"{name} has {len(known)} joints; name one: --joint {known[0] if known else '…'}"
        )
    joint = known[0] if joint is None else joint
    if joint not in known:
        raise unknown("joint", joint, name, known)
    k = run.world.joint_of.index(joint)
    q = int(run.world.dof["q"][k])
    body = int(np.flatnonzero(run.world.body["v_start"] == k)[-1])
    # the row before the first step has no effort
    target = run.motors["target"][1:, k]
    log = Log(
        run.time[1:],
        run.q[1:, q],
        run.v[1:, k],
        target,
        np.gradient(target, run.time[1:]),
        run.motors["effort"][1:, k],
        f"{name}, joint {joint!r}",
    )
    return log, bool(run.world.body["kind"][body] == PRISMATIC)
