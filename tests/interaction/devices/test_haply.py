"""The driver for Haply's service against one that is late, wrong, silent or gone."""

import contextlib
import json
import threading
import time

import numpy as np
import pytest
from interaction.devices.test_haply_messages import device, frame, mutated
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Response
from websockets.sync.server import serve

from tabi._errors import ModelError
from tabi.interaction.devices import haply
from tabi.interaction.devices import haply_messages as messages
from tabi.interaction.devices.haply import HaplyDevice
from tabi.interaction.devices.protocol import DeviceError

ZERO, PUSH = np.zeros(3), np.array([1.0, 2.0, -0.5])


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Time is not what most of these are about, and this machine may be busy."""
    monkeypatch.setattr(haply, "ANSWER_TIMEOUT_S", 5.0)
    monkeypatch.setattr(haply, "OPEN_TIMEOUT_S", 5.0)


class Service:
    """Answers with what it is told to, and keeps the forces that it was given."""

    def __init__(self, first=None, answers=None, version="3.5.0.0"):
        self.first = json.dumps(frame()) if first is None else first
        self.answers, self.version = answers or (lambda k: [json.dumps(frame())]), version
        self.forces, self.headers = [], []
        self.server = serve(
            self.talk, "127.0.0.1", 0, process_request=self.request, compression=None
        )
        self.address = f"ws://127.0.0.1:{self.server.socket.getsockname()[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def request(self, link, request):
        self.headers.append(request.headers)
        if request.path != "/version":
            return None
        if self.version is None:
            return link.respond(404, "nothing here\n")
        body = json.dumps({"ok": True, "data": {"project_version": self.version}}).encode()
        return Response(200, "OK", Headers({"Content-Length": str(len(body))}), body)

    def talk(self, link):
        with contextlib.suppress(Exception):
            if self.first:
                link.send(self.first)
            for k, raw in enumerate(link):
                self.forces += [force for _, force in messages.parse_order(raw)]
                # one that is gone gets no answers; what it said last is heard all the same
                with contextlib.suppress(ConnectionClosed):
                    for answer in self.answers(k):
                        link.send(answer)

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.server.shutdown()


def until(true, limit=5.0):
    end = time.monotonic() + limit
    while not true() and time.monotonic() < end:
        time.sleep(0.002)
    return true()


def until_error(one, limit=5.0):
    """Reads and pushes until the driver gives up."""
    end = time.monotonic() + limit
    with pytest.raises(DeviceError) as error:
        while time.monotonic() < end:
            one.read()
            one.write(PUSH, ZERO)
            time.sleep(0.001)
    return str(error.value)


def test_readings_come_and_forces_go():
    def answer(k):
        told = service.forces[-1][0] if service.forces else 0.0
        return [json.dumps(frame()).replace("0.01", repr(told))]

    with Service(answers=answer) as service:
        one = HaplyDevice(service.address)
        for k in range(20):
            one.write(0.01 * k * PUSH, ZERO)
            assert until(lambda k=k: one.read().position[0] == 0.01 * k * PUSH[0])
        one.close()
        one.close()
        assert until(lambda: len(service.forces) >= 21)
    np.testing.assert_allclose(service.forces[:20], [0.01 * k * PUSH for k in range(20)])
    assert service.forces[-1] == (0.0, 0.0, 0.0)


def test_a_reading_is_never_younger_than_its_question():
    with Service() as service:
        one = HaplyDevice(service.address)
        for _ in range(50):
            before = time.monotonic()
            one.write(PUSH, ZERO)
            time.sleep(0.002)
            assert one.read().time <= time.monotonic()
        assert until(lambda: one.read().time >= before)
        one.close()


def test_more_force_than_the_limit_is_not_sent():
    with Service() as service:
        one = HaplyDevice(service.address)
        one.write(1e3 * PUSH, ZERO)
        with pytest.raises(DeviceError, match="finite newtons"):
            one.write(np.array([np.nan, 0.0, 0.0]), ZERO)
        one.close()
        assert until(lambda: len(service.forces) >= 3)
    np.testing.assert_allclose(np.linalg.norm(service.forces[0]), one.info.force_limit)
    np.testing.assert_array_equal(service.forces[1], ZERO)


def test_without_a_service_it_is_told_what_to_start():
    with pytest.raises(DeviceError, match=r"no Haply Inverse service listens.*Haply Hub.*stand-in"):
        HaplyDevice("ws://127.0.0.1:9")


@pytest.mark.parametrize("version", ["2.9.1.0", "3.0.8.0", "4.0.0.0"])
def test_another_version_is_refused(version):
    with Service(version=version) as service, pytest.raises(DeviceError, match="expected 3"):
        HaplyDevice(service.address)


def test_a_service_that_tells_no_version_is_judged_by_its_messages():
    with Service(version=None) as service:
        HaplyDevice(service.address).close()
    with (
        Service(version=None, first='{"devices": []}') as service,
        pytest.raises(DeviceError, match=r"not of format 3\.1"),
    ):
        HaplyDevice(service.address)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (frame(inverse3=[]), "has no Inverse3"),
        (frame(inverse3=[device(), device()]), "2 devices named"),
    ],
)
def test_a_wrong_inventory_is_refused(given, told):
    with Service(first=json.dumps(given)) as service, pytest.raises(DeviceError, match=told):
        HaplyDevice(service.address)


def test_a_service_that_is_silent_is_given_up(monkeypatch):
    monkeypatch.setattr(haply, "ANSWER_TIMEOUT_S", 0.05)
    monkeypatch.setattr(haply, "OPEN_TIMEOUT_S", 0.5)
    with Service(first="") as service, pytest.raises(DeviceError, match="sent no inventory within"):
        HaplyDevice(service.address)
    with Service(answers=lambda k: [json.dumps(frame())] if k < 5 else []) as service:
        assert "has not answered for" in until_error(HaplyDevice(service.address))
        assert until(lambda: service.forces[-1] == (0.0, 0.0, 0.0))


def test_one_answer_too_many_is_refused():
    with Service(answers=lambda k: [json.dumps(frame())] * (1 + (k == 5))) as service:
        assert "more answers than it got messages" in until_error(HaplyDevice(service.address))
        assert until(lambda: service.forces[-1] == (0.0, 0.0, 0.0))


def test_answers_for_another_session_are_refused():
    with Service(answers=lambda k: [json.dumps(frame(session_id=8 if k > 3 else 7))]) as service:
        assert "session 8; expected 7" in until_error(HaplyDevice(service.address))


def test_a_device_that_is_pulled_out_is_told():
    gone = frame(inverse3=[])
    with Service(answers=lambda k: [json.dumps(gone if k > 3 else frame())]) as service:
        assert "0 devices named '049D'" in until_error(HaplyDevice(service.address))


def test_a_service_that_ends_is_told():
    service = Service()
    one = HaplyDevice(service.address)
    one.read()
    service.server.shutdown()
    with contextlib.suppress(Exception):
        one._link._socket.shutdown(2)
    assert "is gone" in until_error(one)
    with pytest.raises(DeviceError, match="was closed"):
        one.write(PUSH, ZERO)


@pytest.mark.slow
def test_three_hundred_wrong_answers_through_a_socket_leave_no_force(monkeypatch):
    rng, raw = np.random.default_rng(5), json.dumps(frame()).encode()

    monkeypatch.setattr(haply, "ANSWER_TIMEOUT_S", 0.2)

    def answer(k):
        # none, or twice the same: out of step
        if k % 7 == 6:
            return [raw.decode()] * (2 * (k % 2))
        data = mutated(rng, raw) if k % 3 else raw
        try:
            return [data.decode()]
        except UnicodeDecodeError:
            return [data]

    sent, refused = 0, 0
    with Service(answers=answer) as service:
        while sent < 300:
            one = HaplyDevice(service.address)
            try:
                while sent < 300:
                    one.write(PUSH, ZERO)
                    sent += 1
                    before = one._reading
                    until(lambda one=one, before=before: one.read() is not before, 1.0)
                    assert np.abs(one.read().position).max() <= messages.MAX_DISTANCE
            except DeviceError:
                refused += 1
                # what was wrong is followed by a zero, on a connection that is over
                assert one.closed
                assert until(lambda: service.forces[-1] == (0.0, 0.0, 0.0))
            one.close()
    assert refused > 50


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("ws://192.0.2.1:10001", "no token"),
        ("ws://127.example.org:10001", "no token"),
        ("ws://localhost.example.org:10001", "no token"),
        ("http://localhost:10001", "expected 'ws://host:port'"),
        ("localhost", "expected 'ws://host:port'"),
        ("ws://localhost:99999999", "expected 'ws://host:port'"),
        ("ws://localhost:1/x", "expected 'ws://host:port'"),
    ],
)
def test_a_wrong_or_foreign_address_is_refused(address, told):
    with pytest.raises(ModelError, match=told):
        HaplyDevice(address)


def test_a_token_is_sent():
    with Service() as service:
        HaplyDevice(service.address, token="secret").close()
        assert all(h["Authorization"] == "Bearer secret" for h in service.headers)


def test_what_is_no_service_is_told():
    def refuse(link, request):
        return link.respond(404, "nothing here\n")

    server = serve(lambda link: None, "127.0.0.1", 0, process_request=refuse)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with pytest.raises(DeviceError, match="is not a Haply Inverse service"):
        HaplyDevice(f"ws://127.0.0.1:{server.socket.getsockname()[1]}")
    server.shutdown()
