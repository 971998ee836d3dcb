"""What a recording tells of soft soles and pads is what the simulator said."""

import h5py
import numpy as np
import pytest
from simulation.soft import G, block

import tabi
from tabi.recording.recorded import RecordingError, read

NAME = "pad of box"


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A recording of a box that lands on its pad, and what the simulator said meanwhile."""
    world, box = block(viscosity=0.004, poisson_ratio=0.4, above=0.003)
    sim, live = tabi.Simulator(world), []
    path = tmp_path_factory.mktemp("soft") / "run.hdf5"

    def take(data):
        live.append((sim.pads[NAME], sum(c.force[2] for c in sim.contacts)))

    sim.apply_force(box, (0, 0, -5.0), duration=2.0, point=(0.03, 0, 0))
    with sim.record(path, rate=250):
        sim.every(4, take)
        sim.run(0.6)
    return path, live, box.inertia.mass * G + 5.0


def test_a_recorded_pressure_is_the_live_one(told):
    path, live, _ = told
    pad = read(path).pads[NAME]
    assert len(pad.displacement) == len(live) + 1
    for k, (state, _) in enumerate(live, 1):
        # numbers have seven digits, and small ones are differences of large ones
        near = 1e-6 * abs(state.pressure).max() + 1e-9
        assert pad.pressure[k] == pytest.approx(state.pressure, abs=near)
        assert pad.displacement[k] == pytest.approx(state.displacement, abs=1e-10)
        assert pad.sink[k] == pytest.approx(state.sink, abs=1e-9)
        assert pad.tilt[k] == pytest.approx(state.tilt, abs=1e-6)
    assert max(state.sink for state, _ in live) > 1e-5


def test_pressures_times_areas_are_the_force_of_the_contacts(told):
    path, live, load = told
    run = read(path)
    pad = run.pads[NAME]
    carried = (pad.pressure * pad.areas).sum(axis=1)
    assert carried == pytest.approx(pad.force[:, :, 2].sum(axis=1), rel=1e-12, abs=1e-12)
    # along the world's z, as the box stands; its forces are those of the step before,
    # in which it turns by less than 2 mrad
    R = run.motion().rotation[pad.body] @ pad.rotation
    up = (R @ pad.force.sum(axis=1)[:, :, None])[1:, 2, 0]
    assert up == pytest.approx(np.array([force for _, force in live]), rel=2e-3, abs=1e-3)
    # at rest: weight of box and pad, and the push
    assert carried[-1] == pytest.approx(load, rel=1e-3)
    # it lands beside the middle, where the push is
    at = pad.rotation[0, :2] @ pad.centre_of_pressure[-1]
    assert at == pytest.approx(0.15 / load, rel=0.01)


def test_a_pad_says_where_it_sits_and_what_is_drawn_of_it_at_rest(told):
    run = read(told[0])
    pad = run.pads[NAME]
    piece = run.look.pieces[pad.piece]
    assert piece.body == pad.body == 1
    skin = pad.skin @ pad.rotation.T + pad.position
    assert piece.vertices.min(axis=0) == pytest.approx(skin.min(axis=0), abs=1e-6)
    assert piece.vertices.max(axis=0) == pytest.approx(skin.max(axis=0), abs=1e-6)
    assert np.allclose(pad.skin[: len(pad.nodes)], pad.nodes)
    # the box itself is another piece
    assert len(run.look.pieces) == 2


def test_a_world_without_pads_has_nothing_of_them(tmp_path):
    world = tabi.World()
    world.add_ground()
    world.add_box((0.1, 0.1, 0.1), 1.0, position=(0, 0, 0.05))
    sim = tabi.Simulator(world)
    with sim.record(tmp_path / "run.hdf5"):
        sim.run(0.01)
    with h5py.File(tmp_path / "run.hdf5") as file:
        assert "pads" not in file
        assert "look" in file
    assert read(tmp_path / "run.hdf5").pads == {}


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("triangles", 10_000, "corner that is not there"),
        ("skin_triangles", -1, "corner that is not there"),
        ("place", 99, "no body of the world"),
        ("rotation", 7.0, "frame of a pad"),
        ("force", np.nan, "finite numbers"),
        ("nodes", 0.0, "no part of its face"),
    ],
)
def test_a_broken_pad_is_refused_in_a_sentence(told, tmp_path, part, value, said):
    path = tmp_path / "broken.hdf5"
    path.write_bytes(told[0].read_bytes())
    with h5py.File(path, "r+") as file:
        file[f"pads/0/{part}"][...] = value
    with pytest.raises(RecordingError, match=said):
        read(path)


def test_rows_that_a_pad_has_not_are_not_read(told, tmp_path):
    path = tmp_path / "cut.hdf5"
    path.write_bytes(told[0].read_bytes())
    with h5py.File(path, "r+") as file:
        file["pads/0/force"].resize(20, axis=0)
    run = read(path)
    assert len(run.time) == len(run.pads[NAME].displacement) == 20
