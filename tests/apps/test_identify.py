"""``tabi identify``: from a recording or a table to numbers, a text and a figure."""

import json

import numpy as np
import pytest
from apps.sentences import mistake
from typer.testing import CliRunner

from tabi.apps import cli


def told(*arguments: object) -> str:
    done = CliRunner().invoke(cli.app, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """The built-in scene, by the commands that the documentation shows."""
    path = tmp_path_factory.mktemp("identify") / "x.h5"
    told("run", "tilt-and-release", "--record", path)
    return path


@pytest.fixture
def table(tmp_path):
    """A pendulum of 2 kg·m² on two bushes of 500 N·m/rad and 3 N·m·s/rad, m g h = 200 N·m/rad."""
    s = np.roots([2.0, 2 * 3.0, 2 * 500.0 - 200.0])[0]
    path, t = tmp_path / "tilt.csv", np.linspace(0, 2, 800)
    rows = [f"{a:.17g},{b:.17g}" for a, b in zip(t, np.exp(s * t).real, strict=True)]
    path.write_text("\n".join(["time_s,torque_nm", *rows]))
    return path


BODY = ("--inertia", 2.0, "--mass", 20.0, "--height", 200 / (20 * 9.81))


@pytest.mark.slow
def test_scene_and_command_give_the_bush_that_the_scene_has(recording, tmp_path):
    figure = tmp_path / "damped-oscillation.svg"
    found = json.loads(told("identify", "tilt", recording, "--json", "--figure", figure))
    assert found["stiffness_nm_rad"] == pytest.approx(5000.0, rel=0.02)
    assert found["damping_nms_rad"] == pytest.approx(50.0, rel=0.10)
    drawn = figure.read_text()
    assert "<svg" in drawn
    text = told("identify", "tilt", recording, "--signal", "pitch", "--from", 0.3)
    assert "the bush of one foot about pitch (95 % intervals)" in text
    assert "from an oscillation of pitch" in text


@pytest.mark.slow
def test_table_and_what_stands_on_it_give_the_closed_form(table):
    found = json.loads(told("identify", "tilt", table, *BODY, "--json"))
    assert found["stiffness_nm_rad"] == pytest.approx(500.0, rel=1e-6)
    assert found["damping_nms_rad"] == pytest.approx(3.0, rel=1e-5)
    assert found["frequency_rad_s"] == pytest.approx(np.sqrt(800 / 2), rel=1e-7)
    low, high = found["stiffness_interval_nm_rad"]
    assert low <= found["stiffness_nm_rad"] <= high


@pytest.mark.slow
def test_numbers_by_hand_stand_in_for_the_recorded_ones(recording):
    """One servo in series for all of the leg's is a rougher model than the recording's own."""
    whole = json.loads(told("identify", "tilt", recording, "--json"))
    body = ("--inertia", whole["inertia_kg_m2"], "--mass", 55.0)
    height = whole["tilting_nm_rad"] / (55.0 * 9.81)
    servo = ("--servo-stiffness", 4840.0, "--servo-damping", 500.0)
    hand = json.loads(
        told("identify", "tilt", recording, *body, "--height", height, *servo, "--json")
    )
    assert hand["stiffness_nm_rad"] < whole["stiffness_nm_rad"]
    assert hand["frequency_rad_s"] == pytest.approx(whole["frequency_rad_s"], rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "does not specify what stands on the bushes; expected --inertia [kg·m²], --mass [kg]"),
        (("--mass", 3.0), "does not specify what stands on the bushes"),
        ((*BODY, "--servo-damping", 3.0), "--servo-damping is given without --servo-stiffness"),
        (
            (*BODY, "--signal", "pitch"),
            "its columns are time_s, torque_nm; expected time_s and pitch",
        ),
        ((*BODY, "--signal", "force"), "signal 'force' not found in a record"),
        ((*BODY, "--from", 1.9), "of one oscillation; expected at least one: record longer"),
        ((*BODY, "--from", 5.0), "has 0 samples; expected at least 12"),
        ((*BODY, "--figure", "fit.bmp"), "the format '.bmp' is not known"),
    ],
)
def test_mistakes_are_one_sentence(monkeypatch, capsys, table, arguments, sentence):
    assert sentence in mistake(monkeypatch, capsys, "identify", "tilt", table, *arguments)


def test_servos_are_told_once(monkeypatch, capsys, recording):
    said = mistake(monkeypatch, capsys, "identify", "tilt", recording, "--servo-stiffness", 4840.0)
    assert "--servo-stiffness and --servo-damping are in the recording; leave them out" in said


def test_files_that_are_no_records_are_refused(monkeypatch, capsys, tmp_path, recording):
    said = mistake(monkeypatch, capsys, "identify", "tilt", tmp_path / "none.h5")
    assert "none.h5: there is no such file; expected a recording" in said
    svg = tmp_path / "x.svg"
    svg.write_text("no recording")
    said = mistake(monkeypatch, capsys, "identify", "tilt", svg, "--figure", svg)
    assert "is the record itself; choose another name" in said
