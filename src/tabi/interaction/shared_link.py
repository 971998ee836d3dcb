"""Shared memory between a simulation and the process of a haptic device; neither ever waits.

Each block has one writer. It writes data with an increasing number and the checksum of both,

    crc32 (sequence, data) | sequence | data
and a reader copies all of it and compares the checksum: if it differs, the copy was made during a
write, and is repeated; after a few attempts the reader continues with its previous data. A sequence
lock does the same with two numbers, but needs a processor that keeps the order of writes; a
checksum does not, and it detects a writer that ended during a write, too.

    model    simulation → device    heartbeat, whether to end, and the local model
    hand     device → simulation    the hand, its force, and statistics of the loop: ``FIELDS``
    status   device → simulation    the error message

Reference: Lameter, Effective synchronization on Linux/NUMA systems (2005), for sequence locks.
"""

from __future__ import annotations

import contextlib
import itertools
import struct
import zlib
from collections.abc import Sequence
from multiprocessing.shared_memory import SharedMemory

import numpy as np

from tabi.interaction.devices.protocol import Array

# maximum count of numbers of a law besides its wrench
NUMBERS = 16
# upper limits of the bins in which periods are counted [s]; the last has none
BINS = (0.0011, 0.0015, 0.002, 0.005, 0.01, 0.05)
FIELDS = {
    "time": 1,
    "state": 1,
    "position": 3,
    "velocity": 3,
    "quaternion": 4,
    "spin": 3,
    "buttons": 1,
    "read": 1,
    "force": 3,
    "torque": 3,
    "energy": 1,
    "numbers": NUMBERS,
    "periods": len(BINS) + 1,
    "worst": 1,
    "work": 1,
    "worst_work": 1,
    "connections": 1,
}
STARTS = dict(zip(FIELDS, itertools.accumulate(FIELDS.values(), initial=0), strict=False))
COUNT = sum(FIELDS.values())
# size of the message [bytes], and attempts of a read
MESSAGE_SIZE, MAX_ATTEMPTS = 480, 20


class Block:
    """Part of a memory with one writer."""

    HEADER = struct.Struct("=IxxxxQ")

    def __init__(self, memory: memoryview, size: int) -> None:
        self._memory, self._size = memory, size
        self._sequence = 0
        self._last: bytes | None = None

    @classmethod
    def block_size(cls, size: int) -> int:
        """Return the size of a block for ``size`` bytes of data, in steps of eight."""
        return cls.HEADER.size + -(-size // 8) * 8

    def write(self, data: bytes) -> None:
        """Write all of the data at once."""
        self._sequence += 1
        check = zlib.crc32(data, self._sequence & 0xFFFFFFFF)
        self._memory[: self.HEADER.size + self._size] = (
            self.HEADER.pack(check, self._sequence) + data
        )

    def read(self) -> bytes | None:
        """Return the latest complete data; None before the first write."""
        for _ in range(MAX_ATTEMPTS):
            raw = bytes(self._memory[: self.HEADER.size + self._size])
            check, sequence = self.HEADER.unpack_from(raw)
            data = raw[self.HEADER.size :]
            if sequence and zlib.crc32(data, sequence & 0xFFFFFFFF) == check:
                self._last = data
                break
            if not sequence and not check:
                break
        return self._last

    def release(self) -> None:
        """Release this part of the memory."""
        self._memory.release()


class SharedLink:
    """Both ends of the shared memory.

    Args:
        size: number of values of a local model.
        name: of an existing memory; default: a new one.

    Attributes:
        name: of the memory, for the other process.
    """

    def __init__(self, size: int, name: str | None = None) -> None:
        self.size, self.closed = size, False
        self._model_format, self._hand_format = (
            struct.Struct(f"={2 + size}d"),
            struct.Struct(f"={COUNT}d"),
        )
        sizes = (self._model_format.size, self._hand_format.size, MESSAGE_SIZE)
        rooms = [Block.block_size(n) for n in sizes]
        self._memory = SharedMemory(name, create=name is None, size=sum(rooms))
        self.name = self._memory.name
        whole = self._memory.buf
        assert whole is not None
        ends = list(itertools.accumulate(rooms, initial=0))
        self._blocks = [Block(whole[ends[i] : ends[i + 1]], n) for i, n in enumerate(sizes)]

    # ---- the simulation's end -------------------------------------------------------------------

    def publish_model(self, beat: float, model: Sequence[float] | Array, end: bool = False) -> None:
        """Publish a heartbeat, at a time, with the current local model."""
        self._blocks[0].write(self._model_format.pack(beat, float(end), *model))

    def read_hand(self) -> Array | None:
        """Return the numbers of ``FIELDS``, as of the last period; None before the first."""
        data = self._blocks[1].read()
        return None if data is None else np.frombuffer(data)

    def status(self) -> str:
        """Return the error message of the device's process, or ""."""
        data = self._blocks[2].read() or b""
        return data.rstrip(b"\0").decode("utf-8", "replace")

    # ---- the device's end -----------------------------------------------------------------------

    def read_model(self) -> tuple[float, bool, Array] | None:
        """Return the heartbeat, whether to end, and the local model; None before the first."""
        data = self._blocks[0].read()
        if data is None:
            return None
        numbers = np.frombuffer(data)
        return float(numbers[0]), numbers[1] != 0.0, numbers[2:]

    def publish_hand(self, numbers: Sequence[float]) -> None:
        """Publish the numbers of ``FIELDS``, in their order."""
        self._blocks[1].write(self._hand_format.pack(*numbers))

    def report(self, text: str) -> None:
        """Publish a message of one sentence."""
        data = text.encode()[:MESSAGE_SIZE]
        self._blocks[2].write(data + bytes(MESSAGE_SIZE - len(data)))

    # ---- both -----------------------------------------------------------------------------------

    def close(self, unlink: bool = False) -> None:
        """Release the memory, and remove it if this end is the last; once."""
        if self.closed:
            return
        self.closed = True
        for block in self._blocks:
            block.release()
        self._memory.close()
        if unlink:
            with contextlib.suppress(FileNotFoundError):
                self._memory.unlink()


def field(numbers: Array, name: str) -> Array:
    """Return a field of the numbers of the device's process."""
    return numbers[STARTS[name] : STARTS[name] + FIELDS[name]]
