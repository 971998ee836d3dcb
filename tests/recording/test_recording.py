"""Recordings: what is read back is what was seen, whatever ended the run."""

import os
import shlex
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest
from bipeds import hrp2_on_ground

import tabi
from tabi._errors import SimulationError
from tabi.recording.recording import STATUS, RecordingError

G = 9.81


def sliding_box():
    world = tabi.World()
    world.add_ground(friction=0.4)
    world.add_box(size=(0.3, 0.3, 0.3), mass=3.0, friction=0.4, position=(0.0, 0.0, 0.15))
    sim = tabi.Simulator(world)
    sim.set_state(sim.model.initial(), [1.0, 0, 0, 0, 0, 0])
    return sim


def standing():
    world, robot = hrp2_on_ground()
    return tabi.Simulator(world), robot


def test_rows_are_the_states_and_contacts_that_were_seen(tmp_path):
    sim, seen = sliding_box(), []
    with sim.record(tmp_path / "run.hdf5"):
        for _ in range(300):
            sim.step()
            seen.append((sim.state, sim.contacts, sim.certificate))
    run = tabi.Recording.load(tmp_path / "run.hdf5")
    # the state at the start, then every step
    assert run.time == pytest.approx(1e-3 * np.arange(301))
    assert np.array_equal(run.q[1:], [state.q for state, _, _ in seen])
    assert np.array_equal(run.v[1:], [state.v for state, _, _ in seen])
    assert run.contact_count.tolist() == [0] + [len(contacts) for _, contacts, _ in seen]
    for row in (1, 100, 300):
        contacts, table = seen[row - 1][1], run.contacts_at(row)
        assert [run.body_names[i] for i in table["body_a"]] == [c.body_a.name for c in contacts]
        assert [run.body_names[i] for i in table["body_b"]] == [c.body_b.name for c in contacts]
        assert [STATUS[i] for i in table["status"]] == [c.status for c in contacts]
        for column in ("point", "normal", "force", "gap"):
            assert np.array_equal(table[column], [getattr(c, column) for c in contacts])
    # 1 m/s on μ 0.4: it slides for v / (μ g) = 0.25 s, then sticks;
    # its weight is borne all the time
    assert {STATUS[i] for i in run.contacts_at(200)["status"]} == {"slip"}
    assert {STATUS[i] for i in run.contacts_at(-1)["status"]} == {"stick"}
    assert run.contacts_at(-1)["force"][:, 2].sum() == pytest.approx(3 * G, abs=1e-6)


def test_certificate_and_facts_of_the_run_are_kept(tmp_path):
    sim, robot = standing()
    with sim.record(tmp_path / "run.hdf5", rate=100):
        sim.run(0.1)
        found = sim.certificate
    run = tabi.Recording.load(tmp_path / "run.hdf5")
    assert len(run.time) == 11
    assert run.joint_names == sim.model.joint_names
    assert set(robot.joint_names) <= set(run.joint_names)
    assert (run.dt, run.tolerance, run.version) == (1e-3, 1e-8, tabi.__version__)
    assert run.created.startswith("20")
    # the step reports its own residual, the certificate judges it again from the problem:
    # both below the tolerance
    assert run.certificate["residual"][-1] <= 1e-8
    assert found.residual <= 1e-8
    assert run.certificate["iterations"][-1] == found.iterations
    assert run.certificate["missed"].tolist() == [0] * 11
    assert run.certificate["gap"][-1] == pytest.approx(0.0, abs=1e-6)
    # judged at its end by the certificate itself
    assert run.step_errors["time"][-1] == pytest.approx(0.1)
    with pytest.warns(FutureWarning, match="step_errors"):
        assert run.judged is run.step_errors
    assert run.step_errors["force_residual"][-1] == found.force_residual
    assert run.step_errors["pressure_shift"][-1] == pytest.approx(
        1e-3 * max(found.pressure_shift.values())
    )
    assert run.summary["force_residual"] >= found.force_residual


def test_recording_does_not_change_the_run(tmp_path):
    a, b = sliding_box(), sliding_box()
    with a.record(tmp_path / "run.hdf5", rate=50):
        a.run(0.1)
    b.run(0.1)
    assert np.array_equal(a.state.q, b.state.q)


def test_recording_begins_and_ends_where_it_is_told(tmp_path):
    sim = sliding_box()
    sim.run(0.005)
    recording = sim.record(tmp_path / "run.hdf5", rate=500)
    sim.run(0.006)
    recording.close()
    recording.close()
    sim.run(0.01)
    # present state first, then the steps that the rate falls on
    assert tabi.Recording.load(tmp_path / "run.hdf5").time == pytest.approx(
        [0.005, 0.006, 0.008, 0.010]
    )


@pytest.mark.parametrize("inside", [True, False], ids=["in a with block", "without one"])
def test_controller_that_raises_leaves_a_whole_recording(tmp_path, inside):
    sim, robot = standing()
    command = tabi.Command(velocity=0.0)

    def controller(time, measurement):
        if time > 0.0195:
            raise RuntimeError("the plan has a hole")
        return command

    sim.set_controller(robot, controller)
    recording = sim.record(tmp_path / "run.hdf5")
    with pytest.raises(
        SimulationError,
        match=r"controller of hrp2 raised RuntimeError at 0.02 s: the plan has a hole",
    ):
        if inside:
            with recording:
                sim.run(1.0)
        else:
            sim.run(1.0)
    assert tabi.Recording.load(tmp_path / "run.hdf5").time == pytest.approx(1e-3 * np.arange(21))
    # the file was let go of, not given up
    sim.set_controller(robot, lambda time, measurement: command)
    sim.run(0.005)
    recording.close()
    assert len(tabi.Recording.load(tmp_path / "run.hdf5").time) == (21 if inside else 26)


KILLED = """
import mmap, os, random, signal, struct, sys, time
import tabi
folder, world = sys.argv[1], tabi.World()
world.add_ground()
world.add_box(size=(0.3, 0.3, 0.3), mass=3.0, position=(0.0, 0.0, 0.15))
sim = tabi.Simulator(world)
sim.step()
# all but one step of what a child does is compiled here, once
now, rng = mmap.mmap(-1, 8), random.Random(5)
for k in range(10):
    now[:] = struct.pack("d", -1.0)
    child = os.fork()
    if child == 0:
        sim.record(f"{folder}/{k}.hdf5")
        while True:
            sim.run(0.01)
            now[:] = struct.pack("d", sim.time)
    while struct.unpack("d", now[:])[0] < 0:
        time.sleep(0.001)
    time.sleep(rng.uniform(0.0, 0.3))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print(struct.unpack("d", now[:])[0], flush=True)
"""


@pytest.mark.process
def test_writer_killed_at_ten_random_moments_leaves_all_but_the_last_second(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    ends = [float(line) for line in done.stdout.split()]
    assert len(ends) == 10
    for k, end in enumerate(ends):
        run = tabi.Recording.load(tmp_path / f"{k}.hdf5")
        last = run.time[-1] if len(run.time) else 0.001
        assert last >= end - 1.0 - 1e-9
        # no row is missing, and none is of something else
        assert run.time == pytest.approx(0.001 * np.arange(1, len(run.time) + 1))
        assert len(run.contacts["force"]) == run.contact_count.sum()
        assert run.summary["residual"] <= 1e-8
    # at least some were killed after their first second
    assert max(ends) > 1.0


def test_full_disk_ends_the_recording_in_a_sentence_and_not_the_simulation(tmp_path, monkeypatch):
    sim = sliding_box()
    recording = sim.record(tmp_path / "run.hdf5", rate=100)
    sim.run(1.5)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=0))
    # the first second is in the file; the next rows find no room
    with pytest.raises(
        RecordingError,
        match=r"run.hdf5: the recording ends at 1.01 s, it cannot be written: "
        r"no space left on device",
    ):
        sim.run(1.5)
    before = sim.time
    sim.run(0.1)
    assert sim.time == pytest.approx(before + 0.1)
    recording.close()
    assert tabi.Recording.load(tmp_path / "run.hdf5").time == pytest.approx(0.01 * np.arange(101))


def test_disk_that_fills_up_ends_the_recording_with_its_last_second_kept(tmp_path, monkeypatch):
    sim = sliding_box()
    sim.record(tmp_path / "run.hdf5", rate=100)
    usage = shutil.disk_usage(tmp_path)
    # room for one more second, not for two
    free = iter([usage.free, usage.free, 10_000_000, 1_000_000])
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=next(free)))
    with pytest.raises(
        RecordingError,
        match=r"run.hdf5: the recording ends at 2 s, it cannot be written: no space left on device",
    ):
        sim.run(5.0)
    assert tabi.Recording.load(tmp_path / "run.hdf5").time == pytest.approx(0.01 * np.arange(201))


SMALL = """
import subprocess, sys
import tabi
folder, filled = sys.argv[1], sys.argv[2] == "filled"
world = tabi.World()
world.add_ground()
robot = world.add_robot(tabi.robots.hrp2())
robot.stand_on_ground()
sim = tabi.Simulator(world)
sim.record(folder + "/run.hdf5")
try:
    for second in range(60):
        if second == 3 and filled:
            # somebody else takes the rest
            rest = ["dd", "if=/dev/zero", f"of={folder}/others", "bs=64k"]
            subprocess.run(rest, capture_output=True)
        sim.run(1.0)
    print("no end")
except tabi.TabiError as error:
    print(sim.time, tabi.Recording.load(folder + "/run.hdf5").time[-1], error, sep="|")
"""


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize("how", ["filled", "small"])
def test_disk_that_is_really_full_keeps_all_but_the_last_second(tmp_path, how):
    """A disk of a few megabytes of its own, in a name space of its own."""
    mount = f"mount -t tmpfs -o size=14m tmpfs {tmp_path}"
    if (
        not shutil.which("unshare")
        or subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True).returncode
    ):
        pytest.skip("no right to mount a small disk here")
    command = (
        f"{mount} && exec {shlex.quote(sys.executable)} -c {shlex.quote(SMALL)} {tmp_path} {how}"
    )
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", command], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    now, last, words = done.stdout.strip().split("|")
    assert float(last) >= float(now) - 1.0 - 1e-9
    assert float(last) >= 2.0
    assert "the recording ends at" in words
    assert "no space left on device; make room, or record less often" in words


def test_motors_feet_robots_and_energy_are_what_the_simulator_says(tmp_path):
    sim, robot = standing()
    sim.apply_force(robot.body("chest"), force=(60.0, 20.0, 0.0), duration=0.05)
    rows = []
    with sim.record(tmp_path / "run.hdf5"):
        for _ in range(60):
            sim.step()
            feet = [sim.foot(foot).wrench for foot in robot.feet.values()]
            pressure = [sim.foot(foot).centre_of_pressure for foot in robot.feet.values()]
            centre = tabi.dynamics.centre_of_mass(sim.model, sim.state.q)
            rows.append(
                (
                    feet,
                    pressure,
                    sim.zmp(robot),
                    sim.energy,
                    centre,
                    sim.data.outcome.effort["motor"].copy(),
                )
            )
    run = tabi.Recording.load(tmp_path / "run.hdf5")
    assert run.world.feet.names == list(robot.feet)
    for k, (feet, pressure, zmp, energy, centre, given) in enumerate(rows, 1):
        assert np.array_equal(run.feet["wrench"][k], [[*w.force, *w.torque] for w in feet])
        assert np.array_equal(run.feet["pressure"][k], pressure)
        # sums of some hundred products of numbers below 1e4: rounding only
        assert run.robots["zmp"][k, 0, :2] == pytest.approx(zmp, abs=1e-11)
        assert run.robots["centre_of_mass"][k, 0] == pytest.approx(centre, abs=1e-12)
        assert run.energy["kinetic"][k] == pytest.approx(energy.kinetic, abs=1e-10)
        assert run.energy["potential"][k] == pytest.approx(energy.potential, rel=1e-12)
        assert np.array_equal(run.motors["effort"][k], given)
    # nothing is borne before the first step
    assert np.isnan(run.feet["pressure"][0]).all()
    assert np.isnan(run.robots["zmp"][0]).all()


@pytest.mark.slow
def test_moments_of_contacts_are_recorded_and_shift_the_pressure(tmp_path):
    from tabi.apps.viewer.view import Observer

    world = tabi.World()
    world.add_ground(friction=0.8, rolling_friction=0.02, torsional_friction=0.02)
    robot = world.add_robot(tabi.robots.hrp2())
    robot.stand_on_ground()
    sim = tabi.Simulator(world)
    sim.apply_force(robot.body("chest"), force=(30.0, 20.0, 0.0), duration=0.2)
    with sim.record(tmp_path / "run.h5"):
        sim.run(0.1)
        moments, seen = np.array([c.moment for c in sim.contacts]), Observer(sim).look()
        wrenches = [sim.foot_wrench(robot.feet[name]) for name in ("left", "right")]
        pressures = [sim.centre_of_pressure(robot.feet[name]) for name in ("left", "right")]
        zmp = sim.zmp(robot)
    run = tabi.Recording.load(tmp_path / "run.h5")
    # a hundredth of a load of 560 N at 20 mm
    assert np.abs(moments).max() > 0.1
    assert np.allclose(run.contacts_at(len(run.time) - 1)["moment"], moments, atol=1e-12)
    for k, (name, wrench) in enumerate(zip(("left", "right"), wrenches, strict=True)):
        at = run.world.feet.names.index(name)
        assert run.feet["wrench"][-1, at] == pytest.approx(
            [*wrench.force, *wrench.torque], abs=1e-8
        )
        assert run.feet["pressure"][-1, at] == pytest.approx(pressures[k], abs=1e-10)
        place = list(robot.feet).index(name)
        assert seen.pressures_in_foot[place] == pytest.approx(pressures[k], abs=1e-10)
    assert run.robots["zmp"][-1, 0, :2] == pytest.approx(zmp, abs=1e-10)
    assert seen.zmp[0, :2] == pytest.approx(zmp, abs=1e-10)


def test_recording_looks_like_the_world_without_its_files(tmp_path):
    sim, robot = standing()
    with sim.record(tmp_path / "run.hdf5"):
        sim.run(0.01)
    run = tabi.Recording.load(tmp_path / "run.hdf5")
    motion, model = run.motion(-1 + np.zeros(1, int)), sim.model
    drawn = np.concatenate(
        [
            p.vertices @ motion.rotation[p.body, 0].T + motion.position[p.body, 0]
            for p in run.look.pieces
        ]
    )
    # from the soles on the ground to the top of the head: HRP-2 half-sitting, as its shapes say
    top = max(
        (sim.pose(body) @ s.placement @ s.geometry.points())[:, 2].max()
        for body in robot.bodies
        for s in body.collision_shapes()
    )
    assert drawn[:, 2].min() == pytest.approx(0.0, abs=2e-3)
    assert drawn[:, 2].max() == pytest.approx(top, abs=0.02)
    assert run.look.planes == pytest.approx(np.array([[[0, 0, 0], [0, 0, 1]]]))
    assert {p.body for p in run.look.pieces} <= set(range(model.body_count + 1))
    assert [len(outline) for outline in run.world.feet.outlines] == [4, 4]


# ---- bad input ----------------------------------------------------------------------------------


def test_file_that_cannot_be_written_is_refused_and_nothing_is_recorded(tmp_path):
    sim = sliding_box()
    with pytest.raises(
        RecordingError,
        match=r"nowhere/run.hdf5: no recording can be written there: no such file or directory",
    ):
        sim.record(tmp_path / "nowhere" / "run.hdf5")
    with pytest.raises(RecordingError, match="it is a folder; expected a file name"):
        sim.record(tmp_path)
    sim.run(0.01)
    assert sim.time == pytest.approx(0.01)


def test_second_recording_into_the_same_file_is_refused(tmp_path):
    sim = sliding_box()
    with sim.record(tmp_path / "run.hdf5"), pytest.raises(RecordingError, match="already"):
        sim.record(tmp_path / "run.hdf5")


@pytest.mark.parametrize("rate", [0.0, -1.0, 300.0, float("nan"), 2000.0])
def test_rate_that_does_not_divide_the_rate_of_steps_is_refused(tmp_path, rate):
    with pytest.raises(tabi.ModelError, match="expected one that divides 1000 Hz"):
        sliding_box().record(tmp_path / "run.hdf5", rate=rate)
    assert os.listdir(tmp_path) == []


def test_files_that_are_no_recordings_are_refused_in_a_sentence(tmp_path):
    text, other, gone = tmp_path / "text.hdf5", tmp_path / "other.hdf5", tmp_path / "gone.hdf5"
    text.write_text("not HDF5")
    with h5py.File(other, "w") as file:
        file["x"] = 1.0
    for path, words in (
        (text, "is no recording|cannot be read as a recording"),
        (other, "no recording of tabi"),
        (gone, "no such file"),
    ):
        with pytest.raises(RecordingError, match=words) as refused:
            tabi.Recording.load(path)
        assert str(path) in str(refused.value)
        assert "\n" not in str(refused.value)


@pytest.mark.process
def test_file_that_another_process_writes_is_refused(tmp_path):
    sim = sliding_box()
    path = tmp_path / "run.hdf5"
    code = (
        f"import tabi\ntry: tabi.Recording.load({str(path)!r})\nexcept tabi.TabiError as error: "
        "print(error)"
    )
    with sim.record(path):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=60
        )
    assert done.stdout.strip() == f"{path}: it is still being written; close the recording first", (
        done.stderr
    )
