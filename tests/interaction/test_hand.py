"""A hand that holds and touches what a simulation moves, against closed forms and laws."""

from dataclasses import replace

import numpy as np
import pytest
from worlds import random_robot

from tabi._errors import ModelError
from tabi.control import hold
from tabi.interaction.coupling import Placement
from tabi.interaction.device_law import make_law
from tabi.interaction.devices.protocol import DeviceError, HandReading
from tabi.interaction.hand import RELEASE_DISTANCE, HapticHand, Lockstep
from tabi.interaction.local_model import LocalModel, Mode
from tabi.interaction.mouse_spring import Hands
from tabi.interaction.simulated_device import SampledHandle, SpringHand
from tabi.model.shape import Box
from tabi.model.world import World
from tabi.robots.hrp2 import hrp2
from tabi.simulation.simulator import Simulator
from tabi.soles import Layer
from tabi.spatial.transform import about

PRESSED = (True,)


class Said:
    """A source that says what the test says, and remembers what it was told."""

    def __init__(self, position=(0.0, 0.0, 0.0), **parts):
        self.reading = HandReading(np.array(position, float), **{"buttons": PRESSED} | parts)
        self.model = LocalModel()

    def latest(self):
        return self.reading

    def tell(self, vector):
        self.model = LocalModel.from_vector(vector)

    def say(self, **parts):
        self.reading = replace(self.reading, **parts)


def box(mass=2.0, size=0.1, dt=1e-3, gravity=(0.0, 0.0, 0.0)) -> Simulator:
    world = World(gravity=gravity)
    world.add_box(size=(size, size, size), mass=mass)
    return Simulator(world, dt=dt)


def run(sim, hands, steps):
    for _ in range(steps):
        for hand in hands:
            hand.pull()
        sim.step()


def damped(t: np.ndarray, omega: float) -> np.ndarray:
    """Step response of ẍ + √2 ω ẋ + ω² x = ω² to a goal that jumps to one and stands there."""
    a = omega / np.sqrt(2)
    return 1 - np.exp(-a * t) * (np.cos(a * t) + np.sin(a * t))


# ω = √(k/m)
@pytest.mark.slow
@pytest.mark.parametrize(("mass", "dt"), [(2.0, 1e-3), (0.75, 1e-3), (2.0, 2e-4)])
def test_a_held_box_answers_a_step_as_a_spring_of_damping_ratio_one_over_root_two(mass, dt):
    sim, said = box(mass, dt=dt), Said()
    hand, omega = HapticHand(sim, said, stiffness=300.0), np.sqrt(300.0 / mass)
    assert omega * dt <= 0.02 + 1e-12
    hand.pull()
    said.say(position=np.array([0.03, 0.0, -0.04]))
    t, x = [], []
    while sim.time < 8 / omega:
        hand.pull()
        sim.step()
        t.append(sim.time)
        x.append(sim.position("box") / 0.05)
    expected = np.outer(damped(np.array(t), omega), [0.6, 0.0, -0.8])
    assert np.abs(np.array(x) - expected).max() < 0.01


def test_a_held_box_turns_by_the_same_law():
    sim, said = box(6.0, 0.1), Said()
    inertia, k = 6.0 * 0.1**2 / 6, 1.0
    hand, omega = HapticHand(sim, said, turn_stiffness=k), np.sqrt(k / inertia)
    assert omega * sim.dt <= 0.02 + 1e-12
    hand.pull()
    axis, angle = np.array([1.0, 2.0, -2.0]) / 3, 0.3
    said.say(quaternion=about(axis, angle).quaternion)
    worst = 0.0
    while sim.time < 8 / omega:
        hand.pull()
        sim.step()
        X = sim.pose("box")
        goal = about(axis, angle * float(damped(np.array(sim.time), omega))).R
        worst = max(worst, float(np.linalg.norm(X.R - goal)) / np.sqrt(2))
        assert np.abs(X.p).max() < 1e-9
    assert worst < 0.01 * angle


def test_the_hand_feels_the_opposite_and_momentum_is_the_impulse():
    sim, said = box(), Said((0.04, 0.02, 0.0))
    hand, impulse, spin = HapticHand(sim, said), np.zeros(3), np.zeros(3)
    hand.pull()
    said.say(position=np.array([0.2, 0.1, 0.05]))
    for _ in range(300):
        hand.pull()
        impulse += sim.dt * hand.force
        spin += sim.dt * np.cross(hand.band().point, hand.force)
        sim.step()
        m = sim.momentum("box")
        assert m.linear == pytest.approx(impulse, abs=1e-9)
        about_origin = m.angular + np.cross(sim.position("box"), m.linear)
        # the push is turned with the body once a step
        assert about_origin == pytest.approx(spin, abs=2e-3 * max(1e-2, np.linalg.norm(spin)))


def test_work_on_a_free_box_is_its_kinetic_energy_to_first_order():
    found = []
    for dt in (1e-3, 5e-4):
        sim, said = box(dt=dt), Said((0.04, 0.02, 0.0))
        hand = HapticHand(sim, said, turn_stiffness=0.5)
        hand.pull()
        said.say(position=np.array([0.1, 0.1, 0.05]), quaternion=about((1, 0, 1), 0.5).quaternion)
        run(sim, [hand], round(0.15 / dt))
        hand.pull()
        energy = sim.energy.kinetic
        found.append(abs(hand.work + hand.turn_work - energy) / energy)
    assert found[0] < 0.05
    assert found[1] < 0.6 * found[0]


@pytest.mark.slow
def test_two_hands_on_one_body_pull_independently_and_hold_it_between_them():
    sim = box()
    a, b = Said((0.04, 0.0, 0.0)), Said((-0.04, 0.0, 0.0))
    hands = [HapticHand(sim, a), HapticHand(sim, b)]
    for hand in hands:
        hand.pull()
    a.say(position=np.array([0.1, 0.06, 0.0]))
    b.say(position=np.array([-0.02, 0.06, 0.0]))
    run(sim, hands, 4000)
    # forces along the line between both points, and none in sum; springs of 300 N/m over 2 cm
    assert hands[0].force == pytest.approx(-hands[1].force, abs=1e-3)
    assert hands[0].force == pytest.approx([300 * 0.02, 0.0, 0.0], abs=2e-2)
    assert sim.position("box") == pytest.approx([0.04, 0.06, 0.0], abs=1e-4)


def test_it_takes_what_is_near_when_the_button_is_pressed_and_lets_go_with_it():
    sim, said = box(), Said((0.3, 0.0, 0.0))
    hand = HapticHand(sim, said)
    run(sim, [hand], 3)
    assert hand.holds is None
    said.say(position=np.array([0.055, 0.0, 0.0]))
    run(sim, [hand], 3)
    # the button was pressed in the air
    assert hand.holds is None
    said.say(buttons=(False,))
    run(sim, [hand], 1)
    said.say(buttons=PRESSED)
    run(sim, [hand], 1)
    assert hand.holds == "box"
    said.say(position=np.array([0.1, 0.0, 0.0]))
    run(sim, [hand], 1)
    assert hand.force[0] > 0
    assert said.model.mode is Mode.ATTACH
    said.say(buttons=(False,))
    before = sim.velocity("box").linear
    run(sim, [hand], 5)
    assert hand.holds is None
    assert not hand.force.any()
    assert said.model.mode is Mode.FREE
    assert sim.velocity("box").linear == pytest.approx(before, rel=0.02, abs=1e-12)


def test_a_given_body_is_held_from_afar_without_a_jump():
    sim, said = box(), Said((5.0, -3.0, 1.0))
    hand = HapticHand(sim, said, body="box", button=None)
    run(sim, [hand], 5)
    assert hand.holds == "box"
    assert np.abs(hand.force).max() < 1e-12
    said.say(position=np.array([5.01, -3.0, 1.0]))
    hand.pull()
    assert hand.force == pytest.approx([3.0, 0.0, 0.0], rel=1e-9)


@pytest.mark.parametrize(
    "bad",
    [
        {"position": np.array([np.nan, 0, 0])},
        {"velocity": np.array([0, np.inf, 0])},
        {"quaternion": np.zeros(4)},
        {"quaternion": np.array([np.nan, 0, 0, 1])},
        {"spin": np.array([0, 0, -np.inf])},
        {"position": np.zeros(2)},
        {"position": "abc"},
        {"time": np.nan},
    ],
)
@pytest.mark.parametrize("mode", ["attach", "touch"])
def test_readings_that_cannot_be_push_nothing(bad, mode):
    sim, said = box(), Said((0.04, 0.0, 0.0))
    hand = HapticHand(sim, said, mode=mode)
    run(sim, [hand], 2)
    sim.set_state(sim.model.initial())
    said.say(**bad)
    run(sim, [hand], 3)
    assert not hand.force.any()
    assert np.abs(sim.velocity("box").linear).max() == 0
    assert said.model.mode is Mode.FREE


def test_silence_and_a_body_that_is_far_away_end_the_grasp():
    sim, said = box(), Said()
    hand = HapticHand(sim, said)
    run(sim, [hand], 2)
    assert hand.holds == "box"
    q = sim.model.initial()
    q[2] = -RELEASE_DISTANCE - 0.5
    sim.set_state(q)
    run(sim, [hand], 3)
    assert hand.holds is None
    assert not hand.force.any()
    sim.reset()
    said.say(buttons=(False,))
    run(sim, [hand], 1)
    said.say(buttons=PRESSED)
    run(sim, [hand], 1)
    assert hand.holds == "box"
    said.reading = None
    run(sim, [hand], 2)
    assert hand.holds is None
    assert not hand.band().force.any()


@pytest.mark.slow
@pytest.mark.parametrize("mass", [1e-4, 1e-2, 1.0, 100.0])
def test_bodies_of_any_mass_come_to_the_hand_and_stay(mass):
    sim, said = box(mass), Said((0.05, 0.05, 0.05))
    hand = HapticHand(sim, said, stiffness=3000.0, turn_stiffness=30.0)
    hand.pull()
    said.say(position=np.array([0.15, 0.05, 0.05]))
    run(sim, [hand], 4000)
    assert hand.band().point == pytest.approx([0.15, 0.05, 0.05], abs=1e-3)
    assert sim.energy.kinetic < 1e-4


def test_the_clutch_moves_the_hand_and_not_the_body():
    sim, said = box(), Said()
    frame = about((0, 0, 1), np.pi / 2, (0.0, 0.0, 0.0))
    hand = HapticHand(sim, said, placement=Placement(frame, scale=2.0, clutch=1))
    run(sim, [hand], 2)
    said.say(buttons=(True, True))
    for x in np.linspace(0, 0.1, 20):
        said.say(position=np.array([x, 0.0, 0.0]))
        run(sim, [hand], 1)
        assert said.model.clutched
    assert np.abs(sim.position("box")).max() < 1e-12
    said.say(buttons=PRESSED)
    run(sim, [hand], 1)
    assert not said.model.clutched
    assert np.abs(hand.force).max() < 1e-9
    said.say(position=np.array([0.11, 0.0, 0.0]))
    hand.pull()
    # 1 cm along the device's x is 2 cm along the world's y
    assert hand.band().target == pytest.approx([0.0, 0.02, 0.0], abs=1e-12)


def test_a_wall_is_felt_as_stiffness_times_depth_and_a_touched_body_gets_the_opposite():
    world = World(gravity=(0.0, 0.0, 0.0))
    world.add_fixed(Box((0.1, 1.0, 1.0)), (0.5, 0.0, 0.0))
    world.add_box((0.1, 0.1, 0.1), 2.0)
    sim, said = Simulator(world), Said((0.2, 0.3, 0.0))
    hand = HapticHand(sim, said, mode="touch", stiffness=800.0, radius=4e-3)
    law = make_law(force_limit=1e3, passive=False)
    for x in np.arange(0.43, 0.47, 0.5e-3):
        said.say(position=np.array([x, 0.3 + 0.1 * x, 0.02]), velocity=np.array([0.5, 0.05, 0]))
        run(sim, [hand], 1)
        depth = max(0.0, x - (0.45 - 4e-3))
        # hand.force is on what is touched
        assert hand.force == pytest.approx([800.0 * depth, 0.0, 0.0], abs=1e-6)
        felt, _, _ = law(said.reading, said.model.to_vector(), 1e-3)
        assert felt == pytest.approx([-800.0 * depth, 0.0, 0.0], abs=1e-6)
    said.say(position=np.array([0.0, 0.0, 0.1]), velocity=np.zeros(3))
    run(sim, [hand], 1)
    said.say(position=np.array([0.0, 0.0, 0.0535]))
    hand.pull()
    assert hand.force == pytest.approx([0.0, 0.0, -0.4], abs=1e-6)
    sim.step()
    assert sim.velocity("box").linear == pytest.approx([0, 0, -0.4 * 1e-3 / 2], rel=1e-6)


def test_a_body_on_the_ground_is_pushed_along_and_momentum_is_the_impulse():
    world = World(gravity=(0.0, 0.0, 0.0))
    world.add_box((0.1, 0.1, 0.1), 0.5)
    sim, said = Simulator(world), Said((-0.08, 0.0, 0.0))
    hand, impulse = HapticHand(sim, said, mode="touch", stiffness=500.0), np.zeros(3)
    for i in range(600):
        x = -0.08 + 0.2 * i * sim.dt
        said.say(position=np.array([x, 0.0, 0.0]), velocity=np.array([0.2, 0, 0]))
        hand.pull()
        impulse += sim.dt * hand.force
        sim.step()
        assert sim.momentum("box").linear == pytest.approx(impulse, abs=1e-9)
    # pushed away once, it leaves as fast as the hand comes or faster, never through it
    assert sim.velocity("box").linear[0] >= 0.2 - 1e-3
    assert sim.position("box")[0] > x + 0.05


@pytest.mark.slow
def test_robots_are_held_by_any_link_and_with_locked_joints():
    world = World(gravity=(0.0, 0.0, 0.0))
    robot = world.add_robot(random_robot(4, kinds=("revolute", "prismatic")))
    sim, link = Simulator(world), robot.bodies[-1]
    sim.prescribe(robot)
    said = Said()
    hand = HapticHand(sim, said, body=link, button=None, stiffness=100.0)
    run(sim, [hand], 1)
    start = hand.band().point
    before = {name: sim.q[sim.q_slice(name)] for name in robot.joint_names}
    away = np.array([0.05, -0.02, 0.03])
    said.say(position=said.reading.position + away)
    run(sim, [hand], 6000)
    for name, q in before.items():
        assert sim.q[sim.q_slice(name)] == pytest.approx(q, abs=1e-9), name
    # the whole robot comes along
    assert hand.band().point == pytest.approx(start + away, abs=2e-3)


def test_hands_of_pages_take_it_as_one_of_their_springs():
    sim, said = box(), Said()
    hands = Hands()
    hands.take("haptic", HapticHand(sim, said))
    hands.pull()
    said.say(position=np.array([0.1, 0.0, 0.0]))
    hands.pull()
    (band,) = hands.bands()
    assert band.target == pytest.approx([0.1, 0.0, 0.0])
    assert band.force[0] > 0
    # a page's mouse does not move it
    hands.move("haptic", (9.0, 9.0, 9.0))
    assert hands.bands()[0].target == pytest.approx([0.1, 0.0, 0.0])


@pytest.mark.slow
def test_a_simulated_hand_in_lockstep_lifts_a_box_and_feels_its_weight():
    sim = box(0.3, gravity=(0.0, 0.0, -9.81))

    def wants(t):
        return (0.0, 0.0, min(0.1 * t, 0.1))

    device = SampledHandle(0.1, SpringHand(500.0, 10.0, 20.0, wants), clock=lambda: sim.time)
    device.buttons = PRESSED
    hand = HapticHand(sim, Lockstep(device, sim))
    run(sim, [hand], 4000)
    # at rest both springs carry the weight
    weight = 0.3 * 9.81
    assert device.force[2] == pytest.approx(-weight, rel=1e-3)
    assert sim.position("box")[2] == pytest.approx(0.1 - weight / 500 - weight / 300, abs=1e-4)


@pytest.mark.slow
def test_a_light_handle_and_a_heavy_box_come_to_go_together_and_only_a_bare_law_makes_energy():
    found = {}
    for passive in (True, False):
        sim, mass = box(10.0), 0.05
        law = make_law(force_limit=1e3, mass=mass, longest=1e-3, passive=passive)
        device = SampledHandle(mass, None, velocity=(0.3, 0.1, 0.0), clock=lambda s=sim: s.time)
        device.buttons = PRESSED
        hand = HapticHand(sim, Lockstep(device, sim, law), stiffness=1000.0)
        start = energy = worst = 0.5 * mass * float(np.dot(device.v, device.v))
        for _ in range(1000):
            hand.pull()
            sim.step()
            energy = 0.5 * mass * float(np.dot(device.v, device.v)) + sim.energy.kinetic
            worst = max(worst, energy)
        found[passive] = (worst - start, energy / start)
        if passive:
            assert device.v == pytest.approx(sim.velocity("box").linear, abs=1e-3)
    # one step late the box has been pushed by springs of up to k (v h)² more
    assert found[True][0] < 10 * 1000.0 * (0.32 * 1e-3) ** 2
    assert found[True][1] < 0.1
    assert found[False][0] > 0.1


def test_a_device_that_fails_pushes_nothing():
    class Broken(SampledHandle):
        def read(self):
            raise DeviceError("the device does not answer")

    sim = box()
    hand = HapticHand(sim, Lockstep(Broken(), sim), body="box", button=None)
    run(sim, [hand], 3)
    assert not hand.force.any()


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"mode": "grab"}, "'attach' or 'touch'"),
        ({"stiffness": -1.0}, "stiffness"),
        ({"stiffness": np.nan}, "stiffness"),
        ({"turn_stiffness": np.inf}, "turn_stiffness"),
        ({"friction": -0.1}, "friction"),
        ({"radius": 0.0}, "radius"),
        ({"body": "nobody"}, "nobody"),
    ],
)
def test_hands_that_cannot_be_are_refused(given, what):
    with pytest.raises(ModelError, match=what):
        HapticHand(box(), Said(), **given)


def test_the_world_itself_cannot_be_held():
    sim = box()
    with pytest.raises(ModelError, match="cannot be held"):
        HapticHand(sim, Said(), body=sim.world.fixed)


def test_hrp2_is_led_by_a_hand_while_it_stands_and_its_contacts_stay_certified():
    world = World()
    world.add_ground()
    robot = world.add_robot(hrp2())
    sim = Simulator(world)
    sim.set_controller(robot, hold(robot.half_sitting))
    sim.run(0.3)
    said = Said((5.0, 5.0, 5.0))
    hand = HapticHand(sim, said, body="right_hand", stiffness=300.0)
    hand.pull()
    felt = []
    for i in range(500):
        away = 0.05 * min(i / 200, 1.0)
        said.say(position=np.array([5.0 + away, 5.0, 5.0]))
        hand.pull()
        sim.step()
        assert i % 50 or sim.certificate.converged
        felt.append(float(hand.force[0]))
    assert sim.missed_count == 0
    assert not sim.fallen(robot)
    # the arm is held by its motors: most of 300 N/m over 5 cm is felt
    assert 5.0 < felt[-1] <= 15.0 + 1e-9
    # the feet carry the weight, and what pulls at the hand
    load = sum(sim.foot_wrench(foot).force for foot in robot.feet.values())
    weight = 9.81 * sim.mass_matrix(robot)[0, 0]
    assert load[2] == pytest.approx(weight, rel=0.05)


def test_links_of_a_robot_are_touched_and_pushed():
    world = World()
    world.add_ground()
    robot = world.add_robot(hrp2())
    sim = Simulator(world)
    sim.set_controller(robot, hold(robot.half_sitting))
    sim.run(0.1)
    front = sim.position("chest") + np.array([0.6, 0.0, 0.1])
    said = Said(front, buttons=())
    hand = HapticHand(sim, said, mode="touch", stiffness=1000.0)
    for i in range(1000):
        said.say(position=front - np.array([0.5e-3 * i, 0.0, 0.0]))
        hand.pull()
        gaps = [one.gap for one in hand.around.near(hand.ball.position, 1e-3) if one.body]
        assert min(gaps, default=0.0) > -1e-6
        sim.step()
        if np.linalg.norm(hand.force) > 20.0:
            break
    assert hand.force[0] < -10.0
    assert {press.near.link for press in hand.ball.presses} <= set(sim.model.links)
    assert sim.certificate.converged


def test_a_height_field_and_a_pad_are_felt_by_their_depth():
    world = World(gravity=(0.0, 0.0, 0.0))
    world.add_height_field(np.zeros((5, 5)), (1.0, 1.0), position=(2.0, 0.0, 0.0))
    box = world.add_box((0.1, 0.1, 0.1), 1e6)
    box.add_pad("+z", Layer(0.01, 1e6, 0.3), element_size=0.05, cache=False)
    sim = Simulator(world)
    for place, top in (((2.03, 0.11, 0.1), 0.0), ((0.01, 0.02, 0.1), 0.06)):
        said = Said(place)
        hand = HapticHand(sim, said, mode="touch", stiffness=500.0, radius=5e-3)
        hand.pull()
        for z in (0.08, top + 0.004, top + 0.002, top - 0.001):
            said.say(position=np.array([place[0], place[1], z]))
            hand.pull()
            depth = max(0.0, top + 5e-3 - z)
            assert hand.force == pytest.approx([0.0, 0.0, -500.0 * depth], abs=1e-6)
