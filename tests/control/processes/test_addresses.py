"""Where robot and controller meet: each wrong address has its sentence."""

import socket
from pathlib import Path

import pytest

import tabi
from tabi.control.processes import addresses


def test_both_kinds_of_address_carry_bytes_both_ways(tmp_path):
    for told in (tmp_path / "robot", str(tmp_path / "other"), "localhost:0", "127.0.0.1:0"):
        listener, address = addresses.listen(told)
        there = addresses.connect(address)
        here = listener.accept()[0]
        there.sendall(b"a")
        here.sendall(b"b")
        assert (here.recv(1), there.recv(1)) == (b"a", b"b")
        for one in (listener, here, there):
            one.close()


def test_what_a_program_left_behind_is_no_obstacle_and_what_is_in_use_is(tmp_path):
    path = str(tmp_path / "robot")
    listener, _ = addresses.listen(path)
    with pytest.raises(tabi.ModelError, match="in use by another simulator; choose another"):
        addresses.listen(path)
    # the file stays when a socket is closed, as after a kill
    listener.close()
    assert Path(path).exists()
    addresses.listen(path)[0].close()
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(tabi.ModelError, match="choose another address, or end the program"):
            addresses.listen(f"localhost:{port}")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("example.org:80", "not on this machine; expected a path or 'localhost:port'"),
        ("localhost:http", "a port from 0 to 65535"),
        ("localhost:70000", "a port from 0 to 65535"),
        ("/tmp/" + "x" * 120, "has 125 bytes; expected a path of 1 to 107"),
        ("/no/such/folder/robot", "No such file or directory; choose another address"),
    ],
)
def test_addresses_that_are_none_are_refused(address, said):
    with pytest.raises(tabi.ModelError, match=said):
        addresses.listen(address)


def test_a_file_is_no_address(tmp_path):
    (tmp_path / "notes").write_text("a")
    with pytest.raises(tabi.ModelError, match="is an existing file or folder"):
        addresses.listen(tmp_path / "notes")
    assert (tmp_path / "notes").read_text() == "a"


def test_a_controller_without_a_simulator_is_told(tmp_path, monkeypatch):
    with pytest.raises(tabi.SimulationError, match=r"no simulator answers at .* start it first"):
        addresses.connect(tmp_path / "nobody", wait=0.0)
    monkeypatch.delenv("TABI_ADDRESS", raising=False)
    with pytest.raises(tabi.ModelError, match="environment variable TABI_ADDRESS"):
        addresses.connect()
