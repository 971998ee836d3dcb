"""What a step may cost: limits are kept, misses are honest and said, Ctrl-C ends a hard step."""

import json
import signal
import threading
import time
import warnings

import h5py
import numpy as np
import pytest

import tabi
from tabi.contact import budget as work
from tabi.jit.callback import Callback
from tabi.model.shape import Box
from tabi.step import budget, stepper
from tabi.step.budget import Budget

NO_WARNING = pytest.mark.filterwarnings("ignore::tabi.MissedStepWarning")


@pytest.fixture(autouse=True)
def bonds_are_left_to_the_law(monkeypatch):
    """As where a group has very many: eliminated, none of them would make a step hopeless."""
    monkeypatch.setattr(stepper, "MANY_ROWS", 0)


def torn(count=1, **settings):
    """Pairs of balls with a wall between them, and bonds that pull them into it: nothing solves
    their steps.
    """
    world = tabi.World()
    world.add_fixed(Box((0.1, 1000.0, 1.0)), friction=0.5)
    for k in range(count):
        for side in (-1, 1):
            place = (0.09 * side, 0.2 * k, 0)
            world.add_sphere(0.05, 1.0, friction=0.5, position=place, name=f"ball{side * (k + 1)}")
        world.add_bond("ball", f"ball{-k - 1}", f"ball{k + 1}", point=(0, 0.2 * k, 0))
    sim = tabi.Simulator(world, **settings)
    sim.set_state(beside_the_wall(sim), np.zeros(sim.model.v_count))
    return sim


def beside_the_wall(sim):
    """A configuration in which all balls touch the wall, and all bonds are stretched."""
    q = sim.model.initial()
    q[::7] = np.sign(q[::7]) * (0.1 + 1e-9)
    return q


def dominoes(seed=1, **settings):
    """A row of plates in violent motion: a first attempt does not solve all of its steps."""
    world = tabi.World()
    world.add_ground(friction=0.6)
    for k in range(8):
        world.add_box(
            (0.02, 0.1, 0.2), 0.3, friction=0.4, position=(0.021 * k, 0, 0.1), name=f"plate{k}"
        )
    sim = tabi.Simulator(world, **settings)
    v = 2.0 * np.random.default_rng(seed).normal(size=sim.model.v_count)
    sim.set_state(sim.model.initial(), v)
    return sim


@pytest.mark.parametrize("value", [0, -1, 2.5, 1e6, float("nan"), float("inf"), True, "1000"])
def test_a_budget_is_a_whole_number_above_zero(value):
    with pytest.raises(tabi.ModelError, match=r"budget is .*; expected a whole number"):
        tabi.Simulator(tabi.World(), budget=value)


@pytest.mark.parametrize("value", [0, -5.0, float("nan"), float("inf"), True, "10"])
def test_a_budget_of_time_is_a_positive_number(value):
    with pytest.raises(tabi.ModelError, match=r"budget of time is .*; expected a positive number"):
        Budget(microseconds=value)


@NO_WARNING
@pytest.mark.parametrize("most", [5_000, 50_000, budget.DEFAULT])
def test_a_hopeless_step_ends_at_its_budget(most):
    sim = torn(4, budget=most)
    sim.step()
    report = sim.data.outcome.report[0]
    # each of the four, and each of its two problems, may begin a first attempt all the same
    assert most <= report["work"] <= most + 8 * work.FIRST_STEPS * 100
    assert report["missed"] == 4
    assert sim.missed_count == 1


@NO_WARNING
def test_a_missed_step_reports_the_error_that_a_judge_finds():
    sim, seen = dominoes(4, budget=1), 0
    for _ in range(300):
        sim.step()
        report = sim.data.outcome.report[0]
        # where overlaps are left apart the certificate is of the first of two problems
        if report["missed"] and report["apart"] == 0:
            seen += 1
            assert sim.certificate.residual == pytest.approx(float(report["residual"]), rel=1e-6)
            assert sim.missed[-1] == (sim.time, report["residual"])
            assert report["residual"] > sim.tolerance
    assert seen > 0


@NO_WARNING
def test_a_budget_that_is_large_enough_changes_no_bit():
    free, limited, short = dominoes(budget=None), dominoes(), dominoes(budget=1)
    for _ in range(60):
        for sim in (free, limited, short):
            sim.step()
        assert free.data.outcome.report[0]["work"] < budget.DEFAULT
    assert free.state.q.tobytes() == limited.state.q.tobytes()
    assert free.state.q.tobytes() != short.state.q.tobytes()
    # and a small one is the same in every run
    again = dominoes(budget=1)
    again.run(0.06)
    assert again.state.q.tobytes() == short.state.q.tobytes()


def test_the_first_miss_is_said_once_with_the_two_bodies_that_press_hardest():
    sim = dominoes(seed=13, budget=1)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(300):
            sim.run(1e-3)
            if said:
                break
        (first,) = said
        rows = sim.data.contact
        hardest = rows[np.linalg.norm(rows["impulse"], axis=1).argmax()]
        names = [sim.model.shapes[hardest[side]].link for side in ("shape_a", "shape_b")]
        assert f"{names[0]} and {names[1]} press hardest" in str(first.message)
        assert f"{sim.time:g} s" in str(first.message)
        assert f"{sim.missed[0][1]:.2g} m/s" in str(first.message)
        assert "larger budget" in str(first.message)
        assert first.category is tabi.MissedStepWarning
        # of who called, not of tabi
        assert first.filename == __file__
        sim.rollout(400)
    assert sim.missed_count > 1
    assert len(said) == 1


@NO_WARNING
def test_ctrl_c_within_a_hard_step_leaves_the_state_before_it():
    # seconds, if nothing ends it
    sim = torn(200, budget=200_000_000)
    sim.set_state(beside_the_wall(sim), np.full(sim.model.v_count, 0.1))
    before, fired = sim.save(), []

    def press():
        fired.append(time.perf_counter())
        signal.raise_signal(signal.SIGINT)

    # compiled by now
    torn().step()
    # some runners of tests let their processes ignore interrupts
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Timer(0.2, press).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            sim.run(1e-3)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert time.perf_counter() - fired[0] < 0.5
    assert sim.data.steps == sim.missed_count == 0
    after = sim.save()
    assert after.data.q.tobytes() == before.data.q.tobytes()
    assert after.data.v.tobytes() == before.data.v.tobytes()
    assert after.data.memory.joint.tobytes() == before.data.memory.joint.tobytes()


@NO_WARNING
@pytest.mark.parametrize("scheme", ["time-stepping", "event-driven"])
def test_a_step_that_was_dropped_can_be_done_again_as_if_nothing_had_been(scheme):
    sim, other = (dominoes(budget=Budget(None), scheme=scheme) for _ in range(2))
    stepper, drop = sim._stepper, Callback(lambda: work.DROP)
    for k in range(20):
        if k in (1, 3, 13):
            # at the first question, which is asked at once
            stepper.tables.limits[1] = 1
            stepper.tables.limits[2] = drop.address
            with pytest.raises(KeyboardInterrupt):
                sim.step()
            stepper.tables.limits[:] = other._stepper.tables.limits
        sim.step()
        other.step()
        assert sim.state.q.tobytes() == other.state.q.tobytes()
    assert sim.data.steps == other.data.steps == 20
    assert sim.missed == other.missed


@NO_WARNING
def test_a_budget_of_time_ends_a_hard_step_and_marks_the_run(tmp_path):
    sim = torn(100, budget=Budget(None, microseconds=5e3))
    sim.step()
    spent = []
    for _ in range(5):
        sim.set_state(beside_the_wall(sim), np.zeros(sim.model.v_count))
        start = time.perf_counter()
        sim.step()
        spent.append(time.perf_counter() - start)
    # without it a step takes seconds
    assert min(spent) < 0.2
    assert not sim.reproducible
    assert sim.missed_count == 6
    assert torn().reproducible
    for name, one in (("timed", sim), ("counted", torn())):
        with one.record(tmp_path / f"{name}.hdf5"):
            one.step()
        with h5py.File(tmp_path / f"{name}.hdf5") as file:
            assert json.loads(file["meta"][()])["reproducible"] == (name == "counted")


@NO_WARNING
def test_the_rescue_that_helped_is_part_of_the_moment():
    sim = dominoes()
    while sim.data.memory.last_rescue[0] == 0:
        sim.step()
        assert sim.time < 1.0
    helped, saved = int(sim.data.memory.last_rescue[0]), sim.save()
    sim.set_state(sim.model.initial(), np.zeros(sim.model.v_count))
    assert sim.data.memory.last_rescue[0] == 0
    sim.restore(saved)
    assert sim.data.memory.last_rescue[0] == helped
