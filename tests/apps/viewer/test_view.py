"""A view of a moment says what the simulator says."""

import dataclasses

import numpy as np
import pytest

from tabi.apps.viewer.marks.balance_marks import BalanceMarks, _hull
from tabi.apps.viewer.marks.batches import tilts
from tabi.apps.viewer.marks.contact_marks import ContactMarks
from tabi.apps.viewer.marks.foot_marks import FootMarks
from tabi.apps.viewer.marks.overlay import Overlay
from tabi.apps.viewer.scene import quaternions
from tabi.apps.viewer.view import Observer, bodies_of, feet_of
from tabi.control import hold
from tabi.dynamics import centre_of_mass
from tabi.model.world import World
from tabi.recording.foot_words import name_of
from tabi.scenes import cart
from tabi.simulation.simulator import Simulator
from tabi.spatial.transform import about, z_to


@pytest.fixture(scope="module")
def pushed():
    world, robot, _, _ = cart.build()
    sim = Simulator(world)
    sim.set_controller(robot, hold(cart.pose(robot)))
    sim.run(0.3)
    return sim, robot, Observer(sim).look()


def test_view_has_every_body_where_the_simulator_has_it(pushed):
    sim, _, view = pushed
    bodies = bodies_of(sim.world)
    assert len(view.positions) == len(bodies) == 33
    for body, p, R in zip(bodies, view.positions, view.rotations, strict=True):
        X = sim.pose(body)
        assert np.allclose(p, X.p, atol=1e-12)
        assert np.allclose(R, X.R, atol=1e-12)


def test_view_has_the_contacts_with_their_friction(pushed):
    sim, _, view = pushed
    contacts = sim.contacts
    assert len(view.points) == len(contacts) == 68
    assert np.allclose(view.forces, [c.force for c in contacts])
    assert np.array_equal(view.sliding, [c.status == "slip" for c in contacts])
    # the cart's feet 0.03, the load on the deck 0.6, soles and hands what the smaller of both is
    on_ground = [c.body_a.name == "cart" and c.body_b.name == "world" for c in contacts]
    assert sum(on_ground) == 48
    assert set(view.friction[on_ground]) == {0.03}


def test_view_has_pressure_support_and_balance_as_the_simulator(pushed):
    sim, robot, view = pushed
    assert list(feet_of(sim.world)) == list(robot.feet)
    for k, foot in enumerate(robot.feet.values()):
        told = sim.foot(foot)
        assert np.array_equal(view.pressures_in_foot[k], told.centre_of_pressure)
        assert name_of(int(view.soles.states[k])) == told.state == "face, stick"
        assert view.soles.margins[k] == told.margin
        assert {tuple(corner) for corner in np.round(view.soles.lit[k], 6)} == {
            tuple(corner) for corner in np.round(foot.polygon, 6)
        }
        X = sim.pose(foot)
        assert np.allclose(view.soles.positions[k], X.p)
        assert np.allclose(view.soles.rotations[k], X.R)
        assert np.allclose(view.pressures[k], X @ [*view.pressures_in_foot[k], 0.0])
        assert np.allclose(
            view.outlines[k], X @ np.column_stack([foot.polygon, np.zeros(len(foot.polygon))])
        )
        assert view.loads[k] == pytest.approx((X.R.T @ sim.foot_wrench(foot).force)[2])
    assert view.load == pytest.approx(
        sum(sim.foot_wrench(foot).force[2] for foot in robot.feet.values())
    )
    assert np.array_equal(view.zmp[0][:2], sim.zmp(robot))
    assert np.allclose(
        view.centres[0], centre_of_mass(sim.model, sim.state.q, robot.name), atol=1e-9
    )
    # the ground carries the robot at its soles only; the hands lie on the cart
    assert len(view.supports[0]) == 8
    assert view.residual == sim.certificate.residual


def test_view_of_a_world_in_the_air_is_empty_but_for_its_bodies():
    world = World()
    world.add_box(size=(0.1, 0.1, 0.1), mass=1.0)
    view = Observer(Simulator(world)).look()
    assert view.points.shape == (0, 3)
    assert view.pressures.shape == (0, 3)
    assert view.zmp.shape == (0, 3)
    assert view.soles.lit == []
    assert view.load == 0.0
    assert len(view.positions) == 1


def test_feet_in_the_air_bear_nothing_and_an_overlay_says_so():
    from tabi.apps.viewer.gate import open_server
    from tabi.robots import hrp2

    world = World()
    world.add_robot(hrp2())
    sim = Simulator(world)
    sim.step()
    view = Observer(sim).look()
    assert view.soles.states.tolist() == [0, 0]
    assert np.isnan(view.soles.margins).all()
    server, _ = open_server("127.0.0.1", 0)
    try:
        overlay = Overlay(server, soles=[foot.polygon for foot in feet_of(world).values()])
        overlay.draw(view)
        assert overlay.of(FootMarks).labels == ["none", "none"]
        # the outline of the sole is theirs, until they are hidden
        assert not overlay.of(BalanceMarks).outline.handle.visible
        overlay.shown["states of feet"] = False
        overlay.draw(view)
        assert overlay.of(FootMarks).labels == ["", ""]
        assert overlay.of(BalanceMarks).outline.handle.visible
    finally:
        server.stop()


def test_quaternions_are_those_of_single_rotations():
    rng = np.random.default_rng(0)
    X = [
        about(rng.normal(size=3), angle)
        for angle in (0.0, 1e-9, 0.5, 2.0, 3.0, np.pi, 3.5)
        for _ in range(5)
    ]
    got = quaternions(np.array([x.R for x in X]))
    assert np.allclose(np.linalg.norm(got, axis=1), 1.0)
    # q and −q are the same rotation
    assert np.allclose(np.abs(np.sum(got * [x.quaternion for x in X], axis=1)), 1.0, atol=1e-12)


def test_tilts_take_the_z_axis_to_the_normal():
    rng = np.random.default_rng(1)
    axes = rng.normal(size=(20, 3))
    axes = np.vstack(
        [axes / np.linalg.norm(axes, axis=1, keepdims=True), [[0, 0, 1.0], [0, 0, -1.0]]]
    )
    expected = quaternions(np.array([z_to(a) for a in axes]))
    assert np.allclose(np.abs((tilts(axes) * expected).sum(axis=1)), 1.0, atol=1e-9)


def test_support_of_a_line_is_no_polygon_and_of_a_square_its_corners():
    assert _hull(np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])) is None
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 0]])
    assert len(_hull(square)) == 4


def test_overlay_draws_a_cone_of_the_friction_angle_at_every_pressing_contact(pushed):
    from tabi.apps.viewer.gate import open_server

    _, _, view = pushed
    server, _ = open_server("127.0.0.1", 0)
    try:
        overlay = Overlay(server)
        overlay.draw(view)
        pressing = (view.normals * view.forces).sum(axis=1) > 0
        scales = overlay.of(ContactMarks).cones.node.sent["batched_scales"][: pressing.sum()]
        assert np.allclose(scales[:, 0] / scales[:, 2], view.friction[pressing], rtol=1e-6)
        assert overlay.of(BalanceMarks).centre.handle.visible
        assert np.allclose(
            overlay.of(BalanceMarks).centre.node.sent["batched_positions"][0],
            view.centres[0],
            atol=1e-6,
        )
        overlay.shown["centre of mass"] = False
        overlay.draw(view)
        assert not overlay.of(BalanceMarks).centre.handle.visible
        assert overlay.newtons == ""
        # a trail is the way from one moment to the next, in the air and on the ground
        overlay.shown["trails"] = True
        for k in range(1, 4):
            overlay.draw(
                dataclasses.replace(view, time=view.time + 0.1 * k, centres=view.centres + 0.01 * k)
            )
        assert overlay.of(BalanceMarks).trail.handle.visible
        assert overlay.of(BalanceMarks).trail.node.sent["points"].shape == (6, 2, 3)
        assert np.allclose(
            overlay.of(BalanceMarks).trail.node.sent["points"][-2, 1],
            view.centres[0] + 0.03,
            atol=1e-6,
        )
    finally:
        server.stop()


def test_arrows_and_cones_are_those_on_the_upper_body_whichever_comes_first(pushed):
    from tabi.apps.viewer.gate import open_server

    _, _, view = pushed
    server, _ = open_server("127.0.0.1", 0)
    try:
        told = []
        for sign in (1.0, -1.0):
            overlay = Overlay(server)
            overlay.draw(
                dataclasses.replace(view, normals=sign * view.normals, forces=sign * view.forces)
            )
            told.append(
                [
                    marks.node.sent["batched_wxyzs"].copy()
                    for marks in (overlay.of(ContactMarks).cones, overlay.of(ContactMarks).shafts)
                ]
            )
        # of two side by side neither is the upper one
        pressing = (view.normals * view.forces).sum(axis=1) > 0
        upright = np.flatnonzero(view.normals[pressing, 2] > 0.5)
        assert len(upright) > 4
        for one, other in zip(*told, strict=True):
            assert np.array_equal(one[upright], other[upright])
    finally:
        server.stop()
