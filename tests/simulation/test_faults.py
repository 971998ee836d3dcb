"""What is said of a step that missed, whatever it missed."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from simulation.soft import block

import tabi
from tabi.simulation import faults
from tabi.step.laws import coulomb


def seen(residual, joints, law=coulomb):
    report = {"residual": residual, "joint_residual": joints, "work": 10}
    return SimpleNamespace(
        outcome=SimpleNamespace(report=[report]),
        contact=np.zeros(0),
        tables=SimpleNamespace(limits=np.array([100])),
        reproducible=True,
        tolerance=1e-8,
        time=0.5,
        dt=1e-3,
        law=law,
    )


def test_the_error_is_the_larger_one_of_contacts_and_joints_and_a_nan_stays():
    assert faults.error_of(seen(1e-3, 2e-3)) == 2e-3
    assert faults.error_of(seen(3e-3, 2e-3)) == 3e-3
    assert np.isnan([faults.error_of(seen(np.nan, 1.0)), faults.error_of(seen(1.0, np.nan))]).all()


def test_a_miss_without_contacts_or_with_work_left_blames_neither():
    with pytest.warns(tabi.MissedStepWarning, match=r"to 0.5 s .*without contacts") as said:
        faults.warn_not_converged(seen(0.0, 1e-3))
    assert "budget" not in str(said[0].message)
    assert "0.001 m/s" in str(said[0].message)


def test_a_start_inside_of_something_is_said_once_with_the_two_bodies_and_the_depth():
    world = tabi.World()
    world.add_ground()
    world.add_box((0.1, 0.1, 0.1), 1.0, position=(0, 0, 0.048), name="crate")
    sim = tabi.Simulator(world)
    with pytest.warns(tabi.OverlapWarning, match=r"crate and world start 2 mm inside") as said:
        sim.run(0.1)
    assert len(said) == 1
    assert said[0].filename == __file__
    # 0.5 m/s take it out in 4 ms
    assert sim.position("crate")[2] == pytest.approx(0.05, abs=1e-8)


def test_what_rests_or_falls_starts_without_a_word():
    for height in (0.05, 0.2):
        world = tabi.World()
        world.add_ground()
        world.add_box((0.1, 0.1, 0.1), 1.0, position=(0, 0, height))
        sim = tabi.Simulator(world)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sim.run(0.3)
        assert sim.missed_count == 0


def test_laws_of_their_own_say_why_they_missed():
    for contact, why in (
        ("selection", "every state of the feet"),
        ("pyramid", "Lemke's algorithm"),
    ):
        law = SimpleNamespace(NAME=contact, CERTIFIED=False, MISSED=f"{why} failed")
        with pytest.warns(faults.MissedStepWarning) as told:
            faults.warn_not_converged(seen(0.0, 0.0, law))
        words = str(told[0].message)
        assert words.startswith(f"the step to 0.5 s did not converge with contact='{contact}'")
        assert f"{why} failed" in words


def test_a_sole_that_is_pressed_in_too_far_is_said_once():
    world, _ = block(young_modulus=2e4, viscosity=0.01)
    sim = tabi.Simulator(world)
    sim.apply_force("box", (0, 0, -60.0), duration=1.0)
    with pytest.warns(faults.SinkWarning, match=r"more than 20% of its thickness of 10 mm"):
        sim.run(0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.run(0.1)
    assert sim.pads["pad of box"].sink > 0.2 * 0.01
    firm, _ = block(viscosity=0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tabi.Simulator(firm).run(0.1)
