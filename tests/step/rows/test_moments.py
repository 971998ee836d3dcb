"""Moments of contacts and viscous friction: the law by plain arithmetic, energy, wrenches,
and many at once.
"""

import numpy as np
import pytest

import tabi
from tabi.contact import bodies, twist_newton
from tabi.contact.maps import ALART_CURNIER
from tabi.contact.rows import LIMITED
from tabi.step.tables import CONTACTS


def rolling_things(seed, count=6):
    """Balls, capsules and boxes thrown over a floor whose friction knows turning,
    rolling and speed.
    """
    rng = np.random.default_rng(seed)
    world = tabi.World()
    world.add_ground(
        friction=0.6, torsional_friction=0.004, rolling_friction=0.01, viscous_friction=0.3
    )
    for k in range(count):
        place, kind = (0.5 * k, 0.3 * (k % 2), 0.2), rng.integers(3)
        surface = {"friction": float(rng.uniform(0.2, 1.0)), "position": place, "name": f"thing{k}"}
        if kind == 0:
            world.add_sphere(0.1, 1.0, **surface)
        elif kind == 1:
            world.add_capsule(0.06, 0.2, 2.0, **surface)
        else:
            world.add_box((0.2, 0.3, 0.1), 1.5, **surface)
    sim = tabi.Simulator(world)
    v = rng.normal(size=sim.model.v_count) * np.tile([1.0, 1.0, 0.3, 5.0, 5.0, 5.0], count)
    sim.set_state(sim.model.initial(), v)
    return sim


def surfaces(sim, point):
    """Coefficients of the two surfaces at a contact point."""
    a, b = (
        sim.data.tables.shapes.shape["material"][point[side]] for side in ("shape_a", "shape_b")
    )
    return sim.model.pairs[a, b]


def split(n, x):
    """Parts of a vector along n and across it."""
    return n * (n @ x), x - n * (n @ x)


def law_of(sim):
    """How far moments leave their limit, what they fail to dissipate,
    how far friction is from its coefficient: from impulses and velocities.
    """
    rows, body = sim.data.memory.contact[: sim.data.memory.count[0]], sim.data.body
    limit, lack, viscous = 0.0, 0.0, 0.0
    for p in rows:
        if p["kind"] == CONTACTS:
            pressing, friction = split(p["normal"], p["impulse"])
            slip, pair = np.linalg.norm(split(p["normal"], p["velocity"])[1]), surfaces(sim, p)
            if slip > 1e-5:
                mu = pair["friction"] + pair["viscous_friction"] * slip
                viscous = max(
                    viscous, abs(np.linalg.norm(friction) - mu * np.linalg.norm(pressing))
                )
            continue
        contact = rows[p["source"]]
        n, pressed = contact["normal"], max(0.0, contact["normal"] @ contact["impulse"])
        roll, twist = (
            surfaces(sim, contact)[name] for name in ("rolling_friction", "torsional_friction")
        )
        turn = body["velocity"][p["a"]][:3] - body["velocity"][p["b"]][:3]
        (along, across), (spinning, rolling) = split(n, p["impulse"]), split(n, turn)
        speed = np.hypot(roll * np.linalg.norm(rolling), twist * np.linalg.norm(spinning))
        limit = max(
            limit, np.hypot(np.linalg.norm(across) / roll, np.linalg.norm(along) / twist) - pressed
        )
        lack = max(lack, abs(p["impulse"] @ turn + pressed * speed) if speed > 1e-5 else 0.0)
    return limit, lack, viscous


@pytest.mark.parametrize("seed", range(4))
def test_moments_and_viscous_friction_obey_their_laws_in_every_step(seed):
    sim = rolling_things(seed)
    met = 0
    for _ in range(400):
        sim.step()
        # deeper overlaps are left by a second solution
        if sim.contacts and min(c.gap for c in sim.contacts) > -1e-6:
            limit, lack, viscous = law_of(sim)
            # 1e-8 m/s times 3/tr W of rows that turn 2 kg by arms of a centimetre: 300 kg
            assert limit <= 3e-6
            assert lack <= 1e-6
            assert viscous <= 1e-6
            met += 1
    assert met > 50
    assert sim.missed_count == 0


@pytest.mark.parametrize("seed", range(4))
def test_what_rolls_and_turns_loses_energy_and_comes_to_rest(seed):
    sim = rolling_things(seed)
    energy = sim.energy.total
    for _ in range(40):
        sim.run(0.1)
        assert sim.energy.total <= energy + 1e-4
        energy = sim.energy.total
    assert np.abs(sim.state.v).max() < 1e-4


def test_the_balance_of_energy_knows_the_work_of_moments():
    world = tabi.World()
    world.add_ground(torsional_friction=0.01)
    ball = world.add_sphere(0.1, 1.0, position=(0, 0, 0.1))
    sim = tabi.Simulator(world)
    sim.set_state(sim.model.initial(), (0, 0, 0, 0, 0, 10.0))
    sim.step()
    # moment times angle, at the mean of both speeds
    turned = 0.5 * (10.0 + sim.velocity(ball).angular[2])
    assert sim.balance.contacts == pytest.approx(-0.01 * 9.81 * 1e-3 * turned, rel=1e-6)
    assert sim.balance.change == pytest.approx(sim.balance.contacts, rel=1e-6)


def test_a_foot_that_resists_turning_feels_the_moment_in_its_wrench():
    world = tabi.World()
    world.add_ground(friction=0.5)
    robot = world.add_robot(tabi.robots.hrp2())
    robot.stand_on_ground()
    world.set_pair(
        "ground", robot.feet["left"].body.shapes[0].material.name, torsional_friction=0.02
    )
    sim = tabi.Simulator(world)
    sim.run(0.1)
    foot = robot.feet["left"]
    own = [
        c
        for c in sim.contacts
        if c.body_a.name == foot.body.name or c.body_b.name == foot.body.name
    ]
    assert own
    expected = sum(np.cross(c.point - sim.pose(foot).p, c.force) + c.moment for c in own)
    np.testing.assert_allclose(sim.foot_wrench(foot).torque, expected, atol=1e-9)
    assert sim.certificate.converged


def test_moments_are_rows_of_the_problem_and_certified_with_it():
    sim = rolling_things(1)
    while not any(c.pressing for c in sim.contacts):
        sim.step()
    p = sim.problem()
    assert (p.kind == LIMITED).sum() == len(sim.contacts)
    assert sim.certificate.residual <= 1e-8
    with pytest.raises(tabi.TabiError, match="surfaces resist turning"):
        sim.export_problem("problem.npz")


def test_newton_knows_how_moments_follow_their_contacts():
    needed = []
    for seed in range(2):
        sim = rolling_things(seed)
        for k in range(250):
            sim.step()
            if k % 10 == 9 and any(c.pressing for c in sim.contacts):
                p = sim.problem()
                impulse, work = np.zeros(3 * len(p.mu)), bodies.allocate(len(p.mu), len(p.start))
                bodies.prepare(p, work)
                done, error = twist_newton.solve(
                    p, ALART_CURNIER, 1.0, 1e-6, 1e-10, 60, impulse, work
                )
                assert error <= 1e-10
                needed.append(done)
    # of second order: from zero to 1e-10 in three or four steps;
    # eight and more where ∂F/∂R is wrong
    assert np.median(needed) <= 4


def test_surfaces_without_these_frictions_have_no_rows_for_them():
    world = tabi.World()
    world.add_ground()
    world.add_sphere(0.1, 1.0, position=(0, 0, 0.1))
    sim = tabi.Simulator(world)
    sim.step()
    assert len(sim.problem().mu) == len(sim.contacts) == 1
    assert sim.contacts[0].moment.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("surface", "words"),
    [
        ({"rolling_friction": -0.1}, ["rolling_friction -0.1", "≥ 0"]),
        ({"torsional_friction": float("nan")}, ["torsional_friction nan", "≥ 0"]),
        ({"viscous_friction": float("inf")}, ["viscous_friction inf"]),
        ({"viscous_friction": "much"}, ["viscous_friction of", "'much'", "expected a number"]),
        ({"roling_friction": 0.1}, ["'roling_friction'", "did you mean 'rolling_friction'?"]),
    ],
)
def test_coefficients_that_no_surface_has_are_refused(surface, words):
    with pytest.raises(tabi.ModelError) as error:
        tabi.World().add_sphere(0.1, 1.0, **surface)
    assert all(word in str(error.value) for word in words)
