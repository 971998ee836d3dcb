"""sim.data: what the step works on, for everybody to read and for nobody to write."""

import numpy as np
import pytest
from bipeds import hrp2_on_ground

import tabi
from tabi import scenes
from tabi.step.tables import CONTACTS, MOMENTS

G = 9.81


def standing():
    world, robot = hrp2_on_ground()
    sim = tabi.Simulator(world)
    sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
    return sim, robot


def test_it_is_the_state_itself_and_follows_it():
    sim, _ = standing()
    q = sim.data.q
    before = q.copy()
    sim.run(0.05)
    # the same array, with other numbers
    assert np.array_equal(q, sim.state.q)
    assert not np.array_equal(q, before)
    assert (sim.data.steps, sim.data.time) == (50, pytest.approx(0.05))


@pytest.mark.parametrize(
    "write",
    [
        lambda d: d.q.__setitem__(0, 1.0),
        lambda d: d.v.__setitem__(0, 1.0),
        lambda d: d.command.motor["kp"].__setitem__(0, 1.0),
        lambda d: d.memory.contact["impulse"].__setitem__(0, 1.0),
        lambda d: d.memory.joint["mode"].__setitem__(0, 1),
        lambda d: d.outcome.report["missed"].__setitem__(0, 1),
        lambda d: d.tables.pair["friction"].__setitem__((0, 0), 9.0),
        lambda d: d.body["position"].__setitem__(0, 1.0),
        lambda d: d.shape_pose["position"].__setitem__(0, 1.0),
        lambda d: d.contact["gap"].__setitem__(0, 1.0),
    ],
)
def test_nothing_of_it_can_be_written(write):
    sim, _ = standing()
    sim.step()
    with pytest.raises(ValueError, match="read-only"):
        write(sim.data)


def test_contacts_of_the_memory_bear_the_weight_and_say_what_they_do():
    sim, robot = standing()
    sim.run(0.5)
    rows = sim.data.contact
    assert (rows["kind"] == CONTACTS).all()
    assert rows["impulse"][:, 2].sum() / sim.dt == pytest.approx(robot.mass * G, rel=1e-3)
    # one truth about what sticks, of the kernel
    assert [c.status for c in sim.contacts] == ["stick"] * len(rows)
    assert (rows["status"] == 1).all()
    # and the outcome says what motors gave
    knee = sim.model.v_index("RLEG_KNEE_P")
    assert sim.data.outcome.effort["motor"][knee] == pytest.approx(
        sim.measure(robot).effort[list(robot.joint_names).index("RLEG_KNEE_P")]
    )


def test_what_sticks_does_not_depend_on_a_second_threshold():
    # with a loose tolerance a slow slip is within it: kernel, contacts and memory agree
    world = tabi.World()
    world.add_ground(friction=0.5)
    box = world.add_box((0.2, 0.2, 0.2), 1.0, position=(0, 0, 0.1), friction=0.5)
    for tolerance in (1e-4, 1e-6, 1e-8):
        sim = tabi.Simulator(world, tolerance=tolerance)
        sim.apply_force(box, force=(3.0, 0, 0), duration=0.5)
        sim.run(0.3)
        assert {c.status for c in sim.contacts} == {"stick"}
        sim.apply_force(box, force=(30.0, 0, 0), duration=0.5)
        sim.run(0.1)
        assert {c.status for c in sim.contacts if c.pressing} == {"slip"}


def test_views_follow_memory_that_grows():
    world = tabi.World()
    world.add_ground()
    for k in range(40):
        world.add_box((0.1, 0.1, 0.1), 1.0, position=(0.2 * k, 0, 0.05), name=f"box{k}")
    sim = tabi.Simulator(world)
    first = sim.data.memory.contact
    sim.run(0.01)
    assert len(sim.data.contact) == 160 > len(first)
    assert sim.data.contact["impulse"][:, 2].sum() / sim.dt == pytest.approx(40 * G, rel=1e-6)


def test_moments_stand_behind_their_contacts_and_bonds_behind_both():
    sim = scenes.load("linkage").simulator()
    sim.step()
    assert set(sim.data.memory.contact["kind"][: sim.data.memory.count[0]]) == {2}
    assert len(sim.data.contact) == 0
    world = tabi.World()
    world.add_ground(torsional_friction=0.01, rolling_friction=0.01)
    world.add_sphere(0.1, 1.0, position=(0, 0, 0.1))
    sim = tabi.Simulator(world)
    sim.run(0.01)
    assert len(sim.data.of_kind(MOMENTS)) == len(sim.data.contact) == 1
    assert sim.data.moment.shape == (1, 3)
