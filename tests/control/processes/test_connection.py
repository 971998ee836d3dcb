"""Messages over a socket: whole ones in their order, however they are cut on their way."""

import socket

import numpy as np
import pytest

from tabi.control.processes.connection import Connection, LostError


@pytest.fixture
def ends():
    a, b = socket.socketpair()
    yield Connection(a), b
    a.close()
    b.close()


def test_messages_arrive_whole_in_whatever_pieces_they_come(ends):
    link, other = ends
    rng = np.random.default_rng(5)
    sent = rng.bytes(100 * 50)
    link.expect(50)
    found, first = b"", 0
    while first < len(sent):
        count = int(rng.integers(1, 120))
        other.sendall(sent[first : first + count])
        first += count
        while link.receive(0.0):
            found += bytes(link.message)
    assert found == sent


def test_lines_end_with_an_empty_one_and_what_follows_is_a_message(ends):
    link, other = ends
    other.sendall("één\ntwo\n\nABC".encode())
    assert link.receive_lines(1.0) == ["één", "two"]
    link.expect(5)
    assert not link.receive(0.0)
    other.sendall(b"DE")
    assert link.receive(1.0)
    assert link.message == b"ABCDE"
    link.send_lines(["a", "b"], 1.0)
    assert other.recv(100) == b"a\nb\n\n"


def test_what_does_not_come_in_time_is_no_message(ends):
    link, other = ends
    assert link.receive_lines(0.01) is None
    link.expect(4)
    other.sendall(b"AB")
    assert not link.receive(0.01)
    other.sendall(b"CD")
    assert link.receive(0.01)


def test_a_full_socket_leaves_messages_out_and_never_a_part_of_one(ends):
    link, other = ends
    size, sent = 1000, []
    for k in range(2000):
        if link.send(bytearray([k % 251]) * size, 0.0):
            sent.append(k % 251)
    assert len(sent) < 2000
    got = b""
    other.setblocking(False)
    while True:
        try:
            got += other.recv(1 << 20)
        except BlockingIOError:
            # the rest of the last one goes before the next
            if len(got) % size == 0:
                break
            link.send(bytearray(size), 0.0)
    whole = [got[i : i + size] for i in range(0, len(got), size)]
    assert [m[0] for m in whole[: len(sent)]] == sent
    assert all(m == m[:1] * size for m in whole)


def test_an_end_that_is_gone_is_told_at_once(ends):
    link, other = ends
    link.expect(4)
    other.sendall(b"AB")
    other.close()
    with pytest.raises(LostError, match="after 2 of 4 bytes"):
        link.receive(5.0)
    with pytest.raises(LostError, match="closed its connection"):
        link.send(bytearray(4), 5.0)
    with pytest.raises(LostError, match="before the empty line"):
        link.receive_lines(5.0)
