"""Replays of tosses against closed forms: free flight, a slide, a bounce;
the search must find what the tosses were made with.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tabi import ModelError
from tabi.lab.study import reported
from tabi.lab.validate import tosses as study
from tabi.lab.validate.toss_files import COLUMNS, HALF_SIDE, RATE, Toss, read

pytest.importorskip("mujoco", reason="MuJoCo is not installed")
FRICTION, RESTITUTION = 0.3, 0.4
G = study.GRAVITY


def quaternions(rotations):
    return rotations.as_quat()[:, [3, 0, 1, 2]]


def flight(samples=40):
    """A turning cube that touches nothing: all its moments are equal,
    so it keeps its angular velocity.
    """
    t = np.arange(samples)[:, None] / RATE
    start = np.array([0.1, -0.2, 2.0])
    linear, angular = np.array([0.7, 0.4, 0.5]), np.array([4.0, -3.0, 7.0])
    position = start + linear * t + 0.5 * np.array([0, 0, -G]) * t**2
    turned = Rotation.from_rotvec([0.4, 1.0, -0.6]) * Rotation.from_rotvec(angular * t)
    return Toss("flight", np.hstack([position, quaternions(turned)]), linear, angular)


def slide(speed, samples=50):
    """Flat on the board: μ g slows it down until it rests."""
    t = np.minimum(np.arange(samples) / RATE, speed / (FRICTION * G))
    pose = np.tile([0, 0, HALF_SIDE, 1.0, 0, 0, 0], (samples, 1))
    pose[:, 0] = speed * t - 0.5 * FRICTION * G * t**2
    return Toss("slide", pose, np.array([speed, 0, 0]), np.zeros(3))


def bounce(height, samples=50):
    """Falls flat from a height above the board and comes back with ε of its speed;
    recorded until it would touch again.
    """
    t, hit = np.arange(samples) / RATE, np.sqrt(2 * height / G)
    back, after = RESTITUTION * G * hit, t - hit
    z = np.where(t < hit, height - 0.5 * G * t**2, back * after - 0.5 * G * after**2)
    kept = t < hit + 2 * back / G
    pose = np.tile([0, 0, HALF_SIDE, 1.0, 0, 0, 0], (int(kept.sum()), 1))
    pose[:, 2] += z[kept]
    return Toss("bounce", pose, np.zeros(3), np.zeros(3))


MADE = [slide(0.8), slide(1.0), bounce(0.2), bounce(0.3)]


def file_of(made, path):
    """The tosses as a file, in half sides."""
    rows = {}
    for k, toss in enumerate(made):
        table = np.zeros((len(toss.pose), COLUMNS))
        table[:, :3], table[:, 3:7] = toss.pose[:, :3] / HALF_SIDE, toss.pose[:, 3:]
        table[:, 7:10], table[:, 10:13] = toss.linear / HALF_SIDE, toss.angular
        rows[f"toss_{k}"] = table
    np.savez(path, **rows)
    return path


@pytest.fixture(scope="module")
def tabi_engine():
    return study.TabiCube()


@pytest.fixture(scope="module")
def mujoco_engine():
    return study.MuJoCoCube()


@pytest.mark.parametrize("name", ["tabi_engine", "mujoco_engine"])
def test_free_flight_is_replayed_to_a_micrometre(name, request):
    toss = flight()
    away, turned = study.errors(request.getfixturevalue(name).replay(toss), toss)
    assert away.max() < 1e-6
    assert np.radians(turned).max() < 1e-6


def test_errors_are_the_distance_and_the_angle_of_the_turn_between():
    toss = flight(samples=5)
    off = toss.pose.copy()
    off[:, :3] += [0.003, 0.0, 0.004]
    R = Rotation.from_quat(toss.pose[:, [4, 5, 6, 3]]) * Rotation.from_rotvec(
        [0, np.radians(30), 0]
    )
    # a quaternion and its opposite are the same attitude
    off[:, 3:] = -quaternions(R)
    away, turned = study.errors(off, toss)
    assert away == pytest.approx(np.full(4, 0.005))
    assert turned == pytest.approx(np.full(4, 30.0))


@pytest.mark.slow
def test_the_search_finds_the_friction_of_a_slide_and_the_restitution_of_a_bounce(tabi_engine):
    found = study.fit(tabi_engine, MADE, budget=70)
    # a step of 1 ms is 0.3 % of a slide; an impact seen up to a step late at 2 m/s is 2 mm
    # of a bounce of 32 mm
    assert found["parameters"]["friction"] == pytest.approx(FRICTION, rel=0.02)
    assert found["parameters"]["restitution"] == pytest.approx(RESTITUTION, rel=0.05)
    assert found["evaluations"] <= 70


def test_both_engines_have_the_same_search_and_are_scored_on_the_odd_tosses(tmp_path):
    seen = []
    # even ones slide, odd ones fly: the flight has no error, whatever was fitted
    path = file_of([slide(0.8), flight(), slide(1.0), flight()], tmp_path / "made.npz")
    with reported(lambda *said: seen.append(said)):
        result = study.Tosses(path=path, budget=12).run()
    assert set(result["engines"]) == {"tabi", "mujoco"}
    assert not result["interrupted"]
    for engine in result["engines"].values():
        assert 6 < engine["evaluations"] <= 12
        assert len(engine["score"]["mean_position_m"]["each"]) == 2
        assert engine["score"]["mean_position_m"]["nine_in_ten"] < 1e-6
    assert ("fit tabi", 12, 12) in seen
    assert ("fit mujoco", 6, 12) in seen
    assert result["missed_steps"] == 0
    assert "mujoco" in study.Tosses(path=path).text(result)


def test_an_interrupt_leaves_what_was_done(tmp_path):
    def stop(what, done, count):
        if what == "fit mujoco":
            raise KeyboardInterrupt

    path = file_of([slide(0.8), flight(20)], tmp_path / "made.npz")
    with reported(stop):
        result = study.Tosses(path=path, budget=10).run()
    assert result["interrupted"]
    assert not result["within"]
    assert set(result["engines"]) == {"tabi"}
    assert "interrupted" in study.Tosses(path=path).text(result)


def test_a_replay_that_breaks_is_infinitely_bad():
    class Broken:
        name, ranges = "broken", {}

        def replay(self, toss):
            return np.full_like(toss.pose, np.nan)

    assert study.loss(Broken(), [flight(5)]) == np.inf


def test_recorded_tosses_fly_as_the_engine_says_until_they_touch(shared, tabi_engine):
    tosses = read(shared / "data" / "cube_tosses")
    assert len(tosses) == 100
    # 8 samples are 54 ms in which none has touched yet;
    # the recording is biased by 2 % and its velocities are rough
    pairs = [
        study.errors(tabi_engine.replay(cut), cut)
        for cut in (Toss(t.name, t.pose[:9], t.linear, t.angular) for t in tosses)
    ]
    assert np.median([away[-1] for away, _ in pairs]) < 2e-3
    assert np.median([turned[-1] for _, turned in pairs]) < 1.0


SCORE = {
    f"{which}_{what}": {"median": 0.01, "nine_in_ten": 0.1, "each": [0.01]}
    for which in ("mean", "last")
    for what in ("position_m", "angle_deg")
}


def test_an_error_that_is_larger_than_mujocos_is_named_and_not_within(tmp_path):
    path = file_of([slide(0.8), flight(20)], tmp_path / "made.npz")
    one = {"parameters": {"friction": 0.2}, "loss": 0.5, "evaluations": 10, "score": SCORE}
    worse = SCORE | {"mean_angle_deg": SCORE["mean_angle_deg"] | {"median": 0.02}}
    own = study.Tosses(path=path, budget=10)
    assert own.result([("tabi", one, 0), ("mujoco", one, 0)])["within"]
    found = own.result([("tabi", one | {"score": worse}, 0), ("mujoco", one, 0)])
    assert not found["within"]
    assert "larger than MuJoCo's: mean_angle_deg median" in own.text(found)


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(ModelError, match="do not exist"):
        study.Tosses(path=tmp_path / "missing.npz").run()
