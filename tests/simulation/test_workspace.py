"""Scratch is scratch: nothing is read in it that was not written in the same step."""

import numpy as np
import pytest

import tabi
from tabi import scenes
from tabi.simulation import workspace
from tabi.validation.random_worlds import random_velocity, random_world


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
    for name in workspace.StepWorkspace._fields:
        assert f"{name}:" in words or f"{name}, " in words, name


def test_no_step_writes_structure_or_parameters():
    sim = scenes.load("cart").simulator()
    before = [array.tobytes() for array in arrays_of(sim._stepper.tables)]
    for _ in range(20):
        sim.step()
    assert [array.tobytes() for array in arrays_of(sim._stepper.tables)] == before
