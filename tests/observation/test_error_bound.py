"""What errors of velocities mean for forces, against problems that are solved again with another
right-hand side.
"""

import numpy as np
import pytest
from bipeds import hrp2_on_ground

import tabi
from tabi.contact.matrix_form import sparse
from tabi.observation import error_bound
from tabi.observation.error_bound import step_errors

G = 9.81


def on_the_ground(add, friction=0.8, speed=0.0, time=0.05):
    """A simulation of what is added to a world with a ground, thrown along x."""
    world = tabi.World()
    world.add_ground(friction=friction)
    add(world)
    sim = tabi.Simulator(world, tolerance=1e-10)
    v = np.zeros(sim.model.v_count)
    v[0] = speed
    sim.set_state(sim.model.initial(), v)
    sim.run(time)
    return sim


def hrp2(world):
    world.add_robot(tabi.robots.hrp2()).stand_on_ground()


def bounded(sim, error):
    """The bound where every point of the last step has this backward error."""
    p = sim.problem()
    return error_bound.error_bound(
        step_errors(sim.data, p, sim.data.impulse, np.full(len(p.mu), error))
    )


def forces(p, impulse, h):
    """Net force on each body of a problem against the world, shape (bodies, 3) [N]."""
    each = np.einsum("nji,nj->ni", p.contact["frame"].reshape(-1, 3, 3), impulse.reshape(-1, 3)) / h
    total = np.zeros((len(p.start) - 1, 3))
    np.add.at(total, p.contact["a"], each)
    return total


def motions(p, count, size, seed=0):
    """Velocities of the points by motions of their bodies, of which the fastest has this size."""
    rng, c, bodies = np.random.default_rng(seed), p.contact, len(p.start) - 1
    centre = np.array([c["arm_a"][c["a"] == b].mean(axis=0) for b in range(bodies)])
    for _ in range(count):
        linear, angular = rng.normal(size=(2, bodies, 3)) * rng.choice([0.0, 1.0, 10.0], (2, 1, 1))
        at = linear[c["a"]] + np.cross(angular[c["a"]], c["arm_a"] - centre[c["a"]])
        u = np.einsum("nij,nj->ni", c["frame"].reshape(-1, 3, 3), at)
        largest = np.linalg.norm(u, axis=1).max()
        if largest > 0:
            yield (size / largest * u).ravel()


@pytest.mark.parametrize(("friction", "speed", "least"), [(0.8, 0.0, 0.5), (0.15, 1.0, 0.2)])
def test_forces_on_feet_change_by_no_more_than_the_bound_and_by_a_good_part_of_it(
    friction, speed, least
):
    size = 1e-8
    sim = on_the_ground(hrp2, friction, speed)
    p, h = sim.problem(), sim.dt
    W, start = sparse(p).toarray(), sim.data.impulse
    law = {"mu": p.mu, "order": "ttn", "initial": start}
    exact = tabi.contact.solve(W, p.q, tolerance=1e-14, **law)
    worst = 0.0
    for u in motions(p, 60, size):
        again = tabi.contact.solve(W, p.q + u, tolerance=1e-11, **law)
        assert again.converged
        change = forces(p, again.impulse, h) - forces(p, exact.impulse, h)
        worst = max(worst, np.linalg.norm(change, axis=1).max())
    bound = bounded(sim, size).force
    assert least * bound < worst <= bound
    # 58 kg · 1e-8 m/s / 1 ms, and levers
    assert 58 * size / h < bound < 2 * 58 * size / h


def test_a_box_that_stands_flat_is_known_to_its_mass_times_the_error_over_the_step():
    def box(world):
        world.add_box((0.4, 0.4, 0.01), 3.0, friction=0.8, position=(0, 0, 0.005))

    sim = on_the_ground(box)
    flat = bounded(sim, 1e-8).force
    assert flat == pytest.approx(3.0 * 1e-8 / sim.dt, rel=0.03)
    assert bounded(sim, 2e-8).force == pytest.approx(2 * flat)


def test_the_true_error_of_a_standing_robot_is_within_the_certificates_bound():
    world, robot = hrp2_on_ground()
    sim = tabi.Simulator(world)
    sim.apply_force(robot.base.name, (40.0, 20.0, 0.0), 0.2, at=0.1)
    # until the solver stops at its tolerance, and not far below it
    for _ in range(1000):
        sim.step()
        c, p = sim.certificate, sim.problem()
        if 1e-9 < c.residual < c.tolerance:
            break
    assert 1e-9 < c.residual < c.tolerance
    W, start = sparse(p).toarray(), sim.data.impulse
    exact = tabi.contact.solve(W, p.q, mu=p.mu, order="ttn", initial=start, tolerance=1e-14)
    off = forces(p, sim.data.impulse, sim.dt) - forces(p, exact.impulse, sim.dt)
    assert 1e-6 < np.linalg.norm(off, axis=1).max() <= c.force_error_bound
    assert set(c.pressure_error_bound) == {"left", "right"}


def test_a_centre_of_pressure_moves_by_no_more_than_its_bound():
    sim = on_the_ground(hrp2)
    p, size = sim.problem(), 1e-7
    W, law = sparse(p).toarray(), {"mu": p.mu, "order": "ttn", "initial": sim.data.impulse}

    def centres(impulse):
        """Of each foot, from its corners' loads; the sole is level [mm]."""
        load = impulse[2::3]
        of = [p.contact["a"] == b for b in (0, 1)]
        return (
            np.array([load[own] @ p.contact["arm_a"][own, :2] / load[own].sum() for own in of])
            * 1e3
        )

    def shift(u):
        """Of the centres under a change of the velocities, shape (2, 2)."""
        return centres(tabi.contact.solve(W, p.q + u, tolerance=1e-11, **law).impulse) - exact

    exact = centres(tabi.contact.solve(W, p.q, tolerance=1e-14, **law).impulse)
    basis = np.array(list(motions(p, 24, size)))
    responses = np.array([shift(u)[0] for u in basis])
    bound, moved = max(bounded(sim, size).pressure.values()), []
    for axis in np.array([(1, 0), (0, 1), (0.6, 0.8), (0.6, -0.8)]):
        # of all motions the slowest one that moves the centre along the axis
        u = np.linalg.pinv(basis @ basis.T, rcond=1e-9) @ responses @ axis @ basis
        u *= size / np.linalg.norm(u.reshape(-1, 3), axis=1).max()
        moved.append(np.linalg.norm(shift(u), axis=1).max())
    assert 0.6 * bound < max(moved) <= bound


def test_bodies_that_do_not_touch_do_not_add_up():
    def boxes(world):
        for k in range(3):
            world.add_box((0.4, 0.4, 0.01), 1.0 + k, friction=0.8, position=(k, 0, 0.005))

    assert bounded(on_the_ground(boxes), 1e-8).force == pytest.approx(3.0 * 1e-5, rel=0.03)


def test_on_a_stack_the_errors_below_a_box_add_up():
    def stack(world):
        for k in range(2):
            world.add_box((0.4, 0.4, 0.01), 2.0, friction=0.8, position=(0, 0, 0.005 + 0.01 * k))

    sim = on_the_ground(stack)
    # the ground's points err, and so do those above, on which the upper box stands
    assert bounded(sim, 1e-8).force == pytest.approx(2.0 * 2e-8 / sim.dt, rel=0.05)


def test_in_flight_nothing_is_uncertain_and_with_too_many_contacts_nothing_is_said(monkeypatch):
    def flying(world):
        world.add_box((0.1, 0.1, 0.1), 1.0, position=(0, 0, 2.0))

    c = on_the_ground(flying).certificate
    assert (c.force_error_bound, c.pressure_error_bound) == (0.0, {})
    sim = on_the_ground(hrp2)
    monkeypatch.setattr(error_bound, "MAX_PRESSING_POINTS", 7)
    c = sim.certificate
    assert (c.force_error_bound, c.pressure_error_bound) == (None, None)
    assert "forces known" not in str(c)
    assert "force_error_bound" not in str(c)


def test_a_problem_with_a_nan_has_no_bound():
    sim = on_the_ground(hrp2)
    p = sim.problem()
    p.omega[:] = np.nan
    step = step_errors(sim.data, p, sim.data.impulse, np.ones(len(p.mu)))
    assert np.isnan(error_bound.error_bound(step).force)
