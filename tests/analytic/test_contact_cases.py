"""Closed forms of frictional contact: sliding, rolling, stacks and hyperstatic rests, articulated.

Where the motion is uniformly accelerated the scheme's velocities are exact, and positions are early or late by half a
step: x = a t²/2 + a h t/2, so errors halve with the step. Bounces of the reference cases need restitution, and are not here.
"""

import json
from math import cos, pi, radians, sin, tan

import numpy as np
import pytest

import tabi
from tabi.model.joint import Joint, Motor
from tabi.model.robot import Robot
from tabi.model.shape import Box, Capsule, HalfSpace, Shape, Sphere
from tabi.spatial.inertia import Inertia
from tabi.spatial.transform import translation

G = 9.81
# velocities after many steps: each may be off by the tolerance of 1e-8 m/s
EXACT = 2e-6


@pytest.fixture(scope="module")
def cases(shared):
    path = shared / "data" / "analytic_cases.json"
    if not path.is_file():
        pytest.skip("analytic_cases.json not found in ../shared/data")
    return json.loads(path.read_text())


def tilted(angle, friction):
    """Ground whose downhill is +x."""
    world = tabi.World(gravity=(G * sin(angle), 0.0, -G * cos(angle)))
    world.add_ground(friction=friction)
    return world


def with_box(angle, friction, mass=1.0, size=(0.4, 0.4, 0.1)):
    world = tilted(angle, friction)
    return world, world.add_box(size, mass, friction=friction, position=(0, 0, size[2] / 2))


def with_ball(angle, friction, radius=0.1, mass=1.0):
    world = tilted(angle, friction)
    return world, world.add_sphere(radius, mass, friction=friction, position=(0, 0, radius))


def run(world, duration, velocity=(), dt=1e-3, tolerance=1e-8):
    """A simulator after a time, started with the first velocities given."""
    sim = tabi.Simulator(world, dt=dt, tolerance=tolerance)
    v = np.zeros(sim.model.v_count)
    v[: len(velocity)] = velocity
    sim.set_state(sim.model.initial(), v)
    sim.run(duration)
    assert sim.missed_count == 0
    return sim


def first_order(error):
    """Errors at 2 ms and 1 ms, checked to halve."""
    coarse, fine = error(2e-3), error(1e-3)
    assert coarse / fine == pytest.approx(2.0, abs=0.15)
    return fine


# ---- the reference cases --------------------------------------------------------------------


def test_a01_a_block_slides_down_an_incline(cases):
    case = cases["A01_block_slides_incline"]
    world, box = with_box(radians(case["theta_deg"]), case["mu"])
    assert run(world, 1.0).velocity(box).linear[0] == pytest.approx(case["v_at_1s"], abs=EXACT)
    error = first_order(lambda dt: abs(run(world, 1.0, dt=dt).position(box)[0] - case["x_at_1s"]))
    assert error == pytest.approx(case["a"] * 1e-3 / 2, rel=1e-3)


@pytest.mark.parametrize("share", [0.999, 1.001])
def test_a02_a_block_sticks_above_tan_theta_and_slides_below(cases, share):
    case = cases["A02_block_sticks_incline"]
    angle, mu = radians(case["theta_deg"]), share * case["mu_stick_min"]
    world, box = with_box(angle, mu)
    speed = run(world, 1.0, tolerance=1e-10).velocity(box).linear[0]
    expected = max(0.0, G * (sin(angle) - mu * cos(angle)))
    assert speed == pytest.approx(expected, abs=1e-7)


def test_a03_a_block_brakes(cases):
    case = cases["A03_block_brakes"]
    world, box = with_box(0.0, case["mu"])
    sim = run(world, case["t_stop"] - 0.0077472, (case["v0"],))
    assert sim.velocity(box).linear[0] == pytest.approx(case["mu"] * G * (case["t_stop"] - sim.time), abs=EXACT)
    # half of what the speed loses in a step is lost at once
    error = first_order(lambda dt: abs(run(world, 0.5, (case["v0"],), dt).position(box)[0] - case["x_stop"]))
    assert error < case["v0"] * 1e-3


@pytest.mark.parametrize("degrees", [0, 20, 45, 70, 90])
def test_a04_friction_is_the_same_in_all_directions(cases, degrees):
    case = cases["A04_cone_isotropy"]
    a = radians(degrees)
    direction = np.array([cos(a), sin(a), 0.0])
    for share in (0.999, 1.01):
        world, box = with_box(0.0, case["mu"], case["m"])
        sim = tabi.Simulator(world, tolerance=1e-10)
        sim.apply_force(box, share * case["F_slip"] * direction, duration=1.0)
        sim.run(0.2)
        expected = max(0.0, (share - 1.0) * case["F_slip"] / case["m"] * 0.2) * direction
        assert np.allclose(sim.velocity(box).linear, expected, atol=1e-7)


def test_a05_a_sliding_ball_begins_to_roll(cases):
    case = cases["A05_sphere_slide_to_roll"]
    world, ball = with_ball(0.0, case["mu"])
    before = run(world, case["t_roll"] - 0.0054133, (case["v0"],))
    assert before.velocity(ball).linear[0] == pytest.approx(case["v0"] - case["mu"] * G * before.time, abs=EXACT)
    after = run(world, 0.6, (case["v0"],))
    assert after.velocity(ball).linear[0] == pytest.approx(case["v_roll"], abs=EXACT)
    assert after.velocity(ball).angular[1] == pytest.approx(case["v_roll"] / 0.1, abs=10 * EXACT)
    x = case["x_roll"] + case["v_roll"] * (0.6 - case["t_roll"])
    assert first_order(lambda dt: abs(run(world, 0.6, (case["v0"],), dt).position(ball)[0] - x)) < 1e-3


def test_a06_a_spinning_ball_set_down_runs_off(cases):
    case = cases["A06_sphere_spin_drop"]
    world, ball = with_ball(0.0, case["mu"], case["R"])
    sim = run(world, 0.25, (0, 0, 0, 0, case["omega0"], 0))
    assert sim.velocity(ball).linear[0] == pytest.approx(case["mu"] * G * sim.time, abs=EXACT)
    sim.run(0.15)
    assert sim.velocity(ball).linear[0] == pytest.approx(case["v_final"], abs=EXACT)


def test_a07_a_ball_rolls_down_an_incline(cases):
    case = cases["A07_sphere_incline_roll"]
    world, ball = with_ball(radians(case["theta_deg"]), 1.1 * case["mu_min"], case["R"], case["m"])
    sim = run(world, 1.0)
    assert sim.velocity(ball).linear[0] == pytest.approx(case["v_1s"], abs=EXACT)
    assert -sum(c.force[0] for c in sim.contacts) == pytest.approx(case["ft"], rel=1e-5)
    assert first_order(lambda dt: abs(run(world, 1.0, dt=dt).position(ball)[0] - case["a"] / 2)) < 1e-3


def test_a08_a_cylinder_rolls_down_an_incline(cases):
    case = cases["A08_cylinder_incline_roll"]
    world = tilted(radians(case["theta_deg"]), 1.2 * case["mu_min"])
    # its axis along y
    roller = world.add_cylinder(0.1, 0.3, 1.0, friction=1.0, position=(0, 0, 0.1), quaternion=(cos(pi / 4), sin(pi / 4), 0, 0))
    sim = run(world, 0.5)
    assert sim.velocity(roller).linear[0] == pytest.approx(0.5 * case["a"], abs=10 * EXACT)
    assert sim.velocity(roller).angular[1] == pytest.approx(5.0 * case["a"], abs=100 * EXACT)


def test_a10_a_tray_of_balls_is_pulled_across_the_axes(cases):
    case = cases["A10_SimBenchmark_rolling"]
    world = tabi.World()
    world.add_ground(friction=0.4)
    tray = world.add_box((3.0, 3.0, 0.2), 10.0, friction=0.8, position=(0, 0, 0.1), name="tray")
    balls = [
        world.add_sphere(0.1, 1.0, friction=0.8, position=(0.5 * i, 0.5 * k, 0.3), name=f"ball{i}{k}") for i in range(-2, 3) for k in range(-2, 3)
    ]
    sim = tabi.Simulator(world, dt=2e-3)
    sim.apply_force(tray, (150 / np.sqrt(2), 150 / np.sqrt(2), 0), duration=1.0, point=(0, 0, -0.1))
    sim.run(0.4)
    share = 0.4 / np.sqrt(2)
    assert np.allclose(sim.velocity(tray).linear, (share * case["a_box"], share * case["a_box"], 0), atol=2e-5)
    for ball in balls:
        assert np.allclose(sim.velocity(ball).linear, (share * case["a_ball"], share * case["a_ball"], 0), atol=2e-5)


# ---- sliding --------------------------------------------------------------------------------


def test_a_block_thrown_across_the_axes_goes_straight_and_stops():
    mu, v0, a = 0.3, 1.5, radians(37)
    world, box = with_box(0.0, mu)
    sim = run(world, 0.7, (v0 * cos(a), v0 * sin(a)))
    x, y, _ = sim.position(box)
    assert np.hypot(x, y) == pytest.approx(v0**2 / (2 * mu * G), abs=v0 * 1e-3)
    assert y / x == pytest.approx(tan(a), rel=1e-5)
    assert np.abs(sim.velocity(box).linear).max() < 1e-7


def test_a_block_thrown_uphill_stops_and_stays_there():
    mu, angle, v0 = 0.4, radians(15), 2.0
    world, box = with_box(angle, mu)
    way = v0**2 / (2 * G * (sin(angle) + mu * cos(angle)))
    assert first_order(lambda dt: abs(run(world, 0.6, (-v0,), dt).position(box)[0] + way)) < v0 * 1e-3
    assert abs(run(world, 0.6, (-v0,)).velocity(box).linear[0]) < 1e-7


def test_a_spinning_block_is_slowed_by_friction_at_its_four_corners():
    mu, side, spin, t = 0.2, 0.4, 10.0, 0.2
    world, box = with_box(0.0, mu, size=(side, side, 0.1))
    # torque μ m g d at the corners' distance d = side/√2, over the moment m side²/6
    rate = mu * G * (side / np.sqrt(2)) / (side**2 / 6)
    sim = run(world, t, (0, 0, 0, 0, 0, spin))
    assert sim.velocity(box).angular[2] == pytest.approx(spin - rate * t, rel=2e-3)
    assert np.abs(sim.velocity(box).linear).max() < 1e-4
    sim.run(0.5)
    assert np.abs(sim.state.v).max() < 1e-6


def test_a_block_pulled_up_and_forward_weighs_less_and_slides_sooner():
    mass, mu, force = 2.0, 0.5, (12.0, 0.0, 8.0)
    world, box = with_box(0.0, mu, mass)
    sim = tabi.Simulator(world)
    # below the tipping moment: at the height of the ground
    sim.apply_force(box, force, duration=1.0, point=(0, 0, -0.05))
    sim.run(0.3)
    assert sim.velocity(box).linear[0] == pytest.approx((force[0] - mu * (mass * G - force[2])) / mass * 0.3, abs=EXACT)
    assert sum(c.force[2] for c in sim.contacts) == pytest.approx(mass * G - force[2], abs=1e-4)


# ---- rolling --------------------------------------------------------------------------------


def test_a_ball_on_a_slope_too_smooth_slides_and_turns():
    angle, mu, radius = radians(40), 0.1, 0.1
    assert mu < 2 / 7 * tan(angle)
    world, ball = with_ball(angle, mu, radius)
    sim = run(world, 0.5)
    assert sim.velocity(ball).linear[0] == pytest.approx(G * (sin(angle) - mu * cos(angle)) * 0.5, abs=EXACT)
    assert sim.velocity(ball).angular[1] == pytest.approx(2.5 * mu * G * cos(angle) / radius * 0.5, abs=100 * EXACT)


def test_backspin_is_paid_from_the_speed():
    v0, back, radius = 2.0, 30.0, 0.1
    world, ball = with_ball(0.0, 0.4, radius)
    sim = run(world, 1.0, (v0, 0, 0, 0, -back, 0))
    # angular momentum about the contact is kept: v (1 + 2/5) = v0 − 2/5 R ω
    assert sim.velocity(ball).linear[0] == pytest.approx((5 * v0 - 2 * radius * back) / 7, abs=EXACT)


def test_a_hollow_ball_rolls_slower_than_a_solid_one():
    angle, radius = radians(20), 0.1
    world = tilted(angle, 0.8)
    ball = world.add_object(Sphere(radius), Inertia(1.0, np.zeros(3), 2 / 3 * radius**2 * np.eye(3)), position=(0, 0, radius))
    assert run(world, 0.5).velocity(ball).linear[0] == pytest.approx(3 / 5 * G * sin(angle) * 0.5, abs=EXACT)


def test_a_ball_pushed_at_seven_fifths_of_its_radius_rolls_without_friction():
    radius, force = 0.1, 3.0
    world, ball = with_ball(0.0, 0.5, radius)
    sim = tabi.Simulator(world)
    # the point turns with the ball: one step at a time
    for _ in range(100):
        point = sim.pose(ball).R.T @ np.array([0, 0, 0.4 * radius])
        sim.apply_force(ball, (force, 0, 0), point=point)
        sim.step()
    assert sim.velocity(ball).linear[0] == pytest.approx(force * 0.1, abs=EXACT)
    assert abs(sum(c.force[0] for c in sim.contacts)) < 1e-4


# ---- stacks and hyperstatic rests -----------------------------------------------------------


def test_in_a_tower_each_joint_carries_what_is_above():
    world, masses = tabi.World(), (5.0, 1.0, 3.0, 2.0)
    world.add_ground()
    for k, mass in enumerate(masses):
        world.add_box((0.3 - 0.05 * k, 0.3 - 0.05 * k, 0.2), mass, position=(0, 0, 0.1 + 0.2 * k), name=f"box{k}")
    sim = run(world, 0.3)
    for k in range(len(masses)):
        carried = sum(c.force[2] * (1 if c.body_a.name == f"box{k}" else -1) for c in sim.contacts if f"box{k}" in (c.body_a.name, c.body_b.name))
        assert carried == pytest.approx(masses[k] * G, abs=1e-4)
    ground = sum(c.force[2] for c in sim.contacts if c.body_b.name == "world")
    assert ground == pytest.approx(sum(masses) * G, abs=1e-4)


def ladder(angle, mu, radius=0.02, length=2.0, mass=5.0):
    """A capsule against a smooth wall; forces by moments about its lower centre, the floor's friction below it."""
    world = tabi.World()
    world.add_ground(friction=mu)
    foot, phi = np.array([0.0, 0.0, radius]), pi / 2 - angle
    wall = length * cos(angle) + radius
    world.add_fixed(HalfSpace(), (wall, 0, 0), (cos(pi / 4), 0, -sin(pi / 4), 0), friction=0.0, name="wall")
    middle = foot + length / 2 * np.array([cos(angle), 0, sin(angle)])
    body = world.add_capsule(radius, length, mass, friction=1.0, position=middle, quaternion=(cos(phi / 2), 0, sin(phi / 2), 0), name="ladder")
    return world, body, mass * G * length * cos(angle) / (2 * (length * sin(angle) + radius)), mass * G


def test_a_ladder_leans_with_the_force_that_moments_ask_for():
    angle = radians(60)
    world, body, push, weight = ladder(angle, 0.6)
    sim = run(world, 0.3, tolerance=1e-10)
    wall = sum(-c.force[0] for c in sim.contacts if abs(c.normal[0]) > 0.9)
    floor = sum(c.force for c in sim.contacts if c.normal[2] > 0.9)
    assert wall == pytest.approx(push, rel=1e-4)
    assert np.allclose(floor, (push, 0, weight), rtol=1e-4, atol=1e-3)
    assert np.abs(sim.velocity(body).linear).max() < 1e-7


@pytest.mark.parametrize(("share", "stands"), [(1.02, True), (0.98, False)])
def test_a_ladder_stands_as_long_as_friction_carries_the_push_of_the_wall(share, stands):
    angle = radians(60)
    _, _, push, weight = ladder(angle, 1.0)
    world, body, _, _ = ladder(angle, share * push / weight)
    speed = np.linalg.norm(run(world, 0.4, tolerance=1e-10).velocity(body).linear)
    assert speed < 1e-7 if stands else speed > 1e-2


@pytest.mark.parametrize(("share", "stands"), [(0.98, True), (1.02, False)])
def test_a_cupboard_pushed_high_up_tips_at_half_its_width(share, stands):
    width, height, mass, at = 0.2, 0.6, 3.0, 0.5
    world = tabi.World()
    world.add_ground(friction=0.8)
    box = world.add_box((width, 0.4, height), mass, friction=0.8, position=(0, 0, height / 2))
    sim = tabi.Simulator(world, tolerance=1e-10)
    force = share * mass * G * width / 2 / at
    sim.apply_force(box, (force, 0, 0), duration=1.0, point=(0, 0, at - height / 2))
    sim.run(0.2)
    turning = sim.velocity(box).angular[1]
    if stands:
        assert abs(turning) < 1e-7
        pressing = [c for c in sim.contacts if c.pressing]
        cop = sum(c.point[0] * c.force[2] for c in pressing) / sum(c.force[2] for c in pressing)
        assert cop == pytest.approx(share * width / 2, rel=1e-5)
    else:
        # about its edge: (F at − m g width/2) over m (width² + height²)/3, growing from there
        start = 0.02 * mass * G * width / 2 / (mass * (width**2 + height**2) / 3)
        assert turning > start * 0.2


def test_a_plank_on_two_rails_shares_a_load_by_the_lever_rule():
    plank, load, span, at = 4.0, 6.0, 2.0, 0.5
    world = tabi.World()
    for x in (-span / 2, span / 2):
        world.add_fixed(Capsule(0.05, 0.6), (x, 0, -0.05), (cos(pi / 4), sin(pi / 4), 0, 0), name=f"rail{x:g}")
    world.add_box((2.6, 0.4, 0.1), plank, position=(0, 0, 0.05), name="plank")
    world.add_box((0.2, 0.2, 0.2), load, position=(at, 0, 0.2), name="load")
    sim = run(world, 0.2)
    right = sum(c.force[2] for c in sim.contacts if c.body_b.name == "world" and c.point[0] > 0)
    left = sum(c.force[2] for c in sim.contacts if c.body_b.name == "world" and c.point[0] < 0)
    assert right == pytest.approx(G * (plank / 2 + load * (at + span / 2) / span), abs=1e-3)
    assert left == pytest.approx(G * (plank / 2 + load * (span / 2 - at) / span), abs=1e-3)


# ---- articulated ----------------------------------------------------------------------------

SMALL = Inertia(0.5, np.zeros(3), 1e-3 * np.eye(3))


def walker(off, apart=0.3):
    """A trunk whose centre of mass lies ``off`` to the left, on two legs with hinges; each foot is two balls, one behind the other."""
    robot = Robot("walker")
    robot.add_body("trunk", Joint("root", "floating"), None, Inertia(10.0, np.array([0.0, off, 0.2]), 0.2 * np.eye(3)))
    for side, y in (("left", apart / 2), ("right", -apart / 2)):
        balls = [Shape(Sphere(0.05), translation((x, 0, -0.45)), name=f"{side}{x}") for x in (-0.1, 0.1)]
        hip = Joint(f"{side}_hip", "revolute", translation((0, y, 0)), axis=(0, 1, 0), motor=Motor(kp=2e3, kd=50.0))
        robot.add_body(f"{side}_leg", hip, "trunk", SMALL, balls)
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(robot)
    robot.place((0, 0, 0.5))
    return world, robot


@pytest.mark.parametrize("off", [0.0, 0.06, -0.1])
def test_two_feet_share_the_weight_by_the_lever_rule(off):
    world, robot = walker(off)
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold({}))
    sim.run(0.5)
    load = {side: sum(c.force[2] for c in sim.contacts if c.body_a.name.endswith(f"{side}_leg")) for side in ("left", "right")}
    # each leg's own weight stands on itself
    left = G * (0.5 + 10.0 * (0.15 + off) / 0.3)
    assert load["left"] == pytest.approx(left, abs=0.01)
    assert load["right"] == pytest.approx(11.0 * G - left, abs=0.01)


def test_on_one_foot_the_ankle_carries_the_weight_times_its_lever():
    ahead, mass, foot, kp = 0.04, 8.0, 1.0, 1e4
    robot = Robot("heron")
    sole = Shape(Box((0.3, 0.2, 0.1)), translation((0, 0, -0.05)), name="sole")
    robot.add_body("foot", Joint("root", "floating"), None, Inertia(foot, np.array([0, 0, -0.05]), 0.01 * np.eye(3)), [sole])
    ankle = Joint("ankle", "revolute", axis=(0, 1, 0), motor=Motor(kp=kp, kd=200.0))
    robot.add_body("body", ankle, "foot", Inertia(mass, np.array([ahead, 0, 0.6]), 0.1 * np.eye(3)))
    robot.add_foot("foot", "foot", [(-0.15, -0.1), (0.15, -0.1), (0.15, 0.1), (-0.15, 0.1)], position=(0, 0, -0.1))
    world = tabi.World()
    world.add_ground()
    robot = world.add_robot(robot)
    robot.place((0, 0, 0.1))
    sim, seen = tabi.Simulator(world), []

    def controller(time, measurement):
        seen.append(measurement)
        return tabi.Command(position=0.0, velocity=0.0)

    sim.set_controller(robot, controller)
    sim.run(1.0)
    # kp q = −(weight × lever), the lever at the angle it sags to
    q = 0.0
    for _ in range(50):
        q = mass * G * (ahead * cos(q) + 0.6 * sin(q)) / kp
    lever = ahead * cos(q) + 0.6 * sin(q)
    assert seen[-1].position[0] == pytest.approx(q, abs=1e-6)
    assert seen[-1].effort[0] == pytest.approx(-mass * G * lever, abs=1e-3)
    assert sim.centre_of_pressure(robot.feet["foot"])[0] == pytest.approx(mass * lever / (mass + foot), abs=1e-5)


def test_a_piston_pushes_a_block_along_the_floor():
    force, mass, piston, mu = 20.0, 2.0, 1.5, 0.4
    robot = Robot("press")
    robot.add_body("stand", Joint("stand", "fixed"))
    tip = Shape(Sphere(0.05), name="tip")
    robot.add_body("piston", Joint("slide", "prismatic", translation((-0.25, 0, 0.1)), axis=(1, 0, 0)), "stand", Inertia(piston), [tip])
    world = tabi.World()
    world.add_ground(friction=mu)
    box = world.add_box((0.4, 0.4, 0.2), mass, friction=mu, position=(0, 0, 0.1))
    robot = world.add_robot(robot)
    world.set_pair("box", robot.body("piston").shapes[0].material.name, friction=0.0)
    a = (force - mu * mass * G) / (mass + piston)

    def pushed(dt):
        sim = tabi.Simulator(world, dt=dt)
        sim.set_controller(robot, lambda t, m: tabi.Command(effort=force))
        sim.run(0.4)
        return sim

    sim = pushed(1e-3)
    assert sim.velocity(box).linear[0] == pytest.approx(a * 0.4, abs=10 * EXACT)
    between = [c for c in sim.contacts if abs(c.normal[0]) > 0.9]
    assert abs(sum(c.force[0] for c in between)) == pytest.approx(force - piston * a, rel=1e-4)
    assert first_order(lambda dt: abs(pushed(dt).position(box)[0] - a * 0.4**2 / 2)) < 1e-3
