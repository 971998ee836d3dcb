"""``tabi run``: the summary, its exit codes, and that nothing is begun that cannot end well."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from apps import sentences
from typer.testing import CliRunner

from tabi import TabiError, scenes
from tabi.apps import cli, run
from tabi.recording.recording import Recording
from tabi.runs import play as player
from tabi.runs import summary as run_summary
from tabi.runs import watch as run_watch

SLOPE = (
    "title: t\nduration_s: 0.1\nground: {}\n"
    "objects: [{shape: box, name: crate, size_m: [0.2, 0.2, 0.2], mass_kg: 1, "
    "position_m: [0, 0, 0.1]}]\n"
)


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(SLOPE)
    return path


def invoke(*arguments: object):
    return CliRunner().invoke(cli.app, ["run", *map(str, arguments)])


def mistake(monkeypatch, capsys, *arguments: object) -> str:
    monkeypatch.setattr(run, "play", lambda *_: pytest.fail("it was run"))
    return sentences.mistake(monkeypatch, capsys, "run", *arguments)


@pytest.mark.slow
def test_a_run_says_how_it_went(scene):
    done = invoke(scene)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("mine: t\n  ran 0.1 s in ")
    assert "every step certified to 1e-08 m/s; 4 contacts at the end" in done.stdout
    assert "crate is at 0.0000, 0.0000, 0.1000 m" in done.stdout


def test_json_has_the_same_with_units(scene):
    page = json.loads(
        invoke(scene, "--json", "--time", "0.05", "--set", "objects.crate.mass_kg=2").stdout
    )
    assert (
        page["scene"],
        page["time_s"],
        page["steps"],
        page["missed_steps"],
        page["contacts"],
    ) == ("mine", 0.05, 50, 0, 4)
    assert page["settings"] == ["objects.crate.mass_kg=2", "duration_s=0.05"]
    assert 0 <= page["worst_residual_m_s"] <= page["tolerance_m_s"]
    assert page["worst_force_residual_n"] >= 0
    assert page["places_m"]["crate"][2] == pytest.approx(0.1, abs=1e-9)
    assert (page["interrupted"], page["stopped"], page["recording"], page["fallen_at_s"]) == (
        False,
        None,
        None,
        {},
    )


def test_a_recording_holds_the_whole_run_at_the_rate_of_the_scene(scene, tmp_path):
    out = tmp_path / "run.h5"
    done = invoke(scene, "--record", out, "--set", "record.rate_hz=100")
    assert done.exit_code == 0, done.output
    assert f"recorded in {out}" in done.stdout
    # a hundred a second and the start
    assert Recording.load(out).time == pytest.approx([k / 100 for k in range(11)])


def test_real_time_does_not_run_ahead_of_the_clock(scene):
    start = time.monotonic()
    page = json.loads(invoke(scene, "--real-time", "--time", "0.4", "--json").stdout)
    assert time.monotonic() - start >= 0.4
    assert page["real_time_factor"] <= 1.01


# ---- exit codes ---------------------------------------------------------------------------------


def test_missed_steps_end_with_1(scene, monkeypatch):
    sim = scenes.load(scene).simulator()
    # as if two steps had missed before
    sim._stepper.missed_count = 2
    monkeypatch.setattr(scenes.Scene, "simulator", lambda self, plays=True: sim)
    done = invoke(scene)
    assert done.exit_code == 1
    assert "2 STEPS DID NOT CONVERGE to 1e-08 m/s" in done.stdout


def test_the_time_of_a_fall_is_where_the_margin_between_two_looks_is_zero():
    assert run_watch.crossing((1.0, 0.3), (1.1, -0.1)) == pytest.approx(1.075)
    # it lay there already
    assert run_watch.crossing((1.0, -0.2), (1.1, -0.1)) == 1.0


def test_a_robot_in_the_air_has_not_fallen(tmp_path):
    (tmp_path / "drop.yaml").write_text(
        "title: t\nground: {}\nduration_s: 0.6\nrobots: [{robot: hrp2, drop_m: 2}]\n"
    )
    # after 0.6 s it is 1.8 m lower, far below half the height it began at, and still above its own
    done = invoke(tmp_path / "drop.yaml", "--expect-standing")
    assert done.exit_code == 0
    assert "hrp2 did not fall" in done.stdout


@pytest.mark.slow
def test_who_falls_ends_with_1_only_where_standing_was_expected():
    # dropped by 0.1 m, it passes half of its height after 0.6 s
    arguments = ("fall", "--time", "0.7")
    assert invoke(*arguments).exit_code == 0
    done = invoke(*arguments, "--expect-standing")
    assert done.exit_code == 1
    assert "hrp2 fell at 0." in done.stdout
    assert invoke("standing", "--time", "0.1", "--expect-standing").exit_code == 0


def test_a_simulation_that_stops_ends_with_1_and_keeps_its_recording(scene, tmp_path, monkeypatch):
    out, loaded = tmp_path / "run.h5", scenes.load(scene)
    sim = loaded.simulator()

    def stops(contact, kind):
        raise TabiError("the world has ended")

    sim.on_contact(stops)
    monkeypatch.setattr(scenes.Scene, "simulator", lambda self, plays=True: sim)
    found = player.play(scenes.load(scene, ["objects.crate.position_m=[0, 0, 0.11]"]), out)
    assert (found.stopped, found.code()) == ("the world has ended", 1)
    assert "STOPPED: the world has ended" in found.text()
    assert len(Recording.load(out).time) >= 1


@pytest.mark.process
def test_an_interrupt_ends_with_130_and_keeps_the_recording(scene, tmp_path):
    out = tmp_path / "run.h5"
    command = [
        sys.executable,
        "-m",
        "tabi.apps.cli",
        "run",
        str(scene),
        "--time",
        "1000",
        "--real-time",
        "--json",
        "--record",
        str(out),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        # a file that has grown has its first second
        end, sizes = time.monotonic() + 300, set()
        while time.monotonic() < end and len(sizes) < 3:
            time.sleep(0.1)
            sizes.add(out.stat().st_size if out.exists() else 0)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    page = json.loads(said)
    assert process.returncode == 130
    assert page["interrupted"] is True
    recorded = Recording.load(out)
    assert recorded.time[-1] == pytest.approx(page["time_s"])
    assert len(recorded.time) == page["steps"] + 1


# ---- mistakes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["standng"], "did you mean 'standing'?"),
        (["mine.yml"], "mine.yml: there is no such file"),
        (["standing", "--set", "ground.frction=1"], "did you mean 'friction'?"),
        (["standing", "--time", "-1"], "--time is -1 s; expected a number > 0"),
        (["standing", "--time", "nan"], "--time is nan s"),
        (["standing", "--record", "nowhere/run.h5"], "nowhere/run.h5: there is no folder"),
        (["standing", "--record", "."], ".: it is a folder"),
        (["standing", "--page", "--json"], "leave out --record, --json"),
    ],
)
def test_mistakes_are_one_sentence_before_anything_runs(monkeypatch, capsys, tmp_path, given, said):
    monkeypatch.chdir(tmp_path)
    assert said in mistake(monkeypatch, capsys, *given)


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="the superuser may write everywhere"
)
def test_a_folder_of_others_is_refused(monkeypatch, capsys, scene, tmp_path):
    tmp_path.chmod(0o500)
    assert "it cannot be written" in mistake(
        monkeypatch, capsys, scene, "--record", tmp_path / "run.h5"
    )


@pytest.mark.process
def test_a_recording_that_fails_at_the_start_is_one_sentence(scene):
    done = subprocess.run(
        [sys.executable, "-m", "tabi.apps.cli", "run", str(scene), "--record", "/dev/full"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr


def test_the_page_shows_the_world_of_the_scene(monkeypatch, scene):
    from tabi.apps import viewer

    shown = []
    monkeypatch.setattr(
        viewer, "show", lambda world, **options: shown.append((world.objects[0].name, options))
    )
    assert invoke(scene, "--page", "--no-browser", "--port", "8123").exit_code == 0
    ((name, options),) = shown
    assert (name, options["port"], options["open_browser"], options["live"], options["camera"]) == (
        "crate",
        8123,
        False,
        True,
        None,
    )
    # with its motions and pushes: the scene's own simulator
    assert options["build"]().time == 0.0


def test_a_recording_is_never_written_over_a_file_that_is_none(
    scene, tmp_path, monkeypatch, capsys
):
    other = tmp_path / "notes.h5"
    other.write_text("mine")
    assert "is no recording; choose another name" in mistake(
        monkeypatch, capsys, scene, "--record", other
    )
    assert "expected a file name that ends in .h5" in mistake(
        monkeypatch, capsys, scene, "--record", scene
    )
    assert (scene.read_text(), other.read_text()) == (SLOPE, "mine")


@pytest.mark.parametrize("time", ["nan", "inf", "-1", "0", "1e300"])
def test_a_time_that_cannot_be_is_named_as_it_was_given(scene, monkeypatch, capsys, time):
    assert mistake(monkeypatch, capsys, scene, f"--time={time}").startswith(
        f"tabi: --time is {float(time):g} s; expected"
    )


def test_a_robot_that_nothing_can_touch_is_noted(tmp_path):
    link = (
        '<link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" '
        'iyz="0" izz="1"/></inertial></link>'
    )
    (tmp_path / "ghost.urdf").write_text(f'<robot name="ghost">{link}</robot>')
    path = tmp_path / "mine.yaml"
    path.write_text(
        "title: t\nduration_s: 0.01\nground: {}\n"
        "robots: [{robot: ghost.urdf, position_m: [0, 0, 1]}]\n"
    )
    assert "note: ghost: it has no shape, so nothing can touch it" in invoke(path).stdout
    assert len(json.loads(invoke(path, "--json").stdout)["notes"]) == 1


def test_slow_steps_are_taken_one_by_one_and_stopped_between_two_of_them(scene, monkeypatch):
    sim, asked, taken = scenes.load(scene).simulator(), [], []
    monkeypatch.setattr(player, "MAX_LOOK_PERIOD_S", 0.0)
    sim_run = sim.run

    def slowly(duration: float) -> None:
        sim_run(duration)
        taken.append(round(duration / sim.dt))
        if len(taken) == 4:
            asked.append(1)

    monkeypatch.setattr(sim, "run", slowly)
    assert player._advance(sim, 0.1, None, lambda: False, asked)
    # fifty at a time, until they are found to be slow
    assert taken == [50, 1, 1, 1]
    assert sim.time == pytest.approx(0.054)


def test_lengths_have_a_unit_that_suits_them():
    assert run_summary.length(0.095) == "95 mm"
    assert run_summary.length(1e-3) == "1 mm"
    assert run_summary.length(9.5e-4) == "950 µm"


def test_a_time_on_the_command_line_hides_no_fault_of_the_scene(tmp_path):
    file = tmp_path / "my.yaml"
    file.write_text(
        "title: t\nduration_s: -3\nobjects:\n  - {shape: sphere, radius_m: 0.1, mass_kg: 1, "
        "position_m: [0, 0, 1]}\n"
    )
    with pytest.raises(TabiError, match="duration_s is -3; expected a number > 0"):
        cli.app(["run", str(file), "--time", "0.01"], standalone_mode=False)


@pytest.mark.parametrize("command", ["run", "plot", "sweep", "info"])
def test_help_speaks_of_what_to_type_not_of_types(command):
    shown = CliRunner().invoke(cli.app, [command, "--help"]).output
    assert "list[" not in shown
