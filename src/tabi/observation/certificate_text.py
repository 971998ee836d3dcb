"""A step's certificate to be read: one sentence, then a table of its figures."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

# attribute, unit, and what it is; those of bonds and joints only where there is something to say
ROWS = (
    ("residual", "m/s", "backward error: velocities of contacts and bonds are off by so much"),
    ("force_error_bound", "N", "the net force on a body is off by no more"),
    ("pressure_error_bound", "mm", "a foot's centre of pressure is off by no more"),
    ("force_residual", "N", "change of one point's force that would make that point exact"),
    ("pressure_shift", "mm", "what these changes could do to a foot's centre of pressure"),
    ("cone_violation", "N", "force outside of the friction cone"),
    ("signorini", "W", "normal force times opening speed; exact is 0"),
    ("dissipation_gap", "W", "power that friction should have taken and did not"),
    ("penetration", "m", "deepest overlap when the step began"),
    ("sole_residual", "mm", "soft soles: nodes are off by so much from where forces put them"),
    ("bond_residual", "m/s", "bonds: how fast what is held together comes apart"),
    ("bond_force_residual", "N", "bonds: change of a force that would make it exact"),
    ("bond_turn_residual", "rad/s", "bonds: how fast what is held turns"),
    ("bond_torque_residual", "N·m", "bonds: change of a torque that would make it exact"),
    (
        "joint_residual",
        "rad/s",
        "dry friction, ends of travel, top speeds of joints (m/s: sliding)",
    ),
    ("worst_residual", "m/s", "backward error of the worst step of the run"),
    ("worst_joint_residual", "rad/s", "joints in the worst step of the run"),
    ("worst_penetration", "m", "deepest overlap of the run"),
    ("iterations", "", "of the solver"),
    ("order", "", "of the last step: contacts are those of its end, forces of its middle"),
    ("missed", "steps", "of the run that did not converge"),
)
FIRST = ("order", 1)
OPTIONAL = ("sole_", "bond_", "joint_", "worst_joint_")


def text(c: Any) -> str:
    """Return the sentence and the table of a ``StepCertificate``."""
    figures = [(*row, value) for row in ROWS for value in _values(c, row[0])]
    rows = [(name, value, unit, meaning) for name, unit, meaning, value in figures]
    wide = [max(len(row[i]) for row in rows) for i in range(3)]
    lines = [
        f"  {name:<{wide[0]}}  {value:>{wide[1]}} {unit:<{wide[2]}}  {meaning}"
        for name, value, unit, meaning in rows
    ]
    return "\n".join([sentence(c), *lines])


def sentence(c: Any) -> str:
    """Return a sentence: converged or not, errors, accuracy of forces, and counts of the run."""
    joints = (
        ""
        if c.joint_residual <= c.tolerance
        else f"joints off by {short_number(c.joint_residual)} rad/s"
    )
    if not c.contacts and not c.groups:
        outcome = "Nothing touches" + (f", NOT CONVERGED: {joints}" if joints else "")
    elif c.converged:
        known = f"; {_accuracy(c)}" if c.force_error_bound is not None else ""
        outcome = f"Contacts solved: {_size(c)}, {_error(c)}{known}"
    else:
        missed = "NOT CONVERGED" if c.step_missed else "Another law than the exact one"
        reasons = [] if c.residual <= c.tolerance else [f"{_size(c)}, {_error(c)}"]
        reasons += [joints] if joints else []
        reasons += [_hardest(c)] if c.hardest else []
        outcome = f"{missed}: {'; '.join(reasons)}"
    missed_steps = f" {c.missed:,} steps of the run did not converge." if c.missed > 1 else ""
    missed_steps = " One step of the run did not converge." if c.missed == 1 else missed_steps
    return f"{outcome}.{missed_steps}{_mismatch(c)}"


def _mismatch(c: Any) -> str:
    """Return a sentence on the number of open bonds, and on the worst one."""
    if not c.bond_mismatch:
        return ""
    name, (apart, angle) = max(c.bond_mismatch.items(), key=lambda item: max(item[1]))
    size = (
        f"{short_number(1e3 * apart)} mm" if apart >= angle else f"{short_number(1e3 * angle)} mrad"
    )
    count = len(c.bond_mismatch)
    bonds = "1 bond that" if count == 1 else f"{count} bonds that"
    return f" {bonds} cannot be met; {name} is open by {size}."


def line(c: Any) -> str:
    """A short form for lists and debuggers."""
    state = "converged" if c.converged else "not converged" if c.step_missed else "not exact"
    return (
        f"StepCertificate({state}, contacts={c.contacts}, residual={c.residual:.2g}, "
        f"tolerance={c.tolerance:g}, missed={c.missed})"
    )


def short_number(x: float) -> str:
    """Return a number in few characters, such as 0, 12.3 or 2.9e-9."""
    if x == 0 or not isfinite(x) or 0.01 <= abs(x) < 999.5:
        return f"{x:.3g}"
    mantissa, _, power = f"{x:.1e}".partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(power)}"


def _size(c: Any) -> str:
    points = (
        f"{c.contacts} contact{'s' if c.contacts != 1 else ''}" if not c.converged else c.contacts
    )
    return f"{points} in {c.groups} group{'s' if c.groups != 1 else ''}"


def _error(c: Any) -> str:
    times = c.residual / c.tolerance
    relation = f"{short_number(times)} times the tolerance" if not times <= 1 else "tolerance"
    return f"backward error {short_number(c.residual)} m/s ({relation} {short_number(c.tolerance)})"


def _accuracy(c: Any) -> str:
    """Return the accuracy of forces and centres of pressure as text."""
    accuracy = f"forces known to {short_number(c.force_error_bound)} N"
    feet = c.pressure_error_bound
    return accuracy + (
        f", centres of pressure to {short_number(max(feet.values()))} mm" if feet else ""
    )


def _hardest(c: Any) -> str:
    a, b, force = c.hardest
    return f"{a} and {b} press hardest ({short_number(force)} N)"


def _values(c: Any, name: str) -> Iterator[str]:
    """Yield the figure of a name as text; several where there is one for each foot."""
    value = getattr(c, name)
    if value is None or (name.startswith(OPTIONAL) and value == 0) or (name, value) == FIRST:
        return
    if isinstance(value, dict):
        yield from [short_number(max(value.values()))] if value else []
    else:
        yield f"{value:,}" if isinstance(value, int) else short_number(value)
