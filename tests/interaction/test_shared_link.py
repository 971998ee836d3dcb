"""What one process writes, another reads whole or not at all."""

import multiprocessing
import time
from multiprocessing.shared_memory import SharedMemory

import numpy as np
import pytest

from tabi.interaction.shared_link import COUNT, FIELDS, MESSAGE_SIZE, Block, SharedLink, field


@pytest.fixture
def link():
    one = SharedLink(5)
    yield one
    one.close(unlink=True)


def write_on(name, size, end):
    """Writes numbers that are all the same, as fast as it can."""
    link, k = SharedLink(size, name), 0.0
    while time.monotonic() < end:
        k += 1.0
        link.publish_model(k, [k] * size)
    link.close()


def test_both_ends_see_what_the_other_wrote(link):
    other = SharedLink(5, link.name)
    assert link.read_hand() is None
    assert other.read_model() is None
    assert link.status() == ""
    link.publish_model(3.5, np.arange(5.0))
    beat, end, model = other.read_model()
    assert (beat, end) == (3.5, False)
    np.testing.assert_array_equal(model, np.arange(5.0))
    other.publish_hand(np.arange(COUNT))
    other.report("größer als gedacht")
    np.testing.assert_array_equal(link.read_hand(), np.arange(COUNT))
    assert link.status() == "größer als gedacht"
    other.close()


def test_fields_are_apart_and_all_there():
    numbers = np.arange(float(COUNT))
    parts = np.concatenate([field(numbers, name) for name in FIELDS])
    np.testing.assert_array_equal(parts, numbers)


def test_a_long_sentence_is_cut(link):
    link.report("ü" * MESSAGE_SIZE)
    assert link.status().startswith("üüü")


def test_a_write_that_broke_off_is_not_read(link):
    link.publish_hand(np.arange(COUNT))
    before = link.read_hand()
    whole = link._blocks[1]._memory
    whole[40] ^= 0xFF
    np.testing.assert_array_equal(link.read_hand(), before)
    link.publish_hand(2.0 * np.arange(COUNT))
    assert link.read_hand()[2] == 4.0


@pytest.mark.process
def test_no_torn_numbers_while_another_process_writes():
    link = SharedLink(200)
    link.publish_model(0.0, [0.0] * 200)
    # until enough has been read, however busy the machine is
    end = time.monotonic() + 60.0
    spawn = multiprocessing.get_context("spawn")
    child = spawn.Process(target=write_on, args=(link.name, 200, end))
    child.start()
    seen = set()
    while len(seen) < 500 and time.monotonic() < end:
        beat, _, numbers = link.read_model()
        assert np.all(numbers == beat)
        seen.add(beat)
    child.terminate()
    child.join()
    link.close(unlink=True)
    assert len(seen) == 500


def test_memory_is_given_back_once():
    link = SharedLink(2)
    link.close(unlink=True)
    link.close(unlink=True)
    with pytest.raises(FileNotFoundError):
        SharedMemory(link.name)


def test_a_block_takes_its_room():
    room = Block.block_size(13)
    memory = memoryview(bytearray(room))
    block = Block(memory, 13)
    assert block.read() is None
    block.write(b"hello, world!")
    assert block.read() == b"hello, world!"
