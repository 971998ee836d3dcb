"""Reading recordings that are broken, or were made to break the reader:
one sentence, whatever is wrong.
"""

import json
import random
import shutil
import subprocess
import sys

import h5py
import numpy as np
import pytest

import tabi
from tabi.recording.hdf5 import RefusedError, UntrustedFile, write_attribute, write_text
from tabi.recording.recorded import RecordingError, read


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    world = tabi.World()
    world.add_ground()
    world.add_box(size=(0.3, 0.3, 0.3), mass=3.0, position=(0.0, 0.0, 0.15))
    sim = tabi.Simulator(world)
    path = tmp_path_factory.mktemp("recorded") / "run.hdf5"
    with sim.record(path, rate=100, scene="ground:\n  friction: 0.8\n", meta={"seed": 7}):
        sim.run(0.3)
    return path


@pytest.fixture
def copy(original, tmp_path):
    return shutil.copy(original, tmp_path / "copy.hdf5")


def check_refused(path, words=None):
    with pytest.raises(RecordingError, match=words) as refused:
        read(path)
    assert str(path) in str(refused.value)
    assert "\n" not in str(refused.value)


def replaced(path, name, data):
    with h5py.File(path, "r+") as file:
        del file[name]
        if isinstance(data, str):
            write_text(file, name, data)
        else:
            file[name] = data


def test_meta_data_and_scene_are_read_back(original):
    run = read(original)
    assert run.meta["seed"] == 7
    assert set(run.meta["versions"]) == {"tabi", "python", "numpy", "numba"}
    assert run.scene == "ground:\n  friction: 0.8\n"
    assert run.world.robot_names == []
    assert run.feet["wrench"].shape == (31, 0, 6)


def test_worst_of_the_run_is_at_the_file_and_read_from_the_rows_without_it(copy):
    with h5py.File(copy, "r+") as file:
        told = {
            name: float(file["certificate"].attrs[name])
            for name in ("worst_residual", "worst_penetration", "missed")
        }
        for name in list(file["certificate"].attrs):
            del file["certificate"].attrs[name]
    found = read(copy).summary
    assert found["residual"] == told["worst_residual"] > 0
    assert found["penetration"] == told["worst_penetration"]
    assert found["missed"] == told["missed"] == 0
    assert (found["rows"], found["seconds"]) == (31, pytest.approx(0.3))


def test_recording_of_the_first_format_is_refused_kindly(copy):
    with h5py.File(copy, "r+") as file:
        file.attrs["format"] = "tabi recording 1"
    check_refused(copy, "it is of an earlier version of tabi: record the run again")


def test_texts_in_a_heap_are_not_read(copy):
    # HDF5 may loop for ever over a heap that is broken
    with h5py.File(copy, "r+") as file:
        file.attrs["created"] = "of any length"
    check_refused(copy, "its created is no number or word")


def test_format_of_a_later_version_is_refused(copy):
    with h5py.File(copy, "r+") as file:
        write_attribute(file, "format", "tabi recording 4")
    check_refused(copy, "its format is 'tabi recording 4'")


@pytest.mark.parametrize(
    "name", ["time", "contacts/force", "look/vertices", "meta", "world/body/parent"]
)
def test_missing_parts_are_named(copy, name):
    with h5py.File(copy, "r+") as file:
        del file[name]
    check_refused(copy, f"it has no '{name}'")


@pytest.mark.parametrize("name", ["time", "q", "contacts/point", "look/vertices", "motors/effort"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(copy, name, value):
    with h5py.File(copy, "r+") as file:
        data = file[name][:]
    data[3] = value
    replaced(copy, name, data)
    check_refused(copy, f"'{name}' has {value} in row 3")


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("q", np.zeros((31, 3)), "has the shape 31×3"),
        ("q", np.zeros(31), "has the shape 31, expected n×7"),
        ("time", np.array([b"now"] * 31), "not made of numbers"),
        ("time", 1.0, "has no rows"),
        ("contacts/count", np.full(31, -1), "less than no contacts"),
        ("contacts/body_a", np.full(500, 9), "a contact is of no body"),
        ("contacts/status", np.full(500, 3), "no known state"),
        ("world/body/parent", np.array([0, 1]), "hangs on a later one"),
        ("world/body/kind", np.array([0, 17]), "no known kind"),
        ("world/body/q_start", np.array([0, 3]), "positions do not fit"),
        ("world/body/v_end", np.array([0, 2**60]), "velocities do not fit"),
        ("world/link", np.array([0, 99]), "a link is on no body"),
        ("look/triangles", np.full((200, 3), 10**6, np.int32), "meshes do not fit"),
        ("look/body", np.array([77]), "meshes do not fit"),
        ("meta", "[" * 100_000, "cannot be read"),
        ("meta", "[1, 2]", "meta data are no table"),
        ("meta", 3.0, "is no text"),
        ("body_names", np.zeros(2), "no list of names"),
    ],
)
def test_parts_that_do_not_fit_are_refused(copy, name, data, words):
    replaced(copy, name, data)
    check_refused(copy, words)


def test_counts_that_no_file_could_hold_take_no_memory(copy):
    with h5py.File(copy, "r+") as file:
        for name, tail in (("look/vertices", (3,)), ("world/feet/outlines", (2,))):
            del file[name]
            file.create_dataset(
                name, (2**40, *tail), float, chunks=(1024, *tail), compression="gzip"
            )
    check_refused(copy, "more than the file can hold")


def test_rows_that_were_announced_and_never_written_do_not_count(copy):
    with h5py.File(copy, "r+") as file:
        file["time"].resize(2**40, axis=0)
    # one chunk of 4096 rows is there, but the other columns have 31
    assert len(read(copy).time) == 31


@pytest.mark.parametrize("kind", ["soft", "external", "virtual", "storage", "group"])
def test_links_to_other_files_are_not_followed(copy, tmp_path, kind):
    other = tmp_path / "other.hdf5"
    with h5py.File(other, "w") as file:
        file["time"] = np.zeros(31)
        file.create_group("certificate")
    with h5py.File(copy, "r+") as file:
        del file["time"]
        if kind == "soft":
            file["time"] = h5py.SoftLink("/energy/kinetic")
        elif kind == "external":
            file["time"] = h5py.ExternalLink(str(other), "/time")
        elif kind == "virtual":
            layout = h5py.VirtualLayout((31,), float)
            layout[:] = h5py.VirtualSource(str(other), "time", (31,))
            file.create_virtual_dataset("time", layout)
        elif kind == "storage":
            (tmp_path / "raw").write_bytes(b"\0" * 31 * 8)
            file.create_dataset("time", (31,), float, external=[(str(tmp_path / "raw"), 0, 31 * 8)])
        else:
            file["time"] = np.zeros(31)
            del file["certificate"]
            file["certificate"] = h5py.ExternalLink(str(other), "/certificate")
    check_refused(copy, "links are not followed|lies in another file")


def test_truncated_file_is_refused(copy):
    data = copy.read_bytes()
    for part in (0, 10, 1000, len(data) // 2, len(data) - 1):
        copy.write_bytes(data[:part])
        check_refused(copy)


def test_attribute_that_is_no_number_is_refused(copy):
    with h5py.File(copy, "r+") as file:
        file.attrs["dt"] = np.zeros(3)
    check_refused(copy, "its dt is no number")
    with h5py.File(copy, "r+") as file:
        file.attrs["dt"] = float("nan")
    check_refused(copy, "its dt is nan")


@pytest.mark.process
def test_a_hundred_mutated_files_end_in_a_sentence_or_a_recording(original, tmp_path):
    # in a process of its own: a library that crashes would take the tests with it
    code = f"""
import json, random, resource
from pathlib import Path
from tabi.recording.recorded import RecordingError, read
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
data, path = Path({str(original)!r}).read_bytes(), Path({str(tmp_path / "mutated.hdf5")!r})
rng = random.Random(6)
read_, refused = 0, 0
for k in range(100):
    b = bytearray(data)
    for _ in range(rng.choice([1, 3, 20])):
        i = rng.randrange(len(b) if rng.random() < 0.3 else 60_000)
        b[i] = rng.choice([0, 255, rng.randrange(256), b[i] ^ (1 << rng.randrange(8))])
    path.write_bytes(b)
    try:
        run = read(path)
        read_ += 1
        run.motion()
        run.summary
    except RecordingError as error:
        assert "\\n" not in str(error)
        refused += 1
print(json.dumps([read_, refused]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    read_back, refused = json.loads(done.stdout)
    assert read_back + refused == 100
    # structure stands in the first kilobytes: many a hit there is seen
    assert refused > 17


def test_a_careful_reader_says_what_it_wanted(original):
    with h5py.File(original, "r") as file:
        careful = UntrustedFile(original, file)
        assert careful.has("look/body")
        assert not careful.has("look/nothing")
        with pytest.raises(RefusedError, match="'look' is no table"):
            careful.dataset("look")


def test_random_bytes_are_no_recording(tmp_path):
    path = tmp_path / "noise.hdf5"
    path.write_bytes(random.Random(1).randbytes(5000))
    check_refused(path, "is no recording|cannot be read as a recording")


def test_springs_and_gains_are_kept_as_built_and_older_files_do_not_tell_them(original, copy):
    """A free box has no motors; files of before these columns were kept say so."""
    world = read(original).world
    for name in ("kp", "kd", "damping", "prescribed"):
        assert np.array_equal(world.dof[name], np.zeros(6))
    with h5py.File(copy, "r+") as file:
        for name in ("lower", "upper", "kp", "kd", "damping", "prescribed"):
            del file[f"world/dof/{name}"]
    older = read(copy).world.dof
    assert np.isnan(older["kp"]).all()
    assert np.isnan(older["damping"]).all()
    assert (older["lower"] == -np.inf).all()
    assert (older["prescribed"] == 0).all()
