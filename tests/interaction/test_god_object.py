"""The ball that follows a hand and never enters, at half a metre a second."""

from itertools import pairwise

import numpy as np
import pytest

from tabi.interaction.god_object import GodObject, nearest
from tabi.interaction.surroundings import Near, Surroundings
from tabi.model.shape import Box, Convex, Cylinder, Ellipsoid, Sphere
from tabi.model.world import World
from tabi.simulation.simulator import Simulator
from tabi.soles import Layer
from tabi.spatial.transform import about

R, STEP = 0.005, 0.5e-3  # m; at 0.5 m/s and 1 kHz
DEEPEST = 1e-6


def corner() -> Simulator:
    world = World(gravity=(0.0, 0.0, 0.0))
    world.add_ground()
    world.add_box((0.1, 0.1, 0.1), 1.0, position=(9.0, 9.0, 9.0))
    world.add_fixed(Box((0.1, 1.0, 1.0)), (0.55, 0.0, 0.5))
    world.add_fixed(Box((1.0, 0.1, 1.0)), (0.0, 0.55, 0.5))
    return Simulator(world)


def line(*corners):
    for a, b in pairwise(corners):
        a, b = np.array(a, float), np.array(b, float)
        count = int(np.linalg.norm(b - a) / STEP) + 1
        for i in range(1, count + 1):
            yield a + (b - a) * i / count


def sweep(ball: GodObject, path) -> np.ndarray:
    """Follow the path; the ball stays outside, and what it leans on makes up p − x."""
    x = np.zeros(3)
    for x in path:
        ball.follow(x)
        gaps = [near.gap for near in ball.around.near(ball.position, R)]
        assert min(gaps, default=0.0) > -DEEPEST
        total = sum((press.part for press in ball.presses), np.zeros(3))
        if np.linalg.norm(x - ball.position) > 1e-6:
            assert total == pytest.approx(ball.position - x, abs=1e-7)
        for press in ball.presses:
            assert press.part @ press.near.normal > 0
    return x


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ((0.2, 0.1, -0.05), (0.2, 0.1, R)),
        ((0.52, 0.1, -0.05), (0.5 - R, 0.1, R)),
        ((0.52, 0.53, 0.2), (0.5 - R, 0.5 - R, 0.2)),
        ((0.53, 0.52, -0.01), (0.5 - R, 0.5 - R, R)),
    ],
)
def test_floor_walls_and_corners_hold_it_each_by_its_own_part(goal, expected):
    ball = GodObject(Surroundings(corner(), R))
    x = sweep(ball, line((0.2, 0.1, 0.2), goal))
    assert ball.position == pytest.approx(expected, abs=1e-9)
    apart = np.array(expected) - x
    assert len(ball.presses) == np.count_nonzero(np.abs(apart) > 1e-9)
    for press in ball.presses:
        axis = int(np.abs(press.near.normal).argmax())
        assert press.part[axis] == pytest.approx(apart[axis], abs=1e-9)


@pytest.mark.parametrize(
    "geometry",
    [
        Sphere(0.05),
        Cylinder(0.05, 0.1),
        Ellipsoid((0.05, 0.03, 0.07)),
        Box((0.1, 0.06, 0.08)),
        Convex(
            0.07 * np.array([[0, 0, 1.0], [1, 0, -0.4], [-0.5, 0.8, -0.4], [-0.5, -0.8, -0.4]]),
            np.array([[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]], np.int32),
        ),
    ],
)
def test_every_shape_is_felt_from_outside_and_left_where_the_hand_leaves_it(geometry):
    world = World(gravity=(0.0, 0.0, 0.0))
    world.add_box((0.1, 0.1, 0.1), 1.0, position=(9.0, 9.0, 9.0))
    world.add_fixed(geometry, quaternion=about((1, 2, 3), 0.7).quaternion)
    ball = GodObject(Surroundings(Simulator(world), R))
    end = sweep(ball, line((-0.2, 0.01, 0.02), (0.0, 0.02, -0.01), (0.02, 0.2, 0.03)))
    assert ball.position == pytest.approx(end, abs=1e-9)
    assert ball.presses == []


def test_a_ball_on_a_ball_is_on_the_line_to_the_middle():
    world = World(gravity=(0.0, 0.0, 0.0))
    world.add_sphere(0.05, 1.0)
    ball = GodObject(Surroundings(Simulator(world), R))
    x = sweep(ball, line((-0.2, 0.01, 0.02), (-0.03, 0.02, 0.025)))
    assert ball.position == pytest.approx((0.05 + R) * x / np.linalg.norm(x), abs=1e-7)


@pytest.mark.slow
def test_a_height_field_is_not_entered_in_hollows_nor_on_ridges():
    rng = np.random.default_rng(1)
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, 21), np.linspace(-0.5, 0.5, 21))
    rough = 0.03 * rng.random((21, 21))
    for heights in (rough, 0.05 * np.sin(9 * x) * np.cos(7 * y)):
        world = World(gravity=(0.0, 0.0, 0.0))
        world.add_box((0.1, 0.1, 0.1), 1.0, position=(9.0, 9.0, 9.0))
        world.add_height_field(heights, (1.0, 1.0))
        for friction in (0.0, 0.5):
            ball = GodObject(Surroundings(Simulator(world), R), friction)
            sweep(ball, line((-0.1, -0.1, 0.06), (0.0, -0.1, -0.02), (0.04, 0.0, 0.0)))
            assert ball.presses


def test_a_soft_pad_is_not_entered():
    world = World(gravity=(0.0, 0.0, 0.0))
    box = world.add_box((0.1, 0.1, 0.1), 1.0)
    box.add_pad("+z", Layer(0.01, 1e5, 0.3), element_size=0.025, cache=False)
    ball = GodObject(Surroundings(Simulator(world), R))
    x = sweep(ball, line((0.013, 0.0, 0.1), (0.0, 0.017, 0.055)))
    # box, pad and radius
    assert ball.position == pytest.approx([x[0], x[1], 0.06 + R], abs=1e-9)
    assert [press.near.link for press in ball.presses] == ["box"]


@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0])
def test_it_sticks_within_the_cone_of_the_depth_and_slides_on_its_edge(mu):
    ball = GodObject(Surroundings(corner(), R), mu)
    sweep(ball, line((0.1, 0.0, 0.05), (0.1, 0.0, -0.02)))
    depth = 0.02 + R
    start, x = ball.position.copy(), 0.1
    for x in 0.1 + np.arange(0.0, 0.06, STEP):
        ball.follow(np.array([x, 0.0, -0.02]))
        side = min(x - 0.1, mu * depth)
        assert ball.position == pytest.approx([x - side, 0.0, R], abs=1e-9)
        assert start[2] == pytest.approx(R)


def test_friction_is_carried_by_the_body_that_moves():
    world = World(gravity=(0.0, 0.0, 0.0))
    world.add_box((0.1, 0.1, 0.1), 1.0)
    sim = Simulator(world)
    ball = GodObject(Surroundings(sim, R), 0.5)
    x = np.array([0.01, 0.0, 0.05 + R - 0.01])
    ball.follow(np.array([0.01, 0.0, 0.08]))
    ball.follow(x)
    q = sim.model.initial()
    q[0] += 0.003
    sim.set_state(q)
    ball.follow(x)
    assert ball.position == pytest.approx([0.013, 0.0, 0.05 + R], abs=1e-9)


def test_the_step_is_the_projection_on_what_all_planes_leave():
    rng = np.random.default_rng(5)
    for count in (1, 2, 3, 5, 8):
        for _ in range(20):
            # all look upwards: far up there is room
            normals = rng.normal(size=(count, 3))
            normals[:, 2] = 0.2 + np.abs(normals[:, 2])
            normals /= np.linalg.norm(normals, axis=1)[:, None]
            gaps, way = rng.normal(size=count) * 0.01, rng.normal(size=3) * 0.03
            near = [Near(0, "", np.zeros(3), n, g) for n, g in zip(normals, gaps, strict=True)]
            step, loads = nearest(way, near)
            # the conditions of Karush, Kuhn and Tucker
            slack = normals @ step + gaps
            assert slack.min() > -1e-8
            assert step - way == pytest.approx(
                sum((l * normals[i] for i, l in loads.items()), np.zeros(3)), abs=1e-8
            )
            for i, load in loads.items():
                assert load >= 0
                assert abs(slack[i]) < 1e-8 or load < 1e-8


def test_between_walls_that_leave_no_room_it_stays_finite():
    planes = [
        Near(0, "", np.zeros(3), np.array([1.0, 0, 0]), -0.01),
        Near(0, "", np.zeros(3), np.array([-1.0, 0, 0]), -0.01),
    ]
    step, _ = nearest(np.array([0.0, 0.001, 0.0]), planes)
    assert np.isfinite(step).all()
    assert abs(step[0]) <= 0.01
