"""Feet in recordings: what the simulator says of them, with every change, and older files."""

import shutil

import h5py
import numpy as np
import pytest
from plates import MASS, THICK, G, on_plane, plate_world

import tabi
from tabi.recording import foot_words, tracks
from tabi.recording.recorded import RecordingError, read


def hopping(path, rate=None):
    """A plate that falls, is lifted for 3 ms, and is pushed until it slides; what it looked like
    after every step.
    """
    sim, robot = on_plane("coulomb", height=2e-3)
    plate, seen = robot.body("plate"), []
    sim.apply_force(plate, (0, 0, 2 * MASS * G), 3e-3, at=0.05)
    sim.apply_force(plate, (MASS * G, 0, 0), 0.02, at=0.1)
    with sim.record(path, rate):
        for _ in range(157):
            sim.step()
            seen.append(sim.foot(robot.feet["sole"]))
    return sim, seen


@pytest.fixture(scope="module")
def hopped(tmp_path_factory):
    path = tmp_path_factory.mktemp("feet") / "run.hdf5"
    return path, *hopping(path)


def test_every_row_has_what_the_simulator_says_of_the_foot(hopped):
    path, _, seen = hopped
    run = read(path)
    found = run.feet
    names = [foot_words.name_of(state) for state in found["state"][1:, 0]]
    assert names == [foot.state for foot in seen]
    assert {"none", "face, stick"} < set(names)
    assert any(name.endswith("slide") for name in names)
    assert found["signal"][1:, 0].tolist() == [foot.signal for foot in seen]
    told = [np.nan if foot.margin is None else foot.margin for foot in seen]
    assert np.array_equal(found["margin"][1:, 0], told, equal_nan=True)
    wrenches = [[*foot.wrench.force, *foot.wrench.torque] for foot in seen]
    assert np.array_equal(found["wrench"][1:, 0], wrenches)
    pressures = [
        [np.nan] * 2 if foot.centre_of_pressure is None else foot.centre_of_pressure
        for foot in seen
    ]
    assert np.array_equal(found["pressure"][1:, 0], pressures, equal_nan=True)
    # before the first step nothing touches
    assert (found["state"][0, 0], found["signal"][0, 0]) == (foot_words.NONE, 0)


def test_wrenches_are_the_sums_of_the_contacts(hopped):
    run = read(hopped[0])
    loads = tracks.of_contacts(run.world, run.motion(), run.contact_count, run.contacts)
    assert run.feet["wrench"][..., :3] == pytest.approx(loads["wrench"][..., :3], abs=1e-9)
    # the origin goes on by less than 2 mm in the step that the forces are of
    arm = 2e-3 * np.abs(loads["wrench"][..., :3]).max()
    assert run.feet["wrench"][..., 3:] == pytest.approx(loads["wrench"][..., 3:], abs=arm)


def test_all_changes_are_kept_also_those_between_rows(hopped, tmp_path):
    path, sim, _ = hopped
    events = sim.foot_events
    assert len(events) >= 4
    assert read(path).foot_events == events
    # a row every 0.1 s sees none but the first, and the last ones come after the last row
    coarse, _ = hopping(tmp_path / "coarse.hdf5", rate=10)
    run = read(tmp_path / "coarse.hdf5")
    assert run.foot_events == coarse.foot_events == events
    states = run.feet["state"][:, 0]
    assert np.count_nonzero(states[1:] != states[:-1]) == 1
    assert events[-1].time > run.time[-1]


def test_changes_before_a_recording_begins_are_not_in_it(tmp_path):
    sim, _ = on_plane("coulomb", height=2e-3)
    sim.run(0.04)
    assert len(sim.foot_events) > 0
    with sim.record(tmp_path / "late.hdf5"):
        sim.run(0.01)
    assert read(tmp_path / "late.hdf5").foot_events == ()


def test_each_episode_of_a_run_that_was_set_back_has_its_own_changes(tmp_path):
    sim, _ = on_plane("coulomb", height=2e-3)
    saved = sim.save()
    with sim.record(tmp_path / "twice.hdf5"):
        sim.run(0.04)
        once = sim.foot_events
        sim.restore(saved)
        sim.run(0.04)
    assert len(once) > 0
    assert read(tmp_path / "twice.hdf5", 0).foot_events == once
    assert read(tmp_path / "twice.hdf5", 1).foot_events == once


@pytest.mark.slow
def test_steps_that_were_only_tried_leave_no_change():
    _, robot = plate_world()
    world = tabi.World()
    world.add_ground(friction=0.5, restitution=0.5)
    world.add_robot(robot)
    sim = tabi.Simulator(world, scheme="event-driven")
    q = sim.state.q
    q[:7] = (0.0, 0.0, 0.5 * THICK + 5e-3, 1.0, 0.0, 0.0, 0.0)
    sim.set_state(q)
    sim.run(0.2)
    # it leaves the ground again where it strikes it
    assert len(sim.foot_events) > 1
    assert sim.data.foot_history == sim.data.foot_events


def test_files_of_earlier_versions_do_not_tell(hopped, tmp_path):
    old = shutil.copy(hopped[0], tmp_path / "old.hdf5")
    with h5py.File(old, "r+") as file:
        for name in ("state", "margin", "signal", "events", "state_names"):
            del file[f"feet/{name}"]
    run = read(old)
    assert (run.feet["state"] == foot_words.NOT_RECORDED).all()
    assert (run.feet["signal"] == foot_words.NOT_RECORDED).all()
    assert np.isnan(run.feet["margin"]).all()
    assert run.foot_events == ()
    assert np.array_equal(run.feet["wrench"], read(hopped[0]).feet["wrench"])


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("feet/state", 8, "a foot is in no known state"),
        ("feet/state", -2, "a foot is in no known state"),
        ("feet/events/after", 8, "a foot is in no known state"),
        ("feet/events/foot", 1, "a change is of no foot"),
        ("feet/events/time", np.nan, "expected finite numbers"),
        ("feet/margin", np.inf, "infinite numbers"),
    ],
)
def test_what_no_foot_can_be_is_refused(hopped, tmp_path, name, value, words):
    broken = shutil.copy(hopped[0], tmp_path / "broken.hdf5")
    with h5py.File(broken, "r+") as file:
        file[name][2] = value
    with pytest.raises(RecordingError, match=words):
        read(broken)


def test_a_world_without_feet_has_columns_of_no_width(tmp_path):
    world = tabi.World()
    world.add_ground()
    world.add_box(size=(0.3, 0.3, 0.3), mass=3.0, position=(0.0, 0.0, 0.15))
    sim = tabi.Simulator(world)
    with sim.record(tmp_path / "box.hdf5"):
        sim.run(0.01)
    run = read(tmp_path / "box.hdf5")
    assert run.feet["state"].shape == run.feet["margin"].shape == (11, 0)
    assert run.foot_events == ()
