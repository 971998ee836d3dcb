"""The command line: every answer in its place, every mistake one sentence and exit code 2."""

import json
import os
import socket
import subprocess
import sys

import pytest
from apps.sentences import mistake
from typer.testing import CliRunner

import tabi
from tabi.apps import cli

HEAVY = (
    "skfem",
    "numba",
    "numpy",
    "viser",
    "mujoco",
    "scipy",
    "trimesh",
    "lxml",
    "rich",
    "pinocchio",
    "matplotlib",
)


def run(*arguments: str, **options) -> subprocess.CompletedProcess:
    """The command in a process of its own."""
    settings = {"capture_output": True, "text": True, "timeout": 60, **options}
    return subprocess.run([sys.executable, "-m", "tabi.apps.cli", *arguments], **settings)


@pytest.fixture
def urdf(tmp_path):
    """A leg with one joint and a sole."""
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
        "</inertial>"
    )
    box = '<collision><geometry><box size="0.2 0.1 0.02"/></geometry></collision>'
    joint = (
        '<joint name="knee" type="continuous"><parent link="thigh"/><child link="paw"/>'
        '<axis xyz="0 1 0"/></joint>'
    )
    path = tmp_path / "leg.urdf"
    path.write_text(
        f'<robot name="leg"><link name="thigh">{inertial}</link>'
        f'<link name="paw">{inertial}{box}</link>{joint}</robot>'
    )
    return path


# ---- answers ------------------------------------------------------------------------------------


@pytest.mark.process
def test_help_names_every_command():
    done = run("--help")
    assert done.returncode == 0
    assert done.stderr == ""
    assert all(
        f"\n  {command} " in done.stdout
        for command in ("demo", "info", "doctor", "warmup", "bench", "export-problem")
    )


@pytest.mark.process
def test_help_imports_nothing_heavy():
    code = f"""
import sys
from tabi.apps import cli
try:
    cli.app(["--help"])
finally:
    print([name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.process
def test_version_is_the_packages():
    assert run("--version").stdout == f"tabi {tabi.__version__}\n"


def test_info_prints_the_report_of_the_built_in_robot():
    result = CliRunner().invoke(cli.app, ["info", "hrp2"])
    assert result.exit_code == 0
    assert result.stdout.startswith("hrp2\n")
    assert "30 joints" in result.stdout


@pytest.mark.process
def test_info_as_json_is_json_with_the_facts_of_the_robot():
    done = run("info", "hrp2", "--json")
    page = json.loads(done.stdout)
    assert done.stderr == ""
    # 30 joints and 58 kg are what the robot's makers publish
    assert page["name"] == "hrp2"
    assert page["mass"] == pytest.approx(58.0, abs=0.01)
    assert len(page["joints"]) == 30


def test_foot_is_declared_by_name_and_body(urdf):
    result = CliRunner().invoke(
        cli.app, ["info", str(urdf), "--foot", "left=paw", "--base", "fixed"]
    )
    assert result.exit_code == 0
    assert "left: paw, sole 200 × 100 mm" in result.stdout
    assert "fixed" in result.stdout


def test_built_in_robot_is_found_beside_a_folder_of_its_name(tmp_path, monkeypatch):
    (tmp_path / "hrp2").mkdir()
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli.app, ["info", "hrp2"]).stdout.startswith("hrp2\n")


# ---- mistakes -----------------------------------------------------------------------------------


@pytest.mark.process
def test_unknown_robot_is_one_sentence_in_a_process_too():
    done = run("info", "nosuch")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "tabi: robot 'nosuch' is neither built in (cb, hoap2, hrp1s, hrp2) nor a file; "
        "give a path to a URDF, MJCF, .wrl or .body file\n"
    )


def test_missing_file_and_directory_are_refused(monkeypatch, capsys, tmp_path):
    assert "no such file" in mistake(monkeypatch, capsys, "info", str(tmp_path / "gone.urdf"))
    assert "it is a directory" in mistake(monkeypatch, capsys, "info", str(tmp_path))


def test_broken_xml_is_refused_with_file_and_line(monkeypatch, capsys, tmp_path):
    path = tmp_path / "broken.urdf"
    path.write_text('<robot name="r">\n  <link name="a">\n</robot>\n')
    assert f"{path}, line 3: " in mistake(monkeypatch, capsys, "info", str(path))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--foot", "left"], "--foot 'left' is not NAME=BODY"),
        (["--foot", "=paw"], "--foot '=paw' is not NAME=BODY"),
        (["--foot", "left="], "--foot 'left=' is not NAME=BODY"),
        (["--foot", "left=hoof"], "body 'hoof' not found"),
        (["--foot", "left=paw", "--foot", "left=thigh"], "declares 'left' twice"),
        (["--base", "flying"], "base is 'flying'; expected 'floating' or 'fixed'"),
        (["--collision", "hull"], "collision is 'hull'; expected one of file, visual, decomposed"),
    ],
)
def test_foot_and_base_that_cannot_be_are_refused(monkeypatch, capsys, urdf, given, expected):
    assert expected in mistake(monkeypatch, capsys, "info", str(urdf), *given)


@pytest.mark.parametrize(
    "given", [["--foot", "left=left_foot"], ["--base", "fixed"], ["--collision", "visual"]]
)
def test_built_in_robot_does_not_ignore_what_it_cannot_heed(monkeypatch, capsys, given):
    assert "hrp2 is built in" in mistake(monkeypatch, capsys, "info", "hrp2", *given)


def test_busy_port_of_the_demo_is_refused(monkeypatch, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"port {port} of 127.0.0.1 is in use" in mistake(
            monkeypatch, capsys, "demo", "--no-browser", "--port", str(port)
        )


@pytest.mark.parametrize(
    "arguments",
    [
        ["demo", "--port", "65536"],
        ["demo", "--port", "0"],
        ["bench", "dynamics", "--blocks", "2"],
        ["nosuch"],
        ["info"],
    ],
)
def test_misuse_of_options_is_explained_without_a_traceback(arguments):
    result = CliRunner().invoke(cli.app, arguments)
    assert result.exit_code == 2
    assert "Error: " in result.stderr


# ---- outputs that fail --------------------------------------------------------------------------


@pytest.fixture
def buffered(monkeypatch):
    """Python as most people run it: output is written when there is enough of it, or at exit."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)


@pytest.mark.process
@pytest.mark.usefixtures("buffered")
@pytest.mark.parametrize("command", [["info", "hrp2"], ["--version"]])
def test_reader_that_has_left_is_no_error_message(command):
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w", encoding="utf-8") as nobody:
        done = run(*command, capture_output=False, stdout=nobody, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr == ""


@pytest.mark.process
@pytest.mark.usefixtures("buffered")
@pytest.mark.parametrize("command", [["info", "hrp2"], ["--version"]])
def test_full_disk_is_one_sentence(command):
    try:
        full = open("/dev/full", "w", encoding="utf-8")  # noqa: SIM115
    except OSError:
        pytest.skip("this system has no /dev/full")
    with full:
        done = run(*command, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr.startswith("tabi: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.process
def test_terminal_without_unicode_gets_question_marks_not_a_traceback(monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = run("info", "hrp2")
    assert done.returncode == 0
    assert "sole 240 ? 138 mm" in done.stdout


def test_interrupt_ends_with_130(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "named", interrupted)
    monkeypatch.setattr(sys, "argv", ["tabi", "info", "hrp2"])
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 130


# ---- contact problems of a run ------------------------------------------------------------------


@pytest.mark.parametrize("name", ["problem.hdf5", "problem.npz"])
def test_exported_problem_is_that_of_the_step_and_is_solved(tmp_path, name):
    from tabi.contact import files

    path = tmp_path / name
    done = CliRunner().invoke(cli.app, ["export-problem", "--time", "0.05", "--out", str(path)])
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(f"{path}: 8 contacts at 0.05 s, solved there to ")
    assert files.read(path).contact_count == 8
    solved = CliRunner().invoke(cli.app, ["solve", str(path), "--json"])
    assert solved.exit_code == 0, solved.output
    page = json.loads(solved.stdout)
    assert (page["contacts"], page["converged"]) == (8, True)


@pytest.mark.parametrize("name", ["problem.txt", "nowhere/problem.hdf5", "."])
def test_problem_file_that_cannot_be_is_refused_before_anything_is_simulated(
    monkeypatch, capsys, tmp_path, name
):
    monkeypatch.setattr(cli, "standing", lambda *_: pytest.fail("it was simulated"))
    assert str(tmp_path / name) in mistake(
        monkeypatch, capsys, "export-problem", "--out", str(tmp_path / name)
    )


def test_step_without_contacts_has_no_problem(monkeypatch, capsys, tmp_path, urdf):
    out = tmp_path / "problem.hdf5"
    # a leg that hangs a metre above the ground
    urdf.write_text(
        urdf.read_text().replace('<child link="paw"/>', '<child link="paw"/><origin xyz="0 0 1"/>')
    )
    assert "no contact at 0.01 s" in mistake(
        monkeypatch,
        capsys,
        "export-problem",
        "--robot",
        str(urdf),
        "--base",
        "fixed",
        "--time",
        "0.01",
        "--out",
        str(out),
    )
    assert not out.exists()


@pytest.mark.parametrize(
    ("given", "name", "live"),
    [
        (["hrp2"], "hrp2 on the ground", True),
        (["hrp2", "--still"], "hrp2 on the ground", False),
        (["--still"], "hrp2 on the ground", False),
        ([], "steer", True),
    ],
)
def test_demo_simulates_unless_it_is_to_stay_still(monkeypatch, given, name, live):
    from tabi.apps import viewer

    shown = []
    monkeypatch.setattr(
        viewer,
        "show",
        lambda world, **options: shown.append(
            (world.robots[0].name, options["name"], options["live"])
        ),
    )
    assert CliRunner().invoke(cli.app, ["demo", *given]).exit_code == 0
    assert shown == [("hrp2", name, live)]


def test_the_demo_begins_with_a_robot_to_steer_and_the_standing_one_is_in_the_list():
    from tabi.apps.viewer import catalogue
    from tabi.apps.viewer.steering import steered_walkers

    assert list(steered_walkers(catalogue.builder(cli.DEMO)())) == ["hrp2"]
    assert {cli.DEMO, "standing"} <= set(catalogue.names())


# ---- bench --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_bench_prints_positive_ratios_to_both_engines(monkeypatch):
    pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    from tabi.lab.bench import dynamics

    start = {
        "first_compilation_s": 1.0,
        "cached_import_to_first_step_s": 1.0,
        "help_s": 1.0,
        "hrp2_loading_s": 1.0,
    }
    monkeypatch.setattr(dynamics, "startup", lambda: start)
    done = CliRunner().invoke(cli.app, ["bench", "dynamics", "--json", "--blocks", "3"])
    assert done.exit_code == 0, done.output
    page = json.loads(done.stdout)
    robot = page["robots"]["hrp2"]
    # 30 joints and a floating base
    assert (robot["joints"], robot["v_count"], page["settings"]["blocks"]) == (30, 36, 3)
    assert set(robot["ratio_to_pinocchio"]) == {"aba", "rnea", "crba"}
    assert all(
        ratio > 0
        for ratio in (*robot["ratio_to_pinocchio"].values(), robot["free_step"]["ratio_to_mujoco"])
    )
    assert page["versions"]["tabi"] == tabi.__version__
    assert "× faster" in dynamics.DynamicsBench().text(page)
