"""Readings (``tabi.step.sensors.sampling``): rate, delay, noise, bias, limits, resolution,
low-pass, calibration; the same in any order, and after going back.
"""

import numpy as np
import pytest
from scipy import signal, stats

import tabi
from tabi.model.joint import Joint
from tabi.model.robot import Robot
from tabi.spatial import inertia


def spinner(kind="gyro", dt=1e-3, seed=0, place=(0.0, 0.0, 0.0), **options):
    """A disc on a motor, its only sensor on the disc, which speeds up under a constant torque."""
    robot = Robot("spinner")
    robot.add_body("base", Joint("root", "fixed"), None, inertia.solid_box(1.0, (0.1, 0.1, 0.1)))
    robot.add_body(
        "disc", Joint("turn", "continuous"), "base", inertia.solid_box(1.0, (0.2, 0.2, 0.1))
    )
    robot.add_sensor("one", kind, "disc", place, **options)
    world = tabi.World()
    placed = world.add_robot(robot)
    sim = tabi.Simulator(world, dt=dt, seed=seed)
    return sim, placed


def run(sim, robot, steps, torque=0.01):
    """Readings after each step."""
    sim.set_controller(robot, lambda t, m: tabi.Command(effort=torque, kp=0.0, kd=0.0))
    told = []
    for _ in range(steps):
        sim.step()
        told.append(sim.sensor("one").values.copy())
    return np.array(told)


def test_a_delay_of_k_samples_is_k_samples():
    exact = run(*spinner(), 60)
    for rate, k in ((1000.0, 5), (200.0, 3), (500.0, 1)):
        period = round(1000 / rate)
        late = run(*spinner(rate=rate, delay=k / rate), 60)
        for n in range(60):
            # sample 0 is that of the start, at rest
            sample = ((n + 1) // period - k) * period - 1
            expected = exact[sample] if sample >= 0 else 0.0
            assert late[n] == pytest.approx(expected, abs=1e-15), (rate, n)


def test_a_reading_tells_when_it_was_taken():
    sim, robot = spinner(rate=100.0, delay=0.02)
    run(sim, robot, 57)
    assert sim.sensor("one").time == pytest.approx(0.03, abs=1e-12)
    assert sim.sensor("one", truth=True).time == pytest.approx(0.057, abs=1e-12)


def test_noise_has_a_flat_spectrum_of_the_size_that_was_asked():
    sim, robot = spinner(noise=0.02)
    told = run(sim, robot, 4096, torque=0.0)[:, 2]
    # a periodogram of white noise: each bin is χ² of two degrees of freedom, so sums over bands are
    # too; two-sided at one in a thousand
    _, power = signal.periodogram(told, 1000.0, detrend=False, scaling="density")
    flat = 2 * 0.02**2 / 1000.0
    for band in np.array_split(power[1:-1], 8):
        low, high = stats.chi2.ppf([0.0005, 0.9995], 2 * len(band))
        assert low < 2 * band.sum() / flat < high
    assert abs(np.mean(told)) < 4 * 0.02 / np.sqrt(4096)


@pytest.mark.slow
def test_a_drifting_bias_is_a_random_walk_of_the_size_that_was_asked():
    ends = []
    for world in range(200):
        sim, _ = spinner(drift=0.5, seed=(7, world))
        sim.rollout(100)
        ends.append(sim.sensor("one").values)
    # variance grows as drift² t; one in a thousand
    total = np.sum(np.square(ends)) / (0.5**2 * 0.101)
    low, high = stats.chi2.ppf([0.0005, 0.9995], 600)
    assert low < total < high


def test_noise_depends_on_seed_world_and_sample_and_on_nothing_else():
    first = run(*spinner(noise=1.0), 20)
    assert np.array_equal(first, run(*spinner(noise=1.0), 20))
    assert not np.array_equal(first, run(*spinner(noise=1.0, seed=1), 20))
    assert not np.array_equal(first, run(*spinner(noise=1.0, seed=(0, 1)), 20))
    # asked for late, or all steps at once
    sim, robot = spinner(noise=1.0)
    sim.set_controller(robot, lambda t, m: tabi.Command(effort=0.01, kp=0.0, kd=0.0))
    sim.run(0.02)
    assert np.array_equal(sim.sensor("one").values, first[-1])
    # and after going back
    sim, robot = spinner(noise=1.0)
    run(sim, robot, 10)
    saved = sim.save()
    run(sim, robot, 7)
    sim.restore(saved)
    assert np.array_equal(sim.sensor("one").values, first[9])
    assert np.array_equal(run(sim, robot, 10), first[10:])


def test_going_back_to_before_anybody_listened():
    sim, robot = spinner()
    sim.set_controller(robot, lambda t, m: tabi.Command(effort=0.01, kp=0.0, kd=0.0))
    sim.run(0.01)
    saved, speed = sim.save(), sim.data.v[0]
    sim.run(0.01)
    assert sim.sensor("one").values[2] == pytest.approx(sim.data.v[0], abs=1e-15)
    sim.restore(saved)
    assert sim.sensor("one").values[2] == pytest.approx(speed, abs=1e-15)
    sim.step()
    assert sim.sensor("one").values[2] == pytest.approx(sim.data.v[0], abs=1e-15)


def test_bias_limit_and_resolution():
    told = run(*spinner(bias=(0.0, 0.0, 0.25), resolution=0.1, limit=1.0), 400, torque=0.05)
    exact = run(*spinner(), 400, torque=0.05)
    assert np.abs(np.round(told / 0.1) * 0.1 - told).max() < 1e-12
    expected = np.minimum(exact[:, 2] + 0.25, 1.0)
    assert np.abs(told[:, 2] - expected).max() <= 0.05 + 1e-12
    assert told[-1, 2] == pytest.approx(1.0)


def test_an_analogue_low_pass_answers_a_step_as_an_exponential():
    sim, robot = spinner(bandwidth=10.0)
    run(sim, robot, 1)
    sim.set_state(sim.state.q, [0.0])
    # the disc jumps to 1 rad/s, and stays there
    sim._stepper.data.v[:] = 1.0
    sim._stepper.prepare()
    told = run(sim, robot, 100, torque=0.0)[:, 2]
    t = 1e-3 * np.arange(1, 101)
    assert told == pytest.approx(1 - np.exp(-2 * np.pi * 10.0 * t), abs=1e-12)


def test_raw_readings_of_a_force_sensor_are_calibrated_back_to_the_wrench():
    rng = np.random.default_rng(0)
    G, offset = np.eye(6) + 0.2 * rng.normal(size=(6, 6)), rng.normal(size=6)
    sim, robot = spinner("force", place=(0.1, 0.0, 0.0), matrix=G, offset=offset)
    raw = run(sim, robot, 50)[-1]
    true = sim.sensor("one", truth=True).values
    assert np.abs(raw - true).max() > 0.1
    assert robot.sensors["one"].calibrated(raw) == pytest.approx(true, rel=1e-9, abs=1e-9)


def test_an_encoder_counts_and_its_velocity_is_a_difference_of_counts():
    step = 2 * np.pi / 4096
    sim, robot = spinner("encoder", resolution=(step, 0.0), rate=500.0)
    seen, exact = [], []
    sim.set_controller(
        robot, lambda t, m: seen.append(m) or tabi.Command(effort=0.01, kp=0.0, kd=0.0)
    )
    for _ in range(300):
        exact.append(sim.data.q[0])
        sim.step()
    counts = np.array([m.position[0] for m in seen]) / step
    assert np.abs(counts - np.round(counts)).max() < 1e-9
    samples = counts[::2]
    assert samples == pytest.approx(np.array(exact[::2]) / step, abs=0.5 + 1e-9)
    speeds = np.array([m.velocity[0] for m in seen[::2]])
    assert speeds[1:] == pytest.approx(np.diff(samples) * step * 500.0, abs=1e-9)
    # between its samples an encoder says what it said
    assert np.array_equal(counts[::2], counts[1::2])


def test_an_exact_encoder_tells_the_velocity_of_the_step():
    sim, robot = spinner("encoder")
    told = run(sim, robot, 20)
    assert told[-1] == pytest.approx([sim.data.q[0], sim.data.v[0]], rel=1e-12)
    for part, expected in (("position", sim.data.q[0]), ("velocity", sim.data.v[0])):
        other = spinner("encoder", part=part)
        assert run(*other, 20)[-1] == pytest.approx([expected], rel=1e-12)


def test_a_seed_is_whole_numbers():
    for seed in (-1, 0.5, (1, 2, 3), "a", True, 2**32):
        with pytest.raises(tabi.ModelError, match="expected a whole number from 0"):
            spinner(seed=seed)
