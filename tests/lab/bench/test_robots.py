"""The bench of robots from files: that both engines get the same, whatever the clock says."""

import json

import pytest
from robots.test_files import biped

from tabi.lab.bench import robots
from tabi.lab.study import reported


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    pytest.importorskip("mujoco")
    folder = tmp_path_factory.mktemp("robots")
    good, broken = folder / "biped.urdf", folder / "broken.urdf"
    good.write_text(biped())
    broken.write_text("<robot")
    done = []
    with reported(lambda what, *_: done.append(what)):
        result = robots.RobotsBench(files=[good, broken], blocks=3, seconds=0.8).run()
    assert done == ["biped.urdf", "broken.urdf"]
    return result


@pytest.mark.slow
def test_it_stands_on_its_soles_in_both_engines(found):
    standing = found["robots"][0]["standing"]
    assert standing["contacts"]["tabi"] == 8
    # soft contacts let it rock, and at the last moment it may touch with few corners or none
    assert 0 <= standing["contacts"]["mujoco"] <= 8
    assert standing["missed"] == 0
    assert standing["ratio"] > 0
    assert found["median_ratio"] == found["least_ratio"] == standing["ratio"]


@pytest.mark.slow
def test_limp_it_falls_and_every_step_counts(found):
    limp = found["robots"][0]["limp"]
    assert limp["steps"] == 800
    assert limp["missed"] <= 1
    # the longest step is no shorter than the mean one
    assert 1e3 * limp["longest_ms"] >= limp["microseconds"]["tabi"] > 0
    # feet first, then more of it
    assert limp["most_points"] > 8


@pytest.mark.slow
def test_a_file_that_is_refused_says_why_and_all_is_printed(found):
    assert "broken.urdf" in found["robots"][1]["fault"]
    assert json.loads(json.dumps(found)) == found
    said = robots.RobotsBench(files=[]).text(found)
    assert "biped.urdf" in said
    assert found["robots"][1]["fault"] in said
    assert "in the median" in said


def test_an_interrupt_keeps_the_robots_that_are_done(monkeypatch, tmp_path):
    monkeypatch.setattr(robots, "_robot", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    result = robots.RobotsBench(files=[tmp_path / "a.urdf"]).run()
    assert result["interrupted"]
    assert "interrupted" in robots.RobotsBench(files=[]).text(result)
