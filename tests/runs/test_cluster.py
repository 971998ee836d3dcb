"""``tabi sweep --cluster``: the same numbers as by processes of this machine, also where a worker
is killed on the way; and clusters that cannot be.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest
from apps.pages import until
from apps.sentences import invoked, refusal

from tabi import TabiError, scenes
from tabi.runs import cluster, executor
from tabi.runs.pool import Task

CUBE = "title: a cube\nduration_s: 1.2\nground: {friction: 1}\n"
CUBE += (
    "objects: [{shape: box, name: cube, size_m: [0.2, 0.2, 0.2], mass_kg: 1, friction: 0.2, "
    "position_m: [0, 0, 0.1], velocity_m_s: [2, 0, 0]}]\n"
)
# of a row, what tells how busy a machine was
CLOCK = ("wall_s", "real_time_factor")


@pytest.fixture
def scene(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cube.yaml").write_text(CUBE)
    return "cube.yaml"


@pytest.fixture(scope="module")
def local():
    """Two workers in processes of their own."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as found:
        yield found


invoke, refused = partial(invoked, "sweep"), partial(refusal, "sweep")


def lines(folder: Path) -> list[dict]:
    path = folder / "results.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def numbers(runs: list[dict]) -> list[dict]:
    """Rows without their clocks and the order in which they ended."""
    return [{key: x for key, x in run.items() if key not in (*CLOCK, "run")} for run in runs]


@pytest.mark.slow
@pytest.mark.process
def test_a_worker_killed_on_the_way_changes_no_number(scene, tmp_path, local):
    # ten times as long as it takes to notice a row
    over = ("--over", "objects.cube.friction=0.2:0.9:8", "--time", 30, "--json")
    alone = json.loads(invoke(scene, *over, "--jobs", 1, "--out", "alone").stdout)
    with local.get_client() as client:
        pids = list(client.run(os.getpid).values())
    killed = []

    def kill():
        if until(lambda: len(lines(tmp_path / "shared")) >= 1, 120):
            killed.append(len(lines(tmp_path / "shared")))
            os.kill(pids[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    done = invoke(scene, *over, "--cluster", local.scheduler_address, "--out", "shared")
    killer.join()
    assert done.exit_code == 0, done.output
    shared = json.loads(done.stdout)
    # while some had still to be done, and each of them once
    assert 1 <= killed[0] < 8
    assert sorted(row["run"] for row in lines(tmp_path / "shared")) == list(range(1, 9))
    assert numbers(shared["runs"]) == numbers(alone["runs"])


@pytest.mark.process
def test_rows_that_are_there_are_not_given_to_workers(scene, tmp_path, local, monkeypatch):
    cluster_at = ("--cluster", local.scheduler_address, "--out", "out", "--json")
    first = json.loads(invoke(scene, "--over", "duration_s=0.01,0.02", *cluster_at).stdout)
    given = []
    packed = cluster.packed
    monkeypatch.setattr(
        cluster, "packed", lambda task: given.append(task.parameters) or packed(task)
    )
    more = json.loads(invoke(scene, "--over", "duration_s=0.01:0.03:3", *cluster_at).stdout)
    assert given == [{"duration_s": "0.03"}]
    assert more["runs"][:2] == first["runs"]


def test_a_run_is_sent_as_a_text_and_is_the_same_scene(scene):
    chosen = {"objects.cube.friction": "0.3"}
    task = Task(scene, ["duration_s=0.05", "objects.cube.friction=0.3"], chosen, None)
    text, name, settings = cluster.packed(task)
    assert scenes.loads(text) == scenes.load(scene, task.settings)
    found = cluster.run(text, name, settings, cluster.identity())
    assert (found["scene"], found["settings"]) == ("cube", task.settings)
    assert found["places_m"]["cube"][0] > 0.05


@pytest.mark.process
def test_a_run_that_cannot_be_is_lost_alone(scene, local, monkeypatch):
    packed = cluster.packed
    monkeypatch.setattr(
        cluster,
        "packed",
        lambda task: ("title: 7 7", "cube", []) if "0.02" in str(task) else packed(task),
    )
    done = invoke(
        scene, "--over", "duration_s=0.01,0.02,0.03", "--cluster", local.scheduler_address
    )
    assert done.exit_code == 1
    assert "2 of 3 runs" in done.stdout
    assert "LOST: the run of duration_s=0.02 was lost" in done.stdout


# ---- mistakes -----------------------------------------------------------------------------------


def test_an_address_where_nobody_answers_is_named(scene, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "ANSWER", 0.5)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        said = refused(scene, "--over", "duration_s=1", "--cluster", address)
    assert f"--cluster {address}: no Dask scheduler answers there within 0.5 s" in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cube.yaml"]


def test_a_scheduler_without_workers_is_named(scene, tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=0, processes=False, dashboard_address=":0", silence_logs=50, protocol="tcp"
    ) as empty:
        said = refused(scene, "--over", "duration_s=1", "--cluster", empty.scheduler_address)
    assert "it has no workers; start some with `dask worker tcp://" in said
    assert not (tmp_path / "cube-sweep").exists()


@pytest.mark.process
def test_workers_with_another_tabi_are_named_before_anything_runs(scene, tmp_path):
    distributed = pytest.importorskip("distributed")
    other = tmp_path / "other" / "tabi"
    (other / "jit").mkdir(parents=True)
    (other / "__init__.py").write_text("__version__ = '9.9.9'\n")
    (other / "jit" / "__init__.py").write_text("")
    (other / "jit" / "cache_folder.py").write_text("def source_digest():\n    return 'feed'\n")
    with distributed.LocalCluster(
        n_workers=0, processes=False, dashboard_address=":0", silence_logs=50, protocol="tcp"
    ) as found:
        address = found.scheduler_address
        path = os.pathsep.join([str(other.parent), *filter(None, sys.path)])
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny"]
        worker = subprocess.Popen(
            [*command, "--no-dashboard", "--nthreads", "1"],
            env=os.environ | {"PYTHONPATH": path},
            stderr=subprocess.DEVNULL,
        )
        try:
            with found.get_client() as client:
                client.wait_for_workers(1, timeout=60)
            said = refused(scene, "--over", "duration_s=1", "--cluster", address)
        finally:
            worker.kill()
            worker.wait()
    assert f"--cluster {address}: worker tcp://127.0.0.1:" in said
    assert "has tabi 9.9.9 (sources feed), and here is tabi" in said
    assert said.endswith("install the same on all of them")
    assert not (tmp_path / "cube-sweep").exists()


def test_who_differs_is_told_and_how_many_more(scene):
    with pytest.raises(TabiError) as found:
        cluster.refuse("tcp://a:1", {f"w{k}": "Python 3.13" for k in range(5)}, "Python 3.11")
    assert str(found.value) == (
        "--cluster tcp://a:1: worker w0 has Python 3.13, worker w1 has Python 3.13, "
        "worker w2 has Python 3.13 and 2 more differ, and here is Python 3.11; "
        "install the same on all of them"
    )
    assert cluster.words({}) == "no tabi"
    with pytest.raises(TabiError, match=r"a worker has tabi .* is required"):
        cluster.run("", "", [], {"tabi": "0.0.1", "sources": "x"})


def test_a_missing_package_is_one_sentence(scene, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = refused(scene, "--over", "duration_s=1", "--cluster", "tcp://localhost:1")
    assert said.endswith("which is not installed: pip install 'tabi[cluster]'")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--jobs", "0"], "--jobs is 0; expected a whole number from 1 to 1024"),
        (["--jobs", "many"], "--jobs many: expected a number of processes"),
        (["--cluster", "tcp://nowhere"], "expected the address of a Dask scheduler"),
        (["--cluster", "http://a:80"], "expected the address of a Dask scheduler"),
        (["--cluster", "tcp://a:1", "--record"], "leave out one of the two"),
    ],
)
def test_places_that_cannot_run_anything(scene, tmp_path, given, said):
    pytest.importorskip("distributed")
    assert said in refused(scene, "--over", "duration_s=1", *given)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cube.yaml"]


def test_files_of_a_scene_are_those_it_names(scene, tmp_path):
    assert cluster.files_of(scenes.load(scene)) == []
    robot = tmp_path / "leg.urdf"
    robot.write_text('<robot name="leg"><link name="base"/></robot>')
    (tmp_path / "leg.yaml").write_text("title: leg\nrobots: [{robot: leg.urdf}]\n")
    assert cluster.files_of(scenes.load("leg.yaml")) == [str(robot)]
    assert cluster.missing([str(robot), "/no/such/file"]) == ["/no/such/file"]


def test_without_a_number_there_is_a_process_for_each_core():
    assert executor.cores() == len(os.sched_getaffinity(0))
