"""Memory that a simulation and the process of a haptic device share; neither ever waits.

Each block has one writer. What it writes goes in with a number that rises and the checksum of both,

    crc32 (sequence, data) | sequence | data
and a reader copies all of it and looks whether the checksum fits: if it does not, the copy was
taken in the middle of a write, and is taken again; after a few times the reader goes on with what
it had. A sequence lock does the same with two numbers, but needs a processor that keeps the order
of writes; a checksum needs none, and a writer that dies half-way is seen, too.

    told     simulation → device    heartbeat, whether to end, and the local model
    felt     device → simulation    the hand, what it feels, and how the loop does: ``FIELDS``
    words    device → simulation    the same as a sentence

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

# numbers that a law may tell besides its wrench
NUMBERS = 16
# upper ends of the bins in which periods are counted [s]; the last has none
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
WORDS, TRIES = 480, 20


class Block:
    """A part of a memory with one writer."""

    HEADER = struct.Struct("=IxxxxQ")

    def __init__(self, memory: memoryview, size: int) -> None:
        self._memory, self._size = memory, size
        self._sequence = 0
        self._last: bytes | None = None

    @classmethod
    def room(cls, size: int) -> int:
        """Bytes that so many of data take, in steps of eight."""
        return cls.HEADER.size + -(-size // 8) * 8

    def write(self, data: bytes) -> None:
        """All of the data, at once."""
        self._sequence += 1
        check = zlib.crc32(data, self._sequence & 0xFFFFFFFF)
        self._memory[: self.HEADER.size + self._size] = (
            self.HEADER.pack(check, self._sequence) + data
        )

    def read(self) -> bytes | None:
        """The newest data that is whole; None where nothing was written yet."""
        for _ in range(TRIES):
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
        """Let go of the memory."""
        self._memory.release()


class SharedLink:
    """Both ends of the memory.

    Args:
        size: how many numbers a local model has.
        name: of a memory that is there; a new one unless given.

    Attributes:
        name: how the other process finds it.
    """

    def __init__(self, size: int, name: str | None = None) -> None:
        self.size, self.closed = size, False
        self._told, self._felt = struct.Struct(f"={2 + size}d"), struct.Struct(f"={COUNT}d")
        sizes = (self._told.size, self._felt.size, WORDS)
        rooms = [Block.room(n) for n in sizes]
        self._memory = SharedMemory(name, create=name is None, size=sum(rooms))
        self.name = self._memory.name
        whole = self._memory.buf
        assert whole is not None
        ends = list(itertools.accumulate(rooms, initial=0))
        self._blocks = [Block(whole[ends[i] : ends[i + 1]], n) for i, n in enumerate(sizes)]

    # ---- the simulation's end -------------------------------------------------------------------

    def tell(self, beat: float, model: Sequence[float] | Array, end: bool = False) -> None:
        """A heartbeat, at a time, with the local model as of now."""
        self._blocks[0].write(self._told.pack(beat, float(end), *model))

    def felt(self) -> Array | None:
        """The numbers of ``FIELDS``, as of the last period; None before the first."""
        data = self._blocks[1].read()
        return None if data is None else np.frombuffer(data)

    def words(self) -> str:
        """What the device's process has to say, empty where all is well."""
        data = self._blocks[2].read() or b""
        return data.rstrip(b"\0").decode("utf-8", "replace")

    # ---- the device's end -----------------------------------------------------------------------

    def told(self) -> tuple[float, bool, Array] | None:
        """Heartbeat, whether to end, and the local model; None before the first."""
        data = self._blocks[0].read()
        if data is None:
            return None
        numbers = np.frombuffer(data)
        return float(numbers[0]), numbers[1] != 0.0, numbers[2:]

    def publish(self, numbers: Sequence[float]) -> None:
        """The numbers of ``FIELDS``, in their order."""
        self._blocks[1].write(self._felt.pack(*numbers))

    def say(self, text: str) -> None:
        """A sentence."""
        data = text.encode()[:WORDS]
        self._blocks[2].write(data + bytes(WORDS - len(data)))

    # ---- both -----------------------------------------------------------------------------------

    def close(self, unlink: bool = False) -> None:
        """Let go of the memory, and give it back where this end is the last; once."""
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
    """A field of what the device's process publishes."""
    return numbers[STARTS[name] : STARTS[name] + FIELDS[name]]
