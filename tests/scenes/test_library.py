"""The built-in scenes do what their lines say."""

from math import cos, radians, sin

import numpy as np
import pytest

from tabi import scenes
from tabi.analysis.steered_measures import SteeredWatch
from tabi.analysis.walk_measures import WalkWatch, walkers
from tabi.model.ground_height import ground_height

G = 9.81


def ran(name: str, seconds: float | None = None, *settings: str):
    scene = scenes.load(name, settings)
    sim = scene.simulator()
    sim.run(scene.duration if seconds is None else seconds)
    return sim


@pytest.mark.slow
@pytest.mark.parametrize("name", scenes.names())
def test_every_scene_runs_certified_from_its_start(name):
    sim = ran(name, 0.2)
    assert sim.certificate.missed == 0
    assert np.isfinite(sim.state.q).all()


def test_cubes_stop_after_v2_over_2_mu_g():
    sim = ran("slide")
    for name, mu in (("slippery", 0.2), ("middling", 0.4), ("rough", 0.8)):
        # first order in the step: half a step at the initial speed
        assert sim.position(name)[0] == pytest.approx(2.0**2 / (2 * mu * G), abs=2.0 * sim.dt)


def test_below_the_angle_of_friction_a_box_stays_and_above_it_slides():
    sim = ran("slope", 1.0)
    start = scenes.load("slope").simulator()
    assert np.linalg.norm(sim.position("stays") - start.position("stays")) < 1e-9
    alpha = radians(20)
    distance = 0.5 * G * (sin(alpha) - 0.33 * cos(alpha))
    # first order in the step: half a step at the final speed
    assert np.linalg.norm(sim.position("slides") - start.position("slides")) == pytest.approx(
        distance, abs=1e-3
    )


def test_the_stack_stands():
    sim = ran("stack", 1.0)
    assert sim.position("heavy5") == pytest.approx([0.0, 0.0, 0.95], abs=1e-6)


def test_the_last_ball_of_the_cradle_flies_off_alone():
    sim = ran("cradle", 0.45)
    speed = (2 * G * 0.6 * (1 - cos(radians(30)))) ** 0.5
    velocities = [sim.velocity(f"ball{k}").linear[0] for k in (1, 2, 3)]
    assert max(map(abs, velocities)) < 0.01 * speed
    # it has swung up for some hundredths of a second
    assert 0.9 * speed < sim.velocity("ball4").linear[0] < speed


def test_parcels_ride_at_the_speed_of_the_belt():
    sim = ran("conveyor", 0.5)
    assert sim.velocity("parcel1").linear[0] == pytest.approx(0.8, abs=1e-6)


@pytest.mark.slow
def test_balls_bounce_to_the_square_of_their_restitution():
    sim = ran("bounce", 0.0)
    fall = (2 * 0.92 / G) ** 0.5
    # up and down again takes ε of the time of the fall, each
    sim.run(fall * (1 + 0.8))
    assert sim.position("lively")[2] - 0.08 == pytest.approx(0.8**2 * 0.92, rel=5e-3)
    assert sim.position("dead")[2] == pytest.approx(0.08, abs=1e-6)


def test_every_domino_falls():
    sim = ran("dominoes", 1.5)
    for k in range(1, 13):
        # upright their middles are at 0.1 m
        assert sim.position(f"domino{k}")[2] < 0.08


def test_the_chain_of_the_linkage_stays_closed():
    sim = ran("linkage", 2.0)
    coupler, rocker = sim.pose("coupler"), sim.pose("rocker")
    assert np.linalg.norm(coupler @ np.array([0.25, 0, 0]) - rocker @ np.array([0, 0, 0.2])) < 1e-5


def test_who_is_pushed_stays_on_its_feet_and_who_lets_go_falls():
    pushed, limp = ran("push", 3.0), ran("fall", 1.0)
    assert not pushed.fallen(pushed.world.robots[0])
    assert limp.fallen(limp.world.robots[0])


@pytest.mark.slow
def test_the_cart_follows_the_hands():
    sim = ran("cart", 3.0)
    # the robot gives way a little
    assert sim.position("cart")[0] - 0.33851111078 == pytest.approx(0.05, abs=3e-3)
    assert sim.certificate.missed == 0


def test_the_tilted_robot_rocks_and_comes_to_rest_on_its_feet():
    scene = scenes.load("tilt-and-release")
    sim = scene.simulator()
    pitch = sim.model.q_index("left_bush_pitch")
    track = []
    for _ in range(round(scene.duration / sim.dt)):
        track.append(sim.data.q[pitch])
        sim.step()
    track = np.array(track) - track[-1]
    # more than one swing each way, and less than a thousandth of the tilt left
    assert (np.diff(np.sign(track[:1500])) != 0).sum() >= 3
    assert np.abs(track[-50:]).max() < 1e-3 * abs(track[0])
    assert not sim.fallen(sim.world.robots[0])


@pytest.mark.slow
def test_over_the_toes_each_foot_tips_once_and_the_robot_falls():
    sim = ran("toes")
    for foot in ("left", "right"):
        own = [(e.before, e.after) for e in sim.foot_events if e.foot == foot]
        tips = [pair for pair in own if pair[0][:4] == "face" and pair[1][:4] == "edge"]
        assert tips == [("face, stick", "edge, stick")]
    assert sim.fallen(sim.world.robots[0])
    assert sim.certificate.missed == 0


@pytest.mark.slow
def test_who_jumps_is_in_the_air_and_lands_on_its_feet():
    scene = scenes.load("bend-and-jump")
    sim = scene.simulator()
    none, heights = [], []
    sim.every(1, lambda data: none.append((data.memory.foot["state"] == 0).all()))
    sim.every(1, lambda data: heights.append(sim.position("left_foot")[2]))
    sim.run(scene.duration)
    flight = np.flatnonzero(none)
    # one flight, as high as that time takes, less what the feet are pulled up: v²/2g = g t²/8
    assert (np.diff(flight) == 1).all()
    time = len(flight) * sim.dt
    assert 0.08 < time < 0.1
    assert max(heights) - heights[0] > G * time**2 / 8 > 0.008
    assert not sim.fallen(sim.world.robots[0])
    assert {sim.foot(name).state for name in ("left", "right")} == {"face, stick"}
    assert sim.certificate.missed == 0


def test_two_force_plates_carry_who_squats_on_them():
    sim = ran("force-plates", 0.5)
    robot = sim.world.robots[0]
    told = [sim.sensor(f"{side} plate", truth=True) for side in ("left", "right")]
    # all that accelerates is the robot: the sum over the plates is that over its feet
    soles = sum(sim.foot_wrench(foot).force for foot in robot.feet.values())
    assert sum(one.force for one in told) == pytest.approx(soles, abs=1e-9)
    assert told[0].force[2] == pytest.approx(told[1].force[2], rel=0.02)
    assert sim.sensor("left plate").force[2] == round(told[0].force[2])
    assert sim.certificate.missed == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["push-recovery", "steer"])
def test_who_is_steered_or_pushed_steps_and_stands_upright_in_the_end(name):
    sim = scenes.load(name).simulator()
    watch, robot = SteeredWatch(sim), sim.world.robots[0]
    height = sim.position(robot.base)[2]
    sim.run(scenes.load(name).duration)
    found = watch.measured({})["hrp2"]
    assert not sim.fallen(robot)
    assert found.stands
    assert found.landed > 0
    assert not sim.missed
    # as upright and as high as it began, to what rubber and encoders leave
    assert sim.pose(robot.base).R[2, 2] > np.cos(np.radians(2.0))
    assert sim.position(robot.base)[2] == pytest.approx(height, abs=0.02)
    # the soles alone hold the capture point that far from their edges: half a sole is 0.07 m wide
    assert found.margin_m > 0.07


@pytest.mark.slow
@pytest.mark.parametrize("name", ["walk", "stairs-walk", "hrp1s-walk"])
def test_who_walks_lands_every_step_and_stays_up(name):
    scene = scenes.load(name)
    sim = scene.simulator()
    watch = WalkWatch(sim)
    sim.run(scene.duration)
    (found,) = watch.measured({}).values()
    assert (found.landed, found.finished) == (found.planned, True)
    # the bounds of one step without noise
    assert found.landing_m < 2e-3
    assert found.landing_deg < 0.2
    assert not sim.fallen(sim.world.robots[0])
    assert sim.certificate.missed == 0


@pytest.mark.slow
def test_on_stairs_whole_soles_are_on_the_treads():
    sim = scenes.load("stairs-walk").simulator()
    pattern = walkers(sim)["hrp2"].pattern
    height = ground_height(sim.world)
    assert len(pattern.steps) > 2
    for step in pattern.steps:
        outline = pattern.biped.outline[step.foot]
        corners = step.pose @ np.column_stack([outline, np.zeros(len(outline))])
        assert [height(x, y) for x, y, _ in corners] == pytest.approx([step.pose.p[2]] * 4)


@pytest.mark.slow
def test_on_rubber_who_walks_blindly_falls():
    sim = ran("walk", 6.0, "robots.0.motion.stabiliser=false")
    assert sim.fallen(sim.world.robots[0])
