"""The experiment with humanoids: small runs of it, what it counts,
and that a missed step is named and can be found again.
"""

import json

import numpy as np
import pytest
from bipeds import biped

import tabi
from tabi.contact import files
from tabi.lab import stage
from tabi.lab.study import reported
from tabi.lab.validate import humanoids
from tabi.model.shape import Shape, Sphere


@pytest.fixture(scope="module")
def falling():
    return humanoids.Trial(tabi.robots.hrp2(), "falling")


@pytest.mark.parametrize("motion", ["standing", "sliding"])
def test_every_step_of_a_few_runs_is_certified(motion):
    trial = humanoids.Trial(tabi.robots.hrp2(), motion)
    for seed in range(3):
        found = trial.run(seed)
        assert (found.steps, found.missed, found.fault, found.fallen) == (300, [], None, False)
        assert 0 < found.worst <= 1e-8
        assert found.recheck <= 1e-8
        assert found.contacts == 8


def test_a_robot_in_a_slide_slides_with_the_friction_of_its_ground():
    trial = humanoids.Trial(tabi.robots.hrp2(), "sliding")
    sim = trial.begin(1)
    sim.run(0.1)
    slipping = [c for c in sim.contacts if c.status == "slip"]
    assert slipping
    for c in slipping:
        across = c.force - c.normal * (c.force @ c.normal)
        assert np.linalg.norm(across) == pytest.approx(0.15 * (c.force @ c.normal), rel=1e-4)


def test_one_of_two_falls_is_limp_and_both_end_on_the_ground(falling):
    pushed, limp = falling.run(0), falling.run(1)
    assert pushed.fallen
    assert limp.fallen
    assert pushed.contacts > 2
    assert np.array_equal(falling.sims[1].data.command.motor["kp"], np.zeros(36))
    assert falling.sims[0].data.command.motor["kp"].max() > 1000


def test_a_run_is_the_same_to_the_last_bit_whatever_ran_before(falling):
    ends = []
    for seed in (2, 4, 2, 2):
        sim = falling.begin(seed)
        sim.run(1.5)
        ends.append(sim.state.q)
    assert np.array_equal(ends[0], ends[2])
    assert np.array_equal(ends[0], ends[3])
    assert not np.array_equal(ends[0], ends[1])


def test_soles_start_within_five_millimetres_above_the_ground(falling):
    for seed in range(5):
        sim = falling.begin(seed)
        corners = [
            sim.pose(foot) @ np.column_stack([foot.polygon, np.zeros(4)])
            for foot in falling.robot.feet.values()
        ]
        assert -1e-12 < np.concatenate(corners)[:, 2].min() <= 5e-3


def test_a_step_that_misses_is_named_and_its_problem_kept(tmp_path):
    # nobody reaches this with eight contacts
    trial = humanoids.Trial(tabi.robots.hrp2(), "standing", tolerance=1e-300)
    sim = trial.begin(3)
    sim.run(0.02)
    steps = [round(time / sim.dt) for time, _ in sim.missed]
    assert steps
    path = trial.keep(3, steps[-1], tmp_path / "kept")
    assert path.name == f"hrp2-standing-seed3-step{steps[-1]}.hdf5"
    assert 0 < files.read(path).contact_count <= 8


def test_what_misses_or_stops_is_summed_up_and_fails():
    missed = humanoids.TrialOutcome(
        0, 300, [(7, 2e-8)], 2e-8, penetration=1e-6, contacts=8, recheck=1e-9
    )
    outcomes = [missed, humanoids.TrialOutcome(1, 20, fault="it broke", fallen=True)]
    found = humanoids.summary(outcomes)
    assert found["missed"] == [{"seed": 0, "step": 7, "residual": 2e-8}]
    assert found["stopped"] == [{"seed": 1, "step": 20, "fault": "it broke"}]
    assert (found["runs"], found["steps"], found["worst_residual"], found["fallen"]) == (
        2,
        320,
        2e-8,
        1,
    )
    walker = {
        "name": "walker",
        "joints": 12,
        "mass_kg": 30.0,
        "weight_N": 294.3,
        "on_feet_after_5_s_N": 294.2999,
        "notes": ["made of wood"],
    }
    study = humanoids.Humanoids()
    result = study.result([(walker, "standing", one) for one in outcomes], interrupted=True)
    total = {"steps": 320, "missed": 1, "missed_share": 1 / 320, "stopped": 1, "within": False}
    assert result["total"] == total
    assert result["robots"]["walker"]["motions"] == {"standing": found}
    page = study.text(result)
    said = (
        "walker, 12 joints, 30 kg; weight 294.3000 N, on its feet 294.2999 N",
        "made of wood",
        "MORE than 1 in 100,000",
    )
    for words in (*said, "seed 0, step 7, 2.0e-08 m/s", "seed 1, step 20: it broke"):
        assert words in page
    assert page.endswith("interrupted: these are the runs done before")


def test_one_miss_in_a_hundred_thousand_is_allowed_and_two_are_not():
    robots = {"a": {"motions": {"standing": {"steps": 100_000, "missed": [{}], "stopped": []}}}}
    assert humanoids.total(robots)["within"]
    robots["a"]["motions"]["standing"]["missed"].append({})
    assert not humanoids.total(robots)["within"]
    assert not humanoids.total({})["within"]


@pytest.mark.slow
def test_an_interrupt_keeps_what_is_done():
    def stop(what, done, count):
        if done == 2:
            raise KeyboardInterrupt

    with reported(stop):
        result = humanoids.Humanoids(poses=5).run()
    assert result["interrupted"]
    assert list(result["robots"]["hrp2"]["motions"]) == ["standing"]
    assert (result["total"]["steps"], result["total"]["missed"]) == (600, 0)
    assert result["total"]["within"]
    assert json.loads(json.dumps(result)) == result


def test_a_biped_from_nowhere_gets_gains_soles_and_limbs_and_squats():
    robot = biped()
    trial = humanoids.Trial(robot, "squatting")
    assert trial.robot.joint("l_knee").motor.kp == pytest.approx(stage.GAIN * robot.mass)
    found = trial.run(0)
    assert (found.missed, found.fallen) == ([], False)
    # invented limbs touch the ground, not each other
    assert frozenset(("l_hip_link", "r_hip_link")) in trial.robot.excluded
    assert robot.joint("l_knee").motor is None


def test_after_five_seconds_feet_bear_the_weight_to_a_hundredth_of_a_newton():
    weight, given = stage.weigh(tabi.robots.hrp2())
    assert weight == pytest.approx(58.0 * 9.81)
    assert given == pytest.approx(weight, abs=0.01)


def test_links_that_overlap_where_a_robot_stands_never_collide():
    robot = biped()
    # two joints and 0.4 m apart, so nobody's neighbours
    robot.body("l_hip_roll_link").shapes.append(Shape(Sphere(0.25)))
    robot.body("l_knee_link").shapes.append(Shape(Sphere(0.2)))
    world, staged = stage.stage(robot)
    assert frozenset(("l_hip_roll_link", "l_knee_link")) in staged.excluded
    assert "overlap or touch in its poses and never collide" in staged.notes[-1]
    sim = tabi.Simulator(world)
    sim.step()
    assert {c.body_b.name for c in sim.contacts} == {"world"}
