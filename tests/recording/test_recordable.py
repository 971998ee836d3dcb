"""What a recording needs of a simulator, and what versions say that a run depends on."""

import numpy as np

import tabi
from tabi.recording.recordable import Recordable, versions


def test_a_simulator_is_recordable():
    world = tabi.World()
    world.add_box((0.1, 0.1, 0.1), 1.0)
    sim = tabi.Simulator(world)
    needed = [name for name in vars(Recordable) if not name.startswith("_")]
    assert {"dt", "tolerance", "certificate", "every"} <= set(needed)
    for name in (*needed, "world", "model", "data"):
        assert hasattr(sim, name), name


def test_versions_are_those_that_run():
    found = versions()["versions"]
    assert (found["tabi"], found["numpy"]) == (tabi.__version__, np.__version__)
