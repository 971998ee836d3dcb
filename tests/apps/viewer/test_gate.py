"""Who may talk to a page, and what they may say:
hostile pages, wrong tokens, and ten thousand malformed messages.
"""

import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest
from apps.pages import CAMERA, DRAG, free_port, pack, talk, until
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tabi.apps.viewer import gate
from tabi.apps.viewer.gate import Gate, is_local
from tabi.apps.viewer.live import Live
from tabi.apps.viewer.page import Page
from tabi.model.world import World


@pytest.fixture(scope="module")
def live():
    world = World()
    world.add_ground()
    world.add_box(size=(0.2, 0.2, 0.2), mass=2.0, position=(0.0, 0.0, 0.1))
    page = Page(world, port=free_port())
    live = Live(page, say=lambda line: None)
    live.start()
    assert until(lambda: live.player.sim is not None, 600)
    assert until(lambda: not live.controls.play.disabled, 10)
    yield live
    live.close()
    page.close()


# ---- who ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("localhost", True),
        ("127.0.0.7", True),
        ("0.0.0.0", False),
        ("192.0.2.1", False),
    ],
)
def test_only_addresses_of_this_machine_need_no_token(host, local):
    assert is_local(host) == local


def test_own_page_and_clients_without_a_page_are_let_in(live):
    port = live.page.server.get_port()
    with talk(port, origin=f"http://127.0.0.1:{port}") as own, talk(port) as none:
        assert len(own.recv(10)) > 16
        assert len(none.recv(10)) > 16


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://127.0.0.1:1",
        "http://localhost.evil.example",
        "null",
        "file://",
    ],
)
def test_page_of_another_site_cannot_open_a_websocket(live, origin):
    with (
        pytest.raises(InvalidStatus, match="403"),
        talk(live.page.server.get_port(), origin=origin),
    ):
        pass


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "[::2]:80", ""]
)
def test_foreign_name_for_this_machine_is_refused(live, host):
    request = urllib.request.Request(live.page.address, headers={"Host": host})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=10)
    assert refused.value.code in (400, 403)


def test_localhost_through_a_tunnel_is_let_in(live):
    request = urllib.request.Request(live.page.address, headers={"Host": "localhost:9999"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.status == 200
        assert answer.headers["X-Frame-Options"] == "DENY"
        assert answer.headers["Content-Security-Policy"] is None


def test_only_pages_of_this_machine_may_frame_a_page_that_stands_in_a_notebook(live):
    live.page.gate.framed = True
    with urllib.request.urlopen(live.page.address, timeout=10) as answer:
        assert answer.headers["X-Frame-Options"] is None
        policy = answer.headers["Content-Security-Policy"]
    live.page.gate.framed = False
    allowed = policy.removeprefix("frame-ancestors ").split()
    assert allowed == ["'self'", "http://127.0.0.1:*", "http://localhost:*"]


def test_other_hosts_need_the_token_of_the_address():
    page = Page(World(), host="0.0.0.0", port=free_port())
    try:
        port, token = page.server.get_port(), page.gate.token
        assert token is not None
        assert page.address.endswith(f":{port}/?token={token}")
        for wrong in ("", "?token=", "?token=guess", f"?token={token}x", f"?x={token}"):
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/{wrong}", timeout=10)
            with pytest.raises(InvalidStatus, match="403"), talk(port, path=wrong):
                pass
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/?token={token}", timeout=10
        ) as answer:
            cookie = answer.headers["Set-Cookie"]
        assert "SameSite=Strict" in cookie
        assert "HttpOnly" in cookie
        # the page's WebSocket has no query: it brings the cookie
        with (
            talk(port, additional_headers={"Cookie": cookie.partition(";")[0]}) as own,
            talk(port, path=f"?token={token}") as other,
        ):
            assert len(own.recv(10)) > 16
            assert len(other.recv(10)) > 16
        with (
            pytest.raises(InvalidStatus, match="403"),
            talk(port, path=f"?token={token}", origin="http://evil.example"),
        ):
            pass
    finally:
        page.close()


def test_two_servers_have_two_tokens():
    tokens = {Gate(gate.secrets.token_urlsafe(16)).token for _ in range(2)}
    assert len(tokens) == 2
    assert min(map(len, tokens)) >= 16


def test_crowd_is_kept_out_and_those_inside_stay(live, monkeypatch):
    monkeypatch.setattr(gate, "MAX_PAGES", 2)
    port = live.page.server.get_port()
    assert until(lambda: len(live.page.gate.visitors) == 0, 10)
    with talk(port) as one, talk(port) as two:
        assert until(lambda: len(live.page.gate.visitors) == 2, 10)
        with pytest.raises(InvalidStatus, match="503"), talk(port):
            pass
        assert len(one.recv(10)) > 16
        assert len(two.recv(10)) > 16


# ---- what -----------------------------------------------------------------------------------


def update(live: Live, value, control=None, **more) -> dict:
    control = control or live.controls.friction
    return {
        "type": "GuiUpdateMessage",
        "uuid": control._impl.uuid,
        "updates": {"value": value} | more,
    }


def test_what_a_page_sends_passes(live):
    passes = live.page.gate.passes
    assert passes(pack(CAMERA))
    assert passes(pack(DRAG))
    assert passes(pack(update(live, 0.3)))
    assert passes(pack(update(live, True, live.controls.play)))
    assert passes(pack(update(live, "Reset", live.controls.time)))
    assert passes(
        pack({"type": "GetRenderResponseMessage", "payload": b"x" * 1_000_000, "render_uuid": "a"})
    )


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), -0.01, 1.51, 1e300, "0.3", None, [0.3], {}, True, b"0"]
)
def test_slider_takes_numbers_between_its_ends_only(live, value):
    assert not live.page.gate.passes(pack(update(live, value)))


def test_controls_take_their_own_kind_of_value_only(live):
    passes = live.page.gate.passes
    assert not passes(pack(update(live, "Explode", live.controls.time)))
    assert not passes(pack(update(live, 1, live.controls.shown["trails"])))
    # any attribute of a control could be set by name
    assert not passes(pack(update(live, 0.3, update_cb=[])))
    assert not passes(pack(update(live, 0.3) | {"uuid": "unknown"}))
    assert not passes(
        pack(
            {
                "type": "GuiUpdateMessage",
                "uuid": live.controls.friction._impl.uuid,
                "updates": {"max": 9.0},
            }
        )
    )
    live.controls.friction.disabled = True
    assert not passes(pack(update(live, 0.3)))
    live.controls.friction.disabled = False


@pytest.mark.parametrize(
    "message",
    [
        {"type": "ShareUrlRequest"},
        {
            "type": "FileTransferStartUpload",
            "source_component_uuid": "",
            "transfer_uuid": "",
            "filename": "",
            "mime_type": "",
            "part_count": 1,
        },
        {"type": "RunJavascriptMessage", "source": "1"},
        {"type": "Message"},
        {"type": 3},
        {"type": ["ViewerCameraMessage"]},
        {},
        [],
        7,
        CAMERA | {"fov": float("nan")},
        CAMERA | {"position": [1e300, 0.0, 0.0]},
        CAMERA | {"position": [0.0, 0.0]},
        CAMERA | {"extra": 1},
        {name: value for name, value in CAMERA.items() if name != "fov"},
        DRAG | {"end_position": [float("inf"), 0.0, 0.0]},
        DRAG | {"phase": "begin"},
        DRAG | {"name": "x" * 5000},
        DRAG | {"name": 5},
        DRAG | {"modifier": [[[[[[1]]]]]]},
        DRAG | {"owner": b"x" * 100_000},
    ],
    ids=str,
)
def test_other_messages_are_dropped(live, message):
    assert not live.page.gate.passes(pack(message)), message


def test_text_and_rubbish_are_dropped(live):
    passes = live.page.gate.passes
    assert not passes("text")
    assert not passes(b"")
    assert not passes(b"\xc1")
    # arrays inside each other, deeper than any stack
    assert not passes(b"\x91" * 60_000 + b"\x01")
    assert not passes(b"\x81\xa4type" * 10_000)


def malformed(rng: np.random.Generator, uuids: list[str]) -> bytes:
    """Rubbish, wrong types, or a good message with some bytes or fields changed."""
    kind = int(rng.integers(4))
    if kind == 0:
        return rng.bytes(int(rng.integers(0, 300)))
    odd = [
        None,
        True,
        -1,
        10**12,
        float("nan"),
        float("-inf"),
        1e308,
        "",
        "x" * 9000,
        b"\0" * 50,
        [],
        [[]],
        {},
        {"value": {}},
        [1.0] * 3,
        ["a"] * 3,
    ]
    good: dict = [
        CAMERA,
        DRAG,
        {"type": "GuiUpdateMessage", "uuid": str(rng.choice(uuids)), "updates": {"value": 0.5}},
    ][int(rng.integers(3))]
    if kind == 1:
        return pack(odd[int(rng.integers(len(odd)))])
    if kind == 2:
        changed = dict(good)
        for name in rng.choice(list(changed), size=int(rng.integers(1, 3))):
            changed[str(name)] = odd[int(rng.integers(len(odd)))]
        return pack(changed)
    raw = bytearray(pack(good))
    for _ in range(int(rng.integers(1, 8))):
        raw[int(rng.integers(len(raw)))] = int(rng.integers(256))
    return bytes(raw)


@pytest.mark.slow
def test_ten_thousand_malformed_messages_neither_crash_nor_hang_the_run(live, capfd):
    port, box = live.page.server.get_port(), live.player.sim
    uuids = [
        control._impl.uuid
        for control in (live.controls.friction, live.controls.restitution, live.controls.stiffness)
    ]
    failed: list[object] = []
    live.page.server._event_loop.set_exception_handler(lambda loop, context: failed.append(context))
    sent = [0] * 10

    def attack(k: int) -> None:
        rng = np.random.default_rng(k)
        while sent[k] < 1000:
            try:
                with talk(port) as client:
                    while sent[k] < 1000:
                        client.send(malformed(rng, uuids))
                        sent[k] += 1
                    # what nobody has read is lost when a connection is closed,
                    # and 400 are read in a second
                    until(lambda: live.page.gate.refused - refused > 9_500, 8)
            except (ConnectionClosed, OSError):
                sent[k] += 1

    before, refused = box.time, live.page.gate.refused
    threads = [threading.Thread(target=attack, args=(k,), daemon=True) for k in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sum(sent) >= 10_000
    # a few of the changed ones are good ones again
    assert live.page.gate.refused - refused > 8_000
    assert live.player.fault == ""
    assert live.player.playing
    assert live.player.sim.time > before
    after = live.player.sim.time
    assert until(lambda: live.player.sim.time > after + 0.2, 10)
    with urllib.request.urlopen(live.page.address, timeout=10) as answer:
        assert answer.status == 200
    with talk(port) as client:
        assert len(client.recv(10)) > 16
    assert failed == []
    assert "Traceback" not in capfd.readouterr().err
    # all of them are gone, and so are their hands
    assert until(lambda: not live.player.hands.springs, 10)


def test_message_too_large_ends_its_connection_only(live):
    port = live.page.server.get_port()
    with talk(port) as large, talk(port) as other:
        with pytest.raises(ConnectionClosed):
            large.send(b"\0" * (gate.MAX_PICTURE_BYTES + 1))
            while True:
                large.recv(10)
        assert len(other.recv(10)) > 16


@pytest.mark.slow
def test_flood_of_good_messages_is_read_no_faster_than_people_act(live):
    read = []
    real = live.page.gate.passes
    live.page.gate.passes = lambda raw: read.append(time.monotonic()) or real(raw)
    try:
        with talk(live.page.server.get_port()) as client:
            for _ in range(3 * gate.MAX_MESSAGE_RATE_HZ):
                client.send(pack(CAMERA))
            assert until(lambda: len(read) > gate.MAX_MESSAGE_RATE_HZ, 10)
            count = sum(t < read[0] + 0.9 for t in read)
    finally:
        del live.page.gate.passes
    # two seconds of the clock may touch that time
    assert count <= 2 * gate.MAX_MESSAGE_RATE_HZ + 2
