"""Scratch is scratch: nothing is read in it that was not written in the same step."""

import subprocess
import sys

import numpy as np
import pytest

import tabi
from tabi import scenes
from tabi.lab.validate.random_worlds import random_velocity, random_world
from tabi.step import workspace


def arrays_of(x):
    """All arrays in tuples in tuples."""
    if not isinstance(x, np.ndarray):
        return [array for part in x for array in arrays_of(part)]
    return [x]


def spoil(array, rng):
    """Write nonsense: numbers that spread, or places that exist and are wrong."""
    if array.dtype.names:
        for name in array.dtype.names:
            spoil(array[name], rng)
    elif array.dtype.kind == "f":
        array[...] = np.nan
    else:
        array[...] = rng.integers(0, 2, array.shape)


def thrown(seed):
    world = random_world(seed)
    sim = tabi.Simulator(world)
    sim.set_state(sim.state.q, random_velocity(world, seed))
    return sim


WORLDS = {
    "linkage": lambda: scenes.load("linkage").simulator(),
    "cart": lambda: scenes.load("cart").simulator(),
    "conveyor": lambda: scenes.load("conveyor").simulator(),
    "stairs": lambda: scenes.load("stairs").simulator(),
    "cradle": lambda: scenes.load("cradle").simulator(),
    # bowls and stairs, trees on springs, polytopes
    **{f"random world {seed}": (lambda seed=seed: thrown(seed)) for seed in (0, 1, 2)},
}


@pytest.mark.parametrize("name", WORLDS)
def test_a_spoilt_workspace_changes_nothing_once_it_is_prepared(name):
    rng, plain, spoilt = np.random.default_rng(5), WORLDS[name](), WORLDS[name]()
    # structure is shared, and is not scratch
    kept = {id(array) for array in arrays_of(spoilt._stepper.tables)}
    for _ in range(40):
        plain.step()
        # its kinematics are recomputed too, so that both round alike
        plain._stepper.prepare()
        for array in arrays_of(spoilt._stepper.workspace):
            if id(array) not in kept:
                spoil(array, rng)
        spoilt._stepper.prepare()
        spoilt.step()
        assert plain.state.q.tobytes() == spoilt.state.q.tobytes()
        assert plain.state.v.tobytes() == spoilt.state.v.tobytes()
        assert plain.data.impulse.tobytes() == spoilt.data.impulse.tobytes()


def test_every_array_is_said_by_which_stage_it_is_computed():
    words = workspace.StepWorkspace.__doc__
    assert {"dynamics", "collision", "problem"} < set(workspace.StepWorkspace._fields)
    for name in workspace.StepWorkspace._fields:
        assert f"{name}:" in words or f"{name}, " in words, name


def test_no_step_writes_structure_or_parameters():
    sim = scenes.load("cart").simulator()
    before = [array.tobytes() for array in arrays_of(sim._stepper.tables)]
    for _ in range(20):
        sim.step()
    assert [array.tobytes() for array in arrays_of(sim._stepper.tables)] == before


# in processes of their own: what reads outside of its arrays may end them
CROWDED = """
import tabi
world = tabi.World()
for k in range(20):
    world.add_sphere(0.1, 1.0, position=(0.01 * k, 0, 1), name=f"ball{k}")
sim = tabi.Simulator(world)
points = sim._stepper.workspace.points
# as rows of bonds and joints are, whose numbers have nothing to do with shapes
points["shape_a"], points["shape_b"] = 10**15, 10**15
sim.step()
# more pairs of shapes than there was memory for, so that none was asked
assert len(sim._stepper.workspace.points) > len(points)
print(sim.data.steps)
"""
ABSURD = """
import tabi, numpy as np
world = tabi.World()
world.add_ground()
robot = world.add_robot(tabi.robots.hrp2())
robot.stand_on_ground()
sim = tabi.Simulator(world)
# joints first, so that some of them are at their ends and held as rows among the contacts
for size in (10.0, 1e2, 1e4, 3e8, 9e8):
    v = size * np.random.default_rng(3).uniform(-1, 1, sim.model.v_count)
    sim.set_state(sim.state.q, v)
    try:
        for _ in range(5):
            sim.step()
    except tabi.SimulationError as error:
        print(error)
"""


def said(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout


@pytest.mark.process
def test_rows_of_an_earlier_step_are_not_taken_for_contacts_where_memory_is_short():
    assert said(CROWDED).split() == ["1"]


@pytest.mark.process
def test_absurd_velocities_of_a_humanoid_end_in_a_sentence():
    lines = said(ABSURD).splitlines()
    assert lines
    assert all("velocities are not finite or implausible" in line for line in lines)
