"""What a new feature takes: files that are added to a copy of the package, and nothing edited."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tabi.jit import cache_folder

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.process

NOD = '''
"""Nodding."""

from tabi import Command
from tabi.scenes.keys.motions import MotionKeys
from tabi.scenes.keys.types import Hertz


class Nod(MotionKeys, frozen=True, kw_only=True, tag_field="kind", tag="nod"):
    """Move the head up and down.

    Attributes:
        frequency_hz: nods a second
    """

    frequency_hz: Hertz = 1.0

    def controller(self, scene, robot, i):
        """The head alone."""
        return lambda time, measurement: Command(position={"HEAD_P": 0.1 * self.frequency_hz})
'''
SCENE = """
title: nodding
ground: {}
robots: [{robot: hrp2, motion: {kind: nod, frequency_hz: 2}}]
"""


@pytest.fixture
def copy(tmp_path):
    """A copy of the package without compiled kernels."""
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "tabi", tmp_path / "tabi", ignore=ignore)
    return tmp_path


def run(folder, code, compiled=False):
    environment = os.environ | {"PYTHONPATH": str(folder)}
    if compiled:
        # what is compiled is kept by its content: kernels that do not know the new one are there
        environment["TABI_CACHE_DIR"] = str(cache_folder.cache_root() or folder / "cache")
    else:
        environment |= {"NUMBA_DISABLE_JIT": "1", "TABI_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_motion_is_one_file(copy):
    (copy / "tabi" / "scenes" / "motions" / "nod.py").write_text(NOD, encoding="utf-8")
    (copy / "scene.yaml").write_text(SCENE, encoding="utf-8")
    code = (
        "from tabi import scenes\n"
        "from tabi.scenes.schema import text\n"
        "scene = scenes.load('scene.yaml')\n"
        "motion = scene.contents.robots[0].motion\n"
        "command = motion.controller(None, None, 0)(0.0, None)\n"
        "print(type(motion).__name__, command.position['HEAD_P'])\n"
        "print('nods a second' in text())\n"
    )
    assert run(copy, code).split("\n")[:2] == ["Nod 0.2", "True"]


TILT = '''
"""How far the z axis of a sensor is from the vertical."""

from tabi.model.sensor_kinds.kind import SensorKind

KINDS = (SensorKind("tilt", {"angle": 1}, {"angle": "rad"}, anywhere=True),)
'''
TILT_KERNEL = '''
"""How far the z axis of a sensor is from the vertical."""

from math import acos

from tabi.jit import kernel
from tabi.spatial.vector import load9, matmul


@kernel
def tilt(t, d, s, i, h):
    """Angle between z and the vertical [rad]."""
    row = t.sensors.row[i]
    R = matmul(load9(s.dynamics.body[row.body].rotation), load9(row.rotation))
    d.memory.sensors.value[row.first].truth = acos(R[8])


MEASURE = {"tilt": tilt}
'''


def test_a_kind_of_sensors_is_two_files(copy):
    (copy / "tabi" / "model" / "sensor_kinds" / "tilt.py").write_text(TILT, encoding="utf-8")
    kernel = copy / "tabi" / "step" / "sensors" / "kinds" / "tilt.py"
    kernel.write_text(TILT_KERNEL, encoding="utf-8")
    code = (
        "import tabi\n"
        "from tabi.scenes.schema import text\n"
        "world = tabi.World()\n"
        "robot = tabi.robots.hrp2()\n"
        "robot.add_sensor('lean', 'tilt', 'waist', quaternion=(0.8, 0.6, 0.0, 0.0))\n"
        "world.add_robot(robot)\n"
        "sim = tabi.Simulator(world)\n"
        "print(round(float(sim.sensor('lean').values[0]), 3))\n"
        "print('\"tilt\"' in text())\n"
    )
    # twice the angle of which the sine is 0.6
    assert run(copy, code, compiled=True).split("\n")[:2] == ["1.287", "True"]


DROPS = '''
"""Boxes on the ground."""

from typing import Annotated

import typer

import tabi
from tabi.lab.criterion import Criterion
from tabi.lab.study import Validator


class Drops(Validator, name="drops"):
    """Put boxes on the ground: does any sink?"""

    boxes: Annotated[int, typer.Option(min=1, help="How many.")] = 3

    unit = "boxes"
    criteria = (Criterion("deepest_m", "no box sinks", at_most=1e-3),)

    def cases(self):
        return range(self.boxes)

    def measure(self, case):
        world = tabi.World()
        world.add_ground()
        box = world.add_box((0.1, 0.1, 0.1), 1.0 + case, position=(0.0, 0.0, 0.05))
        sim = tabi.Simulator(world)
        sim.step()
        return 0.05 - float(sim.position(box)[2])

    def figures(self, rows):
        return {"boxes": len(rows), "deepest_m": max(rows, default=0.0)}

    def lines(self, result):
        yield f"{result['boxes']} boxes sink by {result['deepest_m']:.3f} m"
'''
BUILDING = '''
"""Worlds that are made."""

import time

import tabi
from tabi.lab.study import Benchmark, BenchPart


class Building(Benchmark, name="building"):
    """How long an empty world takes to be made."""

    def parts(self):
        yield BenchPart("seconds", "making a world", self.made)

    def made(self):
        start = time.perf_counter()
        tabi.World().add_ground()
        return time.perf_counter() - start

    def lines(self, result):
        yield f"made in {result['seconds']:.6f} s"
'''
COMMANDS = """
import sys
from tabi.apps import cli
for words in {commands!r}:
    sys.argv = ["tabi", *words]
    try:
        cli.main()
    except SystemExit as end:
        assert not end.code, (words, end.code)
    print({END!r}, end="")
"""
END = "\n---- end of the output ----\n"


def outputs(folder, *commands):
    """What several command lines print, one after the other in one process."""
    printed = run(folder, COMMANDS.format(commands=[c.split() for c in commands], END=END))
    texts = printed.split(END)
    assert len(texts) == len(commands) + 1
    return texts[:-1]


def test_a_validator_and_a_benchmark_are_one_file_each(copy):
    lab = copy / "tabi" / "lab"
    (lab / "validate" / "drops.py").write_text(DROPS, encoding="utf-8")
    (lab / "bench" / "building.py").write_text(BUILDING, encoding="utf-8")
    validators, benchmarks, options, lines, data, bench = outputs(
        copy,
        "validate --help",
        "bench --help",
        "validate drops --help",
        "validate drops --boxes 2",
        "validate drops --boxes 2 --json",
        "bench building",
    )
    assert "drops " in validators
    assert "building " in benchmarks
    assert "--boxes" in options
    assert lines == "2 boxes sink by 0.000 m\n"
    found = json.loads(data)
    assert (found["within"], found["settings"], found["boxes"]) == (True, {"boxes": 2}, 2)
    assert bench.startswith("made in ")


def test_a_second_study_of_a_name_is_refused_by_its_command(copy):
    (copy / "tabi" / "lab" / "bench" / "building.py").write_text(BUILDING, encoding="utf-8")
    (copy / "tabi" / "lab" / "bench" / "second.py").write_text(BUILDING, encoding="utf-8")
    with pytest.raises(AssertionError, match="tabi bench 'building' is in "):
        outputs(copy, "bench --help")


COIN = '''
"""Where a robot's centre of mass is above, as a coin."""

from typing import Self

from tabi.apps.viewer.marks.batches import Batch, disc
from tabi.apps.viewer.marks.mark import Checkbox, Mark


class CoinMarks(Mark):
    """One coin for each robot."""

    BOXES = (Checkbox("coins", 70, "on the ground, below the robot"),)

    def __init__(self, server):
        self.coins = Batch(server, "coins", disc(0.05), (10, 20, 30))

    @classmethod
    def create(cls, place) -> Self:
        """See ``Mark``."""
        return cls(place.server)

    def draw_view(self, view, shown, ground):
        """See ``Mark``."""
        self.coins.show(view.centres if shown["coins"] else None)
'''
CLOCK = '''
"""How late it is."""

from typing import Self

from tabi.apps.viewer.panels.panel import PagePanel


class ClockPanel(PagePanel):
    """A line with the time."""

    def __init__(self, text):
        self.text = text

    @classmethod
    def create(cls, host) -> Self:
        """See ``PagePanel``."""
        return cls(host.server.gui.add_markdown(""))

    def show(self, view):
        """See ``PagePanel``."""
        self.text.content = "" if view is None else f"{view.time:.1f} s"
'''


def test_an_overlay_and_a_panel_of_the_page_are_one_file_each(copy):
    viewer = copy / "tabi" / "apps" / "viewer"
    (viewer / "marks" / "coins.py").write_text(COIN, encoding="utf-8")
    (viewer / "panels" / "clock.py").write_text(CLOCK, encoding="utf-8")
    code = (
        "from tabi.apps.viewer.marks.overlay import BOXES, MARKS\n"
        "from tabi.apps.viewer.panels.registered import PANELS\n"
        "print([kind.__name__ for kind in (*MARKS, *PANELS)])\n"
        "print(BOXES[-1].name)\n"
    )
    shown, last = run(copy, code).split("\n")[:2]
    assert "'CoinMarks'" in shown
    assert "'ClockPanel'" in shown
    assert last == "coins"
