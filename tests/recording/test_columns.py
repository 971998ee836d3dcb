"""Columns of a recording: those that count the same things are equally long."""

import h5py
import pytest
from bipeds import hrp2_on_ground

import tabi
from tabi.recording.columns import group_of


@pytest.mark.slow
def test_columns_of_a_group_are_equally_long(tmp_path):
    world, _ = hrp2_on_ground()
    sim = tabi.Simulator(world)
    with sim.record(tmp_path / "run.h5", rate=500):
        sim.run(0.04)
        sim.reset()
        sim.run(0.02)
    lengths: dict[str, set[int]] = {}

    def look(name, found):
        if isinstance(found, h5py.Dataset) and found.maxshape[:1] == (None,):
            lengths.setdefault(group_of(name), set()).add(len(found))

    with h5py.File(tmp_path / "run.h5") as file:
        file.visititems(look)
        contacts = int(file["contacts/count"][:].sum())
    assert lengths[""] == {21 + 11}
    assert lengths["contacts/"] == {contacts}
    assert lengths["episodes/"] == {2}
    assert len(lengths["judged/"]) == len(lengths["feet/events/"]) == 1


@pytest.mark.parametrize(
    ("name", "group"),
    [("contacts/count", ""), ("contacts/gap", "contacts/"), ("feet/wrench", ""), ("q", "")],
)
def test_what_a_column_counts_follows_from_its_name(name, group):
    assert group_of(name) == group
