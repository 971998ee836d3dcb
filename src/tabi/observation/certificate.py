"""Certificate of a step: errors of its forces by the law, recomputed from the problem alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tabi._renamed import RenamedAttribute
from tabi.contact.bodies import BodyProblem
from tabi.contact.certificate import judge
from tabi.contact.ladder import NAMES
from tabi.contact.rows import BILATERAL, BILATERAL_TWO, CONTACT, LIMITED, SOFT
from tabi.observation import certificate_text
from tabi.observation.bond_check import avoidable_residual
from tabi.observation.error_bound import ErrorBound, StepErrors, error_bound, step_errors
from tabi.step.data import Data

Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class StepCertificate:
    """Errors of the forces of the last step by Signorini and Coulomb; printed as a sentence and a
    table.

    Attributes:
        residual: largest backward error of contacts and bonds [m/s, rotation rad/s].
        tolerance: of the residual [m/s]. converged: whether it was reached.
        force_residual: largest change of a point's force that would make that point exact [N];
            see ``force_error_bound`` for net forces.
        bond_residual [m/s], bond_force_residual [N]:
            of bonds, in translation.
        bond_turn_residual [rad/s], bond_torque_residual [N·m]: of bonds, in rotation.
        bond_mismatch: gaps of bonds in directions in which nothing can close them, by name: [m]
            where the bodies meet, and [rad]. Residuals are of the other directions.
        pressure_shift: shift of a foot's centre of pressure by force_residual [mm], by foot.
        joint_residual: largest error of dry friction, ends of travel and top speeds of the joints
            [rad/s or m/s].
        penetration: deepest overlap when the step began [m].
        sole_residual: error of node positions of soft soles by these forces [mm].
        cone_violation [N], signorini [W], dissipation_gap [W]: largest, as in
            ``tabi.contact.Certificate``, per second.
        contacts, groups, iterations: of the last step. attempt: the one that solved it. order: of
            that step, 2 for second order without impacts or changes of mode.
        worst_residual, worst_joint_residual, worst_penetration: of the run.
        missed: number of steps of the run that did not converge. step_missed: whether this one
            did not.
        hardest: the two links that press hardest on each other, and their force [N]; None without
            contacts.
        step_errors: what the bounds of forces are computed from.

    Examples:
        >>> sim.step()
        >>> sim.certificate.converged
        True
    """

    residual: float
    tolerance: float
    converged: bool
    force_residual: float
    bond_residual: float
    bond_force_residual: float
    bond_turn_residual: float
    bond_torque_residual: float
    pressure_shift: dict[str, float]
    joint_residual: float
    penetration: float
    cone_violation: float
    signorini: float
    dissipation_gap: float
    contacts: int
    groups: int
    iterations: int
    attempt: str
    worst_residual: float
    worst_joint_residual: float
    worst_penetration: float
    missed: int
    step_missed: bool = False
    bond_mismatch: dict[str, tuple[float, float]] = field(default_factory=dict)
    sole_residual: float = 0.0
    hardest: tuple[str, str, float] | None = None
    order: int = 1
    step_errors: StepErrors | None = field(default=None, compare=False)

    judged = RenamedAttribute("step_errors")

    @cached_property
    def _bound(self) -> ErrorBound | None:
        return error_bound(self.step_errors) if self.step_errors else ErrorBound(0.0, {})

    @property
    def force_error_bound(self) -> float | None:
        """Bound of the error of the net contact force on any body [N]: see
        ``tabi.observation.error_bound``. None with too many pressing contacts.
        """
        return self._bound.force if self._bound else None

    @property
    def pressure_error_bound(self) -> dict[str, float] | None:
        """Bound of the error of the centre of pressure of each foot [mm], by foot."""
        return self._bound.pressure if self._bound else None

    def __str__(self) -> str:
        return certificate_text.text(self)

    def __repr__(self) -> str:
        return certificate_text.line(self)


# figures of bonds
BOND = (
    "bond_residual",
    "bond_force_residual",
    "bond_turn_residual",
    "bond_torque_residual",
)
# figures that are zero without contacts
NONE = ("residual", "force_residual", "penetration", "cone_violation", "signorini")


def of_last_step(data: Data) -> StepCertificate:
    """Return the certificate of a simulation's last step."""
    report, dt, tolerance = data.outcome.report[0], data.dt, data.tolerance
    joints, p = float(report["joint_residual"]), data.problem
    common: dict[str, Any] = {f"worst_{name}": value for name, value in data.worst.items()}
    common |= {"missed": data.missed_count, "tolerance": tolerance, "joint_residual": joints}
    common |= {"step_missed": bool(report["missed"] > 0), "hardest": hardest(data)}
    common["order"] = max(1, int(report["order"]))
    common["sole_residual"] = 1e3 * data.sole_error
    common["bond_mismatch"] = data.bond_mismatch
    if p is None:
        zeros: dict[str, Any] = dict.fromkeys((*NONE, "dissipation_gap", *BOND), 0.0)
        zeros |= dict.fromkeys(("contacts", "groups", "iterations"), 0)
        converged = joints <= tolerance
        return StepCertificate(
            converged=converged, pressure_shift={}, attempt="", **zeros, **common
        )
    impulse = data.impulse
    errors = judge(p, impulse)
    # contacts with their moments, bonds in translation, bonds in rotation, and joints that are
    # solved with the contacts
    bond, angular = np.isin(p.kind, (BILATERAL, BILATERAL_TWO)), p.contact["angular"] != 0
    joint = (p.kind == SOFT) | ((p.kind == LIMITED) & (p.contact["partner"] < 0))
    common["joint_residual"] = max(joints, float(errors.contacts[joint, 0].max(initial=0.0)))
    errors.contacts[:, 0] = np.maximum(
        errors.contacts[:, 0], avoidable_residual(p, data.bond_unmet)
    )
    of_bonds = [
        errors.contacts[bond & rows].max(axis=0, initial=0.0) * (1.0, 1.0 / dt, 0, 0, 0, 0)
        for rows in (~angular, angular)
    ]
    common |= zip(BOND, (float(x) for row in of_bonds for x in row[:2]), strict=True)
    return StepCertificate(
        residual=float(errors.contacts[:, 0].max(initial=0.0)),
        converged=bool((errors.contacts[:, 0] <= tolerance).all()) and joints <= tolerance,
        force_residual=float(errors.contacts[~bond & ~joint, 1].max(initial=0.0)) / dt,
        pressure_shift=_pressure_shift(data, p, impulse, errors.contacts[:, 1]),
        penetration=max(0.0, -float(report["gap"])),
        cone_violation=errors.cone_violation / dt,
        signorini=errors.signorini / dt,
        dissipation_gap=errors.dissipation_gap / dt,
        contacts=int(report["contacts"]),
        groups=int(report["groups"]),
        iterations=int(report["iterations"]),
        attempt=NAMES[int(report["attempt"])],
        step_errors=step_errors(data, p, impulse, errors.contacts[:, 0]),
        **common,
    )


def hardest(data: Data) -> tuple[str, str, float] | None:
    """Return the two links that press hardest on each other at a point, and their force [N]."""
    rows = data.contact
    if len(rows) == 0:
        return None
    row = rows[np.linalg.norm(rows["impulse"], axis=1).argmax()]
    a, b = (data.model.shapes[row[side]].link for side in ("shape_a", "shape_b"))
    return a, b, float(np.linalg.norm(row["impulse"]) / data.dt)


def _pressure_shift(data: Data, p: BodyProblem, impulse: Array, change: Array) -> dict[str, float]:
    """Return the shift of the centre of pressure of each foot by residual impulses [mm]."""
    shift = {}
    a, b = (data.problem_body[p.contact[side]] for side in ("a", "b"))
    for name, foot in data.model.feet.items():
        on_foot = (a == foot.body) | ((b == foot.body) & (p.contact["b"] >= 0))
        is_contact = on_foot & (p.kind == CONTACT)
        load = impulse[2::3][is_contact].sum()
        if load > 0:
            arm = np.linalg.norm(foot.polygon, axis=1).max()
            shift[name] = float(1e3 * change[is_contact].sum() * arm / load)
    return shift
