"""The printed certificate: a sentence first, then figures with units; and its short form."""

from math import inf, nan

import pytest
from bipeds import hrp2_on_ground

import tabi
from tabi.observation import certificate, certificate_text
from tabi.observation.certificate import StepCertificate

FIGURES = dict.fromkeys(
    (*certificate.NONE, "dissipation_gap", *certificate.BOND, "joint_residual", "worst_residual"),
    0.0,
)
COUNTS = {"contacts": 8, "groups": 1, "iterations": 3, "missed": 0}


def made(**given):
    """A certificate of these figures, the others zero, tolerance 1e-8."""
    rest = {"worst_joint_residual": 0.0, "worst_penetration": 0.0, "attempt": "warm newton"}
    rest |= {"tolerance": 1e-8, "converged": True, "pressure_shift": {}}
    return StepCertificate(**(FIGURES | COUNTS | rest | given))


def rows(c):
    """Words of each line of the table by its first one."""
    return {line.split()[0]: line.split()[1:] for line in str(c).splitlines()[1:]}


def standing():
    world, _ = hrp2_on_ground()
    sim = tabi.Simulator(world)
    sim.run(0.05)
    return sim


def test_a_solved_step_says_how_well_forces_and_centres_of_pressure_are_known():
    c = standing().certificate
    first, *table = str(c).splitlines()
    assert first.startswith("Contacts solved: 8 in 1 group, backward error ")
    assert (
        f"(tolerance 1e-8); forces known to {certificate_text.short_number(c.force_error_bound)} N"
        in first
    )
    feet = certificate_text.short_number(max(c.pressure_error_bound.values()))
    assert first.endswith(f", centres of pressure to {feet} mm.")
    # one column of numbers: units begin at the same place
    assert (
        len({line.index(unit) for line, unit in zip(table[:3], ("m/s", "N ", "mm"), strict=True)})
        == 1
    )
    found = rows(c)
    assert found["force_error_bound"][:2] == [
        certificate_text.short_number(c.force_error_bound),
        "N",
    ]
    assert found["pressure_error_bound"][:2] == [feet, "mm"]
    assert found["residual"][:2] == [certificate_text.short_number(c.residual), "m/s"]
    assert found["missed"][:2] == ["0", "steps"]


def test_a_miss_says_by_how_much_who_presses_hardest_and_how_many_missed():
    c = made(
        converged=False,
        step_missed=True,
        residual=2.5e-3,
        hardest=("box", "wall", 570.25),
        missed=3,
    )
    assert str(c).splitlines()[0] == (
        "NOT CONVERGED: 8 contacts in 1 group, backward error 2.5e-3 m/s (2.5e5 times the "
        "tolerance 1e-8); box and wall press hardest (570 N). 3 steps of the run did not converge."
    )


def test_a_miss_of_the_joints_alone_does_not_blame_the_contacts():
    c = made(converged=False, step_missed=True, joint_residual=2.0, missed=1, contacts=1)
    assert (
        str(c).splitlines()[0]
        == "NOT CONVERGED: joints off by 2 rad/s. One step of the run did not converge."
    )
    flying = made(converged=False, step_missed=True, joint_residual=2.0, contacts=0, groups=0)
    assert str(flying).splitlines()[0] == "Nothing touches, NOT CONVERGED: joints off by 2 rad/s."


def test_a_step_of_another_law_is_not_called_missed():
    c = made(converged=False, residual=1e-3)
    assert str(c).startswith("Another law than the exact one: 8 contacts in 1 group, ")
    assert "not exact" in repr(c)


def test_a_nan_is_seen():
    c = made(converged=False, step_missed=True, residual=nan)
    assert "backward error nan m/s (nan times the tolerance 1e-8)" in str(c)
    assert "residual=nan" in repr(c)


def test_flight_is_a_short_sentence_and_bonds_and_joints_are_told_where_there_are_some():
    c = made(contacts=0, groups=0)
    assert str(c).splitlines()[0] == "Nothing touches."
    assert not [name for name in rows(c) if name.startswith(("bond", "joint", "worst_joint"))]
    bonded = rows(made(bond_torque_residual=0.5, joint_residual=1e-9))
    assert bonded["bond_torque_residual"][:2] == ["0.5", "N·m"]
    assert bonded["joint_residual"][:2] == ["1e-9", "rad/s"]
    assert "bond_residual" not in bonded


def test_the_short_form_is_one_line():
    assert repr(made(residual=6.95e-9)) == (
        "StepCertificate(converged, contacts=8, residual=7e-09, tolerance=1e-08, missed=0)"
    )
    assert "(not converged, " in repr(made(converged=False, step_missed=True))


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (0.0, "0"),
        (12.34, "12.3"),
        (0.01, "0.01"),
        (999.0, "999"),
        (999.6, "1e3"),
        (12345.0, "1.2e4"),
        (2.94e-9, "2.9e-9"),
        (1e-8, "1e-8"),
        (-3.3e-5, "-3.3e-5"),
        (nan, "nan"),
        (inf, "inf"),
    ],
)
def test_numbers_are_short(number, written):
    assert certificate_text.short_number(number) == written
