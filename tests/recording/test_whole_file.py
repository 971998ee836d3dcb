"""Files that are changed as a whole: cut off after any write, they are what they were before it
or what they became.
"""

import os

import h5py
import numpy as np
import pytest

from tabi.recording import whole_file
from tabi.recording.whole_file import PAGE, WholeFile, WholeHdf5, opened


def rows_written(path, batches):
    """Grow two columns by rows, a flush after each batch; what the file holds after each."""
    rng, held = np.random.default_rng(3), []
    with WholeHdf5(path, "w") as file:
        for name in ("a", "deep/b"):
            file.create_dataset(name, (0, 3), float, maxshape=(None, 3), chunks=(64, 3))
        file.flush()
        held.append(np.zeros((0, 3)))
        for count in batches:
            added = rng.normal(size=(count, 3))
            for name in ("a", "deep/b"):
                start = len(file[name])
                file[name].resize(start + count, axis=0)
                file[name][start:] = added
            file.flush()
            held.append(np.concatenate([held[-1], added]))
    return held


@pytest.fixture
def operations(monkeypatch):
    """Every write and cut that reaches the disk, in order: (place, bytes) or (length, None)."""
    done, place, os_ = [], [0], os

    class Noted:
        def __getattr__(self, name):
            return getattr(os_, name)

        def lseek(self, file, offset, whence):
            place[0] = offset
            return os_.lseek(file, offset, whence)

        def write(self, file, data):
            done.append((place[0], bytes(data)))
            place[0] += len(data)
            return os_.write(file, data)

        def ftruncate(self, file, length):
            done.append((length, None))
            os_.ftruncate(file, length)

    monkeypatch.setattr(whole_file, "os", Noted())
    return done


def test_a_file_cut_off_after_any_write_or_in_its_middle_is_as_before_or_as_after(
    tmp_path, operations
):
    held = rows_written(tmp_path / "run.hdf5", [5, 60, 200, 1])
    assert len(operations) > 30
    disk, seen = bytearray(), []

    def holds():
        """Which of the commits the bytes on the disk are."""
        (tmp_path / "cut.hdf5").write_bytes(disk)
        with opened(tmp_path / "cut.hdf5") as file:
            a, b = file["a"][:], file["deep/b"][:]
        assert np.array_equal(a, b)
        return next(k for k, rows in enumerate(held) if np.array_equal(rows, a))

    def put(place, data):
        if len(disk) < place + len(data):
            disk.extend(bytes(place + len(data) - len(disk)))
        disk[place : place + len(data)] = data

    begun = False
    for place, data in list(operations):
        if data is None:
            disk[:] = disk[:place].ljust(place, b"\0")
        else:
            put(place, data[: len(data) // 2])
            if begun:
                seen.append(holds())
            put(place, data)
        # before the first commit is complete there is nothing to keep
        begun = begun or (data is None and place > 0)
        if begun:
            seen.append(holds())
    assert seen == sorted(seen)
    assert set(seen) == set(range(len(held)))


def test_a_file_cut_off_can_be_gone_on_with(tmp_path, operations):
    held = rows_written(tmp_path / "run.hdf5", [5, 60])
    (tmp_path / "cut.hdf5").write_bytes((tmp_path / "run.hdf5").read_bytes())
    # stop after the journal of one more row: the first write that ends in the magic word
    del operations[:]
    with WholeHdf5(tmp_path / "run.hdf5", "r+") as file:
        file["a"].resize(66, axis=0)
        file["a"][65:] = 7.0
    disk = bytearray((tmp_path / "cut.hdf5").read_bytes())
    for place, data in operations:
        if data is not None:
            disk.extend(bytes(max(0, place + len(data) - len(disk))))
            disk[place : place + len(data)] = data
            if data.endswith(whole_file.MAGIC):
                break
    else:
        pytest.fail("no journal was written")
    (tmp_path / "cut.hdf5").write_bytes(disk)
    with h5py.File(tmp_path / "cut.hdf5", "r") as file:
        assert len(file["a"]) == 65
    with opened(tmp_path / "cut.hdf5") as file:
        assert len(file["a"]) == 66
    with WholeHdf5(tmp_path / "cut.hdf5", "r+") as file:
        file["a"].resize(67, axis=0)
    # the journal is gone, so that other programs read the same
    with h5py.File(tmp_path / "cut.hdf5", "r") as file:
        assert np.array_equal(file["a"][:65], held[-1])
        assert (file["a"][65] == 7.0).all()
        assert len(file["a"]) == 67


def test_reading_and_writing_anywhere_is_that_of_a_plain_file(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "any.bin"
    whole, plain = WholeFile(path, "w"), bytearray()
    for _ in range(300):
        place = int(rng.integers(0, len(plain) + 1))
        data = rng.bytes(int(rng.integers(1, 3 * PAGE)))
        whole.seek(place)
        assert whole.write(data) == len(data)
        plain[place : place + len(data)] = data
        cut = rng.random() < 0.1
        if cut:
            size = int(rng.integers(len(plain) // 2, len(plain) + PAGE))
            whole.truncate(size)
            plain[:] = plain[:size].ljust(size, b"\0")
        if cut or rng.random() < 0.2:
            whole.commit()
            assert path.read_bytes() == plain
        start = int(rng.integers(0, len(plain)))
        whole.seek(start)
        length = int(rng.integers(1, 4 * PAGE))
        found = whole.read(length)
        assert found == plain[start : start + length]
        assert whole.tell() == start + len(found)
    whole.close()


def test_what_was_not_committed_is_dropped(tmp_path):
    file = WholeHdf5(tmp_path / "a.hdf5", "w")
    file["kept"] = [1.0, 2.0]
    file.flush()
    file["lost"] = [3.0]
    file.abandon()
    # too late to be kept, and no error
    file.close()
    with opened(tmp_path / "a.hdf5") as left:
        assert list(left) == ["kept"]


def test_a_file_being_written_is_neither_read_nor_written_by_another(tmp_path):
    file = WholeHdf5(tmp_path / "a.hdf5", "w")
    file.flush()
    with pytest.raises(BlockingIOError), opened(tmp_path / "a.hdf5"):
        pass
    with pytest.raises(BlockingIOError):
        WholeHdf5(tmp_path / "a.hdf5", "r+")
    file.close()
    with opened(tmp_path / "a.hdf5") as left:
        assert list(left) == []


@pytest.mark.parametrize("damage", ["checksum", "count", "end"])
def test_a_journal_that_is_not_whole_is_ignored(tmp_path, damage):
    path = tmp_path / "a.bin"
    whole = WholeFile(path, "w")
    whole.write(b"old" * PAGE)
    whole.commit()
    whole.close()
    plain, pages = path.read_bytes(), bytes(8) + b"new".ljust(PAGE, b"\0")
    checksum = whole_file.zlib.crc32(pages) + (damage == "checksum")
    count = 2**40 if damage == "count" else 1
    end = len(plain) + (damage == "end")
    tail = whole_file.TAIL.pack(end, count, checksum, whole_file.MAGIC)
    path.write_bytes(plain + pages + tail)
    whole = WholeFile(path, "r")
    start = bytearray(6)
    whole.readinto(start)
    assert start == b"oldold"
    whole.close()
