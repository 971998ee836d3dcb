"""Old names of columns and fields of ``sim.data`` work, and print the new ones."""

import pytest

import tabi
from tabi import _renamed
from tabi.step import parts


def test_columns_and_fields_have_their_old_names(monkeypatch):
    monkeypatch.setattr(_renamed, "_reported", set())
    world = tabi.World()
    world.add_box((0.1, 0.1, 0.1), 1.0)
    memory = tabi.Simulator(world).data.memory
    with pytest.warns(FutureWarning, match="told in the table of sensors is now called reading"):
        assert len(memory.sensors.value["told"]) == len(memory.sensors.value["reading"])
    with pytest.warns(FutureWarning, match="joined in Memory is now called joint_backoff"):
        assert memory.joined is memory.joint_backoff
    with pytest.warns(FutureWarning, match="right in tabi.step.parts is now called"):
        assert parts.right is parts.no_judge
    with pytest.raises(ValueError, match="no field"):
        memory.sensors.value["tell"]
