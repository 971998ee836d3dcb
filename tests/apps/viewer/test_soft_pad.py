"""Soft pads in a page: all of a face is drawn, where it is, in the right colours."""

import numpy as np
import pytest
from recording.test_pad_tracks import grid
from simulation.soft import block

import tabi
from tabi.apps.viewer.scene import DrawnScene
from tabi.apps.viewer.soft_pad import LEVELS, TRIANGLE_COUNT, SoftPad, levels, soft_of
from tabi.apps.viewer.view import Observer
from tabi.recording import pad_tracks
from tabi.spatial.transform import Transform


@pytest.fixture
def pad(server):
    face = grid()
    return SoftPad(server, "left", "/foot/pad0", Transform(), face, face)


def area(vertices, triangles):
    return pad_tracks.areas(np.asarray(vertices, float), np.asarray(triangles, np.int64)).sum()


def test_all_levels_together_are_the_face(pad):
    rng = np.random.default_rng(5)
    pad.draw(np.zeros((20, 3)), rng.uniform(0, 1e4, 20), highest=1e4)
    drawn = pad.drawn
    assert len(drawn) > 4
    # 24 triangles, each cut in four until there are enough
    count = sum(len(triangles) for _, triangles in drawn.values())
    assert count == 24 * 4**3
    assert count >= TRIANGLE_COUNT
    assert sum(area(*mesh) for mesh in drawn.values()) == pytest.approx(0.02, rel=1e-6)
    for vertices, triangles in drawn.values():
        assert np.array_equal(np.unique(triangles), np.arange(len(vertices)))
    # nothing presses: one mesh, with Euler's number of vertices of a cut grid of 4 by 3 cells
    pad.draw(np.zeros((20, 3)), np.zeros(20))
    ((level, (vertices, _)),) = pad.drawn.items()
    assert level == 0
    assert len(vertices) == (4 * 8 + 1) * (3 * 8 + 1)


def test_a_displacement_is_drawn_as_many_times_as_told(pad):
    U = np.zeros((20, 3))
    U[:, 2] = 1e-3 + 0.01 * pad.nodes[:, 0]
    pad.draw(U, np.zeros(20), factor=7.0)
    ((vertices, _),) = pad.drawn.values()
    assert vertices[:, 2] == pytest.approx(-0.02 + 7 * (1e-3 + 0.01 * vertices[:, 0]), abs=1e-7)


def test_levels_and_their_colours_follow_the_pressure(pad):
    part = np.linspace(0.0, 1.2, 200)
    found = levels(part)
    assert (np.diff(found) >= 0).all()
    assert found[0] == 0
    assert found[-1] == LEVELS
    grey = [np.dot(level.color, [0.299, 0.587, 0.114]) for level in pad.levels]
    assert (np.diff(grey) > 0).all()


def test_the_loaded_end_is_the_bright_one(pad):
    pressure = np.interp(pad.nodes[:, 0], [-0.1, 0.1], [0.0, 1e5])
    pad.draw(np.zeros((20, 3)), pressure, highest=1e5)
    middle = [float(v[t.astype(int)].mean(axis=(0, 1))[0]) for v, t in pad.drawn.values()]
    assert list(pad.drawn) == sorted(pad.drawn)
    assert (np.diff(middle) > 0).all()


def test_what_is_no_news_is_not_sent(pad, monkeypatch):
    U, pressure = np.zeros((20, 3)), np.full(20, 5e3)
    pad.draw(U, pressure, highest=1e4)
    sent = []
    api = pad.sides._impl.api
    monkeypatch.setattr(api, "_queue_scene_message", lambda message, *_: sent.append(message))
    pad.draw(U + 1e-7, pressure + 1.0, highest=1e4)
    assert sent == []
    pad.draw(U + 1e-3, pressure, highest=1e4)
    assert sent


def test_a_view_tells_what_the_simulator_says(server):
    world, box = block(viscosity=0.004, poisson_ratio=0.4, above=0.001)
    sim = tabi.Simulator(world)
    observer, (one,) = Observer(sim), soft_of(world)
    assert one.body is box
    assert one.name == "pad of box"
    for _ in range(3):
        sim.run(0.02)
        (view,) = observer.look().pads
        now, state = one.read(view), sim.pads[one.name]
        assert now.pressure == pytest.approx(state.pressure, abs=1e-9 * abs(state.pressure).max())
        assert now.sink == pytest.approx(state.sink)
        assert now.tilt == pytest.approx(state.tilt)
        carried = now.pressure @ state.areas
        assert carried == pytest.approx(sum(c.force[2] for c in sim.contacts), rel=1e-3, abs=1e-6)
    # kept, not shared with the simulation
    before = view.displacement.copy()
    sim.run(0.02)
    assert np.array_equal(view.displacement, before)


@pytest.mark.slow
def test_soles_are_drawn_by_themselves_under_their_feet(server):
    world = tabi.World()
    world.add_ground()
    robot = tabi.robots.hrp2()
    robot.add_soles(element_size=0.05)
    world.add_robot(robot)
    scene = DrawnScene(server, world)
    assert sorted(pad.name for pad in scene.pads) == ["left", "right"]
    for pad in scene.pads:
        ((vertices, _),) = pad.drawn.values()
        assert vertices[:, 2] == pytest.approx(np.full(len(vertices), pad.nodes[0, 2]))
        assert pad.thickness == pytest.approx(0.02)
        body = robot.feet[pad.name].body.name
        assert f"/{body}/pad" in pad.sides.name


def test_a_pad_that_moves_half_way_bulges_half_as_much(server):
    face = grid(3, 3)
    nodes, triangles = face
    n = len(nodes)
    skin = np.concatenate([nodes, nodes + np.array([0, 0, 0.01]), nodes + np.array([0, 0, 0.02])])
    sides = np.concatenate([triangles, triangles[:, ::-1] + 2 * n])
    pad = SoftPad(server, "left", "/foot/pad1", Transform(), face, (skin, sides))
    U = np.tile([1e-3, 0.0, 2e-3], (n, 1))
    pad.draw(U, np.zeros(n), factor=1.0)
    moved = pad._sides.sent["vertices"] - skin
    assert moved == pytest.approx(np.repeat([1.0, 0.5, 0.0], n)[:, None] * U[0], abs=1e-7)
    # the face is not drawn twice
    assert len(pad.sides.faces) == len(triangles)
