"""Two runs side by side."""

from dataclasses import replace

import numpy as np
import pytest

from tabi.recording.recorded import read
from tabi.reporting import difference


def test_recording_is_the_same_as_itself(run):
    result = difference.compare(run, run)
    assert result["verdict"] == "same"
    assert difference.code(result) == 0
    assert result["parts_at"] is None
    assert difference.text(result) == "same (201 rows in common of 201 and 201)"


def test_runs_part_when_they_are_pushed_differently(run, harder):
    result = difference.compare(run, read(harder))
    assert (result["verdict"], difference.code(result)) == ("different", 1)
    # pushed from 0.1 s on: the first row after it, at 500 Hz
    assert result["parts_at"] == pytest.approx(0.102)
    for what in ("q", "v", "force"):
        found = result["largest"][what]
        assert found["difference"] == pytest.approx(abs(found["a"] - found["b"]))
        assert found["time"] > 0.1
    assert result["largest"]["force"]["name"].startswith(("left_foot", "right_foot", "world"))
    assert "they part at 0.102 s" in difference.text(result)


def test_one_number_is_found_with_its_time_and_name(run):
    q, k = run.q.copy(), run.world.dof["q"][run.world.joint_of.index("LARM_ELBOW_P")]
    q[120, k] += 1e-9
    result = difference.compare(run, replace(run, q=q))
    assert result["parts_at"] == run.time[120]
    found = result["largest"]["q"]
    assert (found["name"], found["time"]) == ("LARM_ELBOW_P", run.time[120])
    assert found["difference"] == pytest.approx(1e-9, rel=1e-6)
    assert set(result["largest"]) == {"q"}


def test_shorter_run_is_different_and_meta_data_are_listed(run):
    short = replace(
        run,
        time=run.time[:50],
        q=run.q[:50],
        v=run.v[:50],
        contact_count=run.contact_count[:50],
        meta=run.meta | {"seed": 4},
    )
    total = int(run.contact_count[:50].sum())
    short = replace(short, contacts={name: column[:total] for name, column in run.contacts.items()})
    result = difference.compare(run, short)
    assert result["verdict"] == "different"
    assert result["reason"] == "they are equal where both are, but not equally long"
    assert result["rows"] == {"a": 201, "b": 50, "common": 50}
    assert result["meta"] == {"seed": [3, 4]}


def test_other_robots_and_other_times_are_not_comparable(run):
    other = replace(run, joint_names=[*run.joint_names[:-1], "TAIL"])
    result = difference.compare(run, other)
    assert (result["verdict"], difference.code(result)) == ("not comparable", 2)
    assert "their joints are not the same" in result["reason"]
    later = difference.compare(run, replace(run, time=run.time + 7.0))
    assert later["reason"] == "no time is in both of them"
    narrow = difference.compare(run, replace(run, q=np.zeros((201, 3))))
    assert "their worlds are not the same" in narrow["reason"]


def test_scenes_that_begin_alike_are_told_by_the_first_line_that_differs():
    scenes = ["title: t\nground: {friction: 0.2}\n", "title: t\nground: {friction: 0.3}\n"]
    rows = {"a": 1, "b": 1, "common": 1}
    told = difference.text(
        {
            "verdict": "different",
            "reason": "",
            "rows": rows,
            "episodes": {"a": 0, "b": 0},
            "parts_at": None,
            "largest": {},
            "meta": {"scene": scenes},
        }
    )
    assert told.splitlines()[1] == "  scene: ground: {friction: 0.2} and ground: {friction: 0.3}"
    assert difference._first_difference("a\nb", "a") == ("b", "(ends)")
