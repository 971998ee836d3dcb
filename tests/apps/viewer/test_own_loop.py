"""A page for one's own loop: it follows, it pulls, and it leaves no trace in the run."""

import contextlib
import sys
import threading
import time

import numpy as np
import pytest
from apps.pages import DRAG, free_port, pack, until, visiting
from bipeds import hrp2_on_ground

import tabi
from tabi.apps.viewer.watching import look_again


def cratered(**options) -> tabi.Simulator:
    """A crate that slides on the ground."""
    world = tabi.World()
    world.add_ground(friction=0.3)
    world.add_box(size=(0.2, 0.2, 0.2), mass=2.0, position=(0.0, 0.0, 0.1), name="box")
    return tabi.Simulator(world, **options)


@pytest.fixture
def shown(capsys):
    """A crate with its page."""
    with tabi.show(cratered(), port=free_port()) as page:
        yield page


def drawn(page) -> np.ndarray:
    """Where the crate is in the page [m]."""
    return page.page.scene.position(page.sim.world.objects[0])


def test_show_returns_at_once_and_says_where_the_page_is(capsys):
    sim, port = cratered(), free_port()
    page = tabi.show(sim, port=port)
    assert capsys.readouterr().out == f"The page is at http://127.0.0.1:{port}\n"
    assert page.url == f"http://127.0.0.1:{port}"
    assert repr(page) == f"<page of {sim!r} at {page.url}>"
    page.close()
    page.close()
    assert page.closed
    assert repr(page).endswith(", closed>")
    # the loop goes on without it
    sim.step()
    assert sim.data.steps == 1


@pytest.mark.slow
def test_page_follows_a_loop_and_shows_states_that_are_set_between_steps(shown):
    sim = shown.sim
    with visiting(shown):
        sim.set_state([0.0, 0.0, 0.1, 1, 0, 0, 0], [1.0, 0, 0, 0, 0, 0])
        x = []
        for _ in range(300):
            sim.step()
            x.append(sim.position("box")[0])
            time.sleep(1e-3)
        assert until(lambda: abs(drawn(shown)[0] - x[-1]) < 1e-6)
        assert x[-1] > 0.05
        # nobody steps: what is set is seen all the same, and what is restored
        saved = sim.save()
        sim.set_state([0.0, 0.7, 0.5, 1, 0, 0, 0])
        assert until(lambda: np.allclose(drawn(shown), (0.0, 0.7, 0.5), atol=1e-6))
        sim.restore(saved)
        assert until(lambda: abs(drawn(shown)[0] - x[-1]) < 1e-6)
        assert until(lambda: "waits for the next step" in shown.controls.text.content)


@pytest.mark.slow
def test_view_is_never_of_a_half_written_state():
    # a falling crate: height and time of every picture belong together
    world = tabi.World()
    world.add_box(size=(0.2, 0.2, 0.2), mass=2.0, position=(0.0, 0.0, 0.0), name="box")
    sim = tabi.Simulator(world)
    seen, g, dt = [], 9.81, sim.dt
    with tabi.show(sim, port=free_port()) as page, visiting(page):
        look = page._observer.look

        def watched(*args):
            view = look(*args)
            seen.append((view.time, float(view.positions[0, 2])))
            return view

        page._observer.look = watched
        saved, end, turns = sim.save(), time.monotonic() + 2.0, 0
        while time.monotonic() < end:
            turns += 1
            sim.step() if turns % 2 else sim.run(0.005)
            if sim.time > 1.0:
                sim.restore(saved)
            if turns % 1000 == 0:
                # long enough for the page to look by itself
                time.sleep(0.1)
    assert len(seen) > 20
    assert len({t for t, _ in seen}) > 10
    # z after n steps from rest: velocities grow by g dt a step, and z moves by the new one, the old
    # one or their mean
    for t, z in seen:
        n = round(t / dt)
        assert -0.5 * g * dt**2 * n * (n + 1) - 1e-9 <= z <= -0.5 * g * dt**2 * n * (n - 1) + 1e-9


def test_run_is_the_same_to_the_last_bit_with_a_page_and_without(capsys):
    sims = [cratered(), cratered()]
    for sim in sims:
        sim.set_state([0.0, 0.0, 0.15, 0.8, 0.6, 0.0, 0.0], [0.5, 0, 0, 0, 0, 1.0])
    with tabi.show(sims[0], port=free_port()) as page, visiting(page):
        for _ in range(50):
            sims[0].run(0.01)
            time.sleep(2e-3)
    sims[1].run(0.5)
    assert np.array_equal(sims[0].data.q, sims[1].data.q)
    assert np.array_equal(sims[0].data.v, sims[1].data.v)


def acting(sim: tabi.Simulator) -> int:
    """How many pushes the next step has."""
    return sum(push.until > sim.data.steps for push in sim.pushes)


def test_mouse_pulls_within_the_steps_of_the_loop(shown):
    sim = shown.sim
    with visiting(shown) as browser:
        browser.send(pack(DRAG | {"end_position": [2.0, 0.0, 0.5]}))
        assert until(lambda: len(shown._orders) > 0 or shown._hands.springs)
        pulled = []
        for _ in range(400):
            sim.step()
            pulled.append(acting(sim))
            time.sleep(5e-4)
        # it slides towards the mouse: 300 N/m beat a friction of 6 N
        assert sim.position("box")[0] > 0.05
        assert max(pulled) == 1
        assert until(lambda: shown.overlay.newtons.endswith(" N"))
        browser.send(pack(DRAG | {"phase": "end"}))
        assert until(lambda: len(shown._orders) > 0 or not shown._hands.springs)
        sim.run(0.05)
        assert acting(sim) == 0
        browser.send(pack(DRAG | {"end_position": [2.0, 0.0, 0.5]}))
        assert until(lambda: len(shown._orders) > 0)
        sim.run(0.01)
        assert acting(sim) == 1
    # a browser that is gone holds nothing
    assert until(lambda: (sim.run(0.01), not acting(sim))[1])


def test_error_of_the_loop_stands_in_the_panel_until_the_next_step(shown):
    sim = shown.sim

    def broken(data):
        raise ValueError("no such joint")

    with visiting(shown):
        scheduled = sim.every(1, broken)
        with pytest.raises(ValueError, match="no such joint"):
            sim.step()
        scheduled.cancel()
        assert until(
            lambda: "**stopped:** ValueError: no such joint" in shown.controls.text.content
        )
        sim.step()
        assert until(lambda: "stopped" not in shown.controls.text.content)

        def interrupted(data):
            raise KeyboardInterrupt

        scheduled = sim.every(1, interrupted)
        with pytest.raises(KeyboardInterrupt):
            sim.run(0.1)
        scheduled.cancel()
        assert until(lambda: "**stopped:** interrupted" in shown.controls.text.content)
        sim.step()
        assert not shown.closed


def test_fault_of_the_page_does_not_stop_the_loop(shown, monkeypatch):
    def fail(*args):
        raise RuntimeError("cannot look")

    with visiting(shown):
        monkeypatch.setattr(shown._observer, "look", fail)
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            shown.sim.step()
    assert shown.sim.data.steps > 10


def test_loop_may_run_in_a_thread_of_its_own_and_record(shown, tmp_path):
    sim = shown.sim
    with visiting(shown), sim.record(tmp_path / "run.hdf5", rate=100):
        thread = threading.Thread(target=lambda: sim.run(0.5))
        thread.start()
        thread.join()
    assert len(tabi.Recording.load(tmp_path / "run.hdf5").time) == 51


def test_page_of_a_loop_that_already_runs_shows_it(capsys):
    sim, ended = cratered(), threading.Event()
    sim.set_state([0.0, 0.0, 0.1, 1, 0, 0, 0], [1.0, 0, 0, 0, 0, 0])

    def loop() -> None:
        while not ended.is_set():
            sim.run(0.1)

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        with tabi.show(sim, port=free_port()) as page, visiting(page):
            # v²/(2 µ g) = 0.17 m until it stands
            assert until(lambda: abs(drawn(page)[0] - 0.17) < 0.01)
    finally:
        ended.set()
        thread.join()


@pytest.mark.slow
def test_event_driven_scheme_and_many_robots_are_followed(capsys):
    world = tabi.World()
    world.add_ground()
    for k in range(2):
        robot = world.add_robot(tabi.robots.hrp2(), name=f"hrp2_{k}")
        robot.stand_on_ground()
        robot.base.joint.position[1] = 1.5 * k
    sim = tabi.Simulator(world, scheme="event-driven")
    with tabi.show(sim, port=free_port()) as page, visiting(page):
        for _ in range(20):
            sim.step()
        last = world.robots[1].bodies[-1]
        assert until(
            lambda: np.allclose(page.page.scene.position(last), sim.position(last), atol=1e-6)
        )
        assert until(lambda: page.controls.details.content.count(" foot: ") == 4)


@pytest.mark.slow
def test_sensor_that_is_chosen_is_measured_and_plotted(capsys):
    world, _ = hrp2_on_ground()
    sim = tabi.Simulator(world)
    with tabi.show(sim, port=free_port()) as page, visiting(page):
        page.sensors.panel.choice.value = "imu"
        for _ in range(100):
            sim.step()
            time.sleep(2e-3)
        assert until(lambda: "accelerometer" in page.sensors.panel.text.content)


def test_real_time_holds_the_loop_back(shown):
    shown.real_time = True
    sim = shown.sim
    begin = time.monotonic()
    sim.run(0.3)
    # no upper bound: a busy machine is late
    assert time.monotonic() - begin >= 0.29
    assert shown.controls.real_time.value
    # by the box in the page too
    shown.controls.real_time.value = False
    assert not shown.real_time


def test_second_show_of_a_simulator_is_the_same_page_unless_it_names_another_port(shown):
    assert tabi.show(shown.sim) is shown
    assert tabi.show(shown.sim, port=shown.port, real_time=True) is shown
    assert shown.real_time
    with tabi.show(shown.sim, port=free_port()) as other:
        assert other is not shown
        assert other.url != shown.url
    shown.close()
    with tabi.show(shown.sim, port=free_port()) as new:
        assert new is not shown


def test_notebook_shows_the_page_in_a_frame(shown):
    html = shown._repr_html_()
    assert f'<iframe src="{shown.url}"' in html
    assert shown.page.gate.framed
    shown.close()
    assert "<iframe" not in shown._repr_html_()


def test_wait_for_viewer_gives_up_in_time_and_when_the_page_is_closed(shown):
    assert not shown.wait_for_viewer(0.05)
    thread = threading.Timer(0.1, shown.close)
    thread.start()
    assert not shown.wait_for_viewer(30)
    thread.join()


def test_closing_gives_back_how_often_threads_take_turns(capsys):
    before = sys.getswitchinterval()
    with tabi.show(cratered(), port=free_port()):
        assert sys.getswitchinterval() <= 5.1e-4
    assert sys.getswitchinterval() == pytest.approx(before)


def test_view_can_be_reset_where_nobody_looks(shown):
    assert look_again(shown.page.server, None) is None
    assert "hold the steps back" in shown.controls.real_time.hint


@pytest.mark.parametrize(
    ("thing", "options", "sentence"),
    [
        ("world", {}, "show was given World; expected a Simulator, as in tabi.show(tabi.Simul"),
        ("sim", {"port": 0}, "port is 0; expected a whole number from 1 to 65535"),
        ("sim", {"port": 70000}, "port is 70000; expected a whole number"),
        ("sim", {"port": "8080"}, "port is '8080'; expected a whole number"),
        ("sim", {"host": "192.0.2.1"}, "is not an address of this machine"),
    ],
)
def test_what_cannot_be_shown_is_refused_in_a_sentence(thing, options, sentence):
    sim = cratered()
    with pytest.raises(tabi.TabiError) as told:
        tabi.show(sim.world if thing == "world" else sim, **options)
    assert sentence in str(told.value)


def test_port_in_use_is_refused_with_the_way_out(shown):
    import socket

    with pytest.raises(tabi.TabiError, match="already shows another simulator; close that page"):
        tabi.show(cratered(), port=shown.port)
    with contextlib.closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(tabi.TabiError, match="is in use by another program; end it, or choose"):
            tabi.show(cratered(), port=taken.getsockname()[1])
