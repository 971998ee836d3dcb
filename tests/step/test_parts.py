"""The step is open: a force, a kind of rows and a law from outside, and what is refused."""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from simulation.toys import NAIL, air, nails, slippery

import tabi
from tabi.jit import kernel
from tabi.model.arrays import table
from tabi.step import parts
from tabi.step.laws import coulomb
from tabi.step.step import FORCES, LIMITS, ROWS, step_on

G = 9.81
MASS = 2.0


def world_of_boxes(*positions, friction=0.5):
    world = tabi.World()
    world.add_ground(friction=friction)
    for k, position in enumerate(positions):
        world.add_box((0.2, 0.2, 0.2), MASS, position=position, friction=friction, name=f"box{k}")
    return world


def simulator(*positions):
    """With all three toys, so that one step is compiled for all tests."""
    world = world_of_boxes(*positions)
    return tabi.Simulator(world, contact=slippery, forces=[air], rows=[nails])


def test_a_force_of_ones_own_brakes_by_its_closed_form():
    sim = simulator((0, 0, 3.0))
    sim._stepper.part_memory("air")[0] = c = 4.0
    v = np.zeros(6)
    v[0] = 1.0
    sim.set_state(sim.state.q, v)
    for _ in range(100):
        sim.step()
    # (m + h c) v⁺ = m v
    assert sim.state.v[0] == pytest.approx((MASS / (MASS + sim.dt * c)) ** 100, rel=1e-12)


def test_a_kind_of_rows_of_ones_own_holds_and_bears_the_weight():
    sim = simulator((0, 0, 3.0))
    nail = table(1, NAIL)
    nail["body"], nail["point"], nail["place"] = 1, (0.1, 0, 0), (0.1, 0, 3.0)
    sim._stepper.set_part_memory("nails", nail)
    sim._stepper.part_memory("air")[0] = 0.5
    sim.run(4.0)
    # it hangs below its nail, at rest, and the nail bears it
    assert np.allclose(sim.pose("box0") @ (0.1, 0, 0), (0.1, 0, 3.0), atol=1e-6)
    assert sim.position("box0")[2] == pytest.approx(2.9, abs=1e-3)
    (row,) = sim.data.of_kind(3)
    assert row["impulse"][2] / sim.dt == pytest.approx(MASS * G, rel=1e-3)
    # what is bonded is certified as bonds are
    assert sim.certificate.bond_residual <= 1e-8


def test_its_rows_meet_contacts_in_one_problem():
    # nailed at its side while it lies on the ground: both bear a part
    sim = simulator((0, 0, 0.1))
    nail = table(1, NAIL)
    nail["body"], nail["point"], nail["place"] = 1, (0.1, 0, 0), (0.1, 0, 0.1)
    sim._stepper.set_part_memory("nails", nail)
    sim.run(0.1)
    (row,) = sim.data.of_kind(3)
    total = row["impulse"][2] + sim.data.contact["impulse"][:, 2].sum()
    assert total / sim.dt == pytest.approx(MASS * G, rel=1e-6)
    assert sim.certificate.groups == 1


def test_a_law_of_ones_own_decides_how_a_box_brakes():
    sim = simulator((0, 0, 0.1))
    v = np.zeros(6)
    v[0] = 1.0
    sim.set_state(sim.state.q, v)
    sim.run(0.5)
    # a tenth of the friction
    assert sim.state.v[0] == pytest.approx(1.0 - 0.05 * G * 0.5, rel=1e-6)
    assert sim.missed_count == 0


def test_what_parts_remember_is_saved_and_restored():
    sim = simulator((0, 0, 3.0))
    sim._stepper.part_memory("air")[0] = 4.0
    saved = sim.save()
    sim.run(0.05)
    first = sim.state
    sim._stepper.part_memory("air")[0] = 0.0
    sim.restore(saved)
    sim.run(0.05)
    assert np.array_equal(first.v, sim.state.v)
    other = tabi.Simulator(world_of_boxes((0, 0, 3.0)))
    with pytest.raises(tabi.ModelError, match="with other forces, rows or law"):
        other.restore(saved)


def without(part, name):
    return SimpleNamespace(**{key: x for key, x in vars(part).items() if key != name})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"forces": [without(air, "judge")]},
            "force 'air' has no 'judge'; expected 'load', 'judge'",
        ),
        ({"rows": [without(nails, "fill")]}, "kind of rows 'nails' has no 'fill'"),
        ({"contact": without(slippery, "solve")}, "law of contact 'slippery' has no 'solve'"),
        (
            {"contact": SimpleNamespace(NAME="odd")},
            "has no 'allocate', 'prepare', 'solve', 'CERTIFIED'",
        ),
        ({"forces": [air, air]}, "force 'air' is there twice; give one of them another NAME"),
        ({"rows": [SimpleNamespace(**vars(nails) | {"NAME": "bonds"})]}, "'bonds' is there twice"),
        ({"contact": 7}, "law of contact 'int' has no"),
    ],
)
def test_a_part_that_lacks_something_or_a_name_used_twice_is_refused(arguments, words):
    with pytest.raises(tabi.ModelError, match=words):
        tabi.Simulator(world_of_boxes((0, 0, 1.0)), **arguments)


def test_the_parts_of_every_step_have_all_that_is_needed():
    parts.check((*FORCES, *LIMITS), ROWS, coulomb)
    names = [parts.name_of(part) for part in step_on(coulomb).parts]
    assert names == [
        *("motors", "external", "feet", "sensors", "joint_limits"),
        *("contacts", "moments", "bonds", "joints", "coulomb"),
    ]


def test_steps_of_the_same_kernels_are_compiled_once():
    assert step_on(coulomb).rollout is step_on(coulomb).rollout


def test_a_nan_among_the_errors_wins_and_stays():
    nan = float("nan")
    assert parts.worse(1.0, 2.0) == parts.worse(2.0, 1.0) == 2.0
    assert np.isnan([parts.worse(nan, 1.0), parts.worse(1.0, nan)]).all()
    # in whatever order parts are judged
    for errors in ((nan, 0.0, 1.0), (0.0, nan, 1.0), (1.0, 0.0, nan)):
        judge = parts.judge_all([judge_of(error) for error in errors], 0)
        wrong, worst = judge(None, own_of(3))
        assert wrong == 3
        assert np.isnan(worst)


def judge_of(error):
    """A part that is wrong once, by so much."""

    @kernel(inline=True)
    def judge(own, t, d):
        return 1, error

    return judge


class Remembered(NamedTuple):
    parts: tuple


class Held(NamedTuple):
    memory: Remembered


def own_of(count):
    return Held(Remembered(tuple(np.zeros(0) for _ in range(count))))
