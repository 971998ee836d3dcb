"""Build the wheels, and try them where no repository is near.

    python release/wheels.py build     one with compiled kernels for each Python, and a pure one
    python release/wheels.py try       each in fresh environments, with the lowest and the highest
                                       releases of NumPy and Numba that are allowed

Pythons are looked for on the path and among those of pyenv; one that is not there is named and left
out. Everything happens in folders of its own: the tree is copied as git has it, `try` runs in an
empty folder with an empty cache.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import readme_commands
from version import version

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
# what a default install and a wheel may take on disk
MAX_INSTALL_MB, MAX_WHEEL_MB = 600, 15
FIRST_STEP = """
import time; start = time.perf_counter()
import tabi
world = tabi.World()
world.add_ground(friction=0.8)
robot = world.add_robot(tabi.robots.hrp2())
robot.stand_on_ground()
sim = tabi.Simulator(world, dt=1e-3)
sim.set_controller(robot, tabi.control.hold(robot.half_sitting))
sim.step()
print(time.perf_counter() - start)
"""


def pythons(chosen: list[str]) -> dict[str, Path]:
    """Interpreters of this machine, by version; all of PYTHONS if none are chosen."""
    found: dict[str, Path] = {}
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for name in chosen or PYTHONS:
        named, others = shutil.which(f"python{name}"), versions.glob(f"{name}.*/bin/python")
        places = [sys.executable, named, *sorted(others)]
        for place in filter(None, places):
            told = subprocess.run([place, "--version"], capture_output=True, text=True)
            if told.stdout.startswith(f"Python {name}."):
                found[name] = Path(place)
                break
        else:
            print(f"Python {name} is not on this machine: left out", flush=True)
    return found


def call(*command: object, env: dict[str, str] | None = None, cwd: Path | None = None) -> str:
    """Run a command; its output. One that fails ends this program, with what it said."""
    words = [str(word) for word in command]
    done = subprocess.run(words, env=env, cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)} failed:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def environment(folder: Path, python: Path, *packages: object) -> Path:
    """A fresh virtual environment with some packages; its interpreter."""
    call(python, "-m", "venv", folder)
    inside = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    call(inside, "-m", "pip", "install", "--disable-pip-version-check", *packages)
    return inside


def alone(cache: Path) -> dict[str, str]:
    """Variables of a process that finds no other tabi and an empty cache."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return kept | {"TABI_CACHE_DIR": str(cache), "TABI_QUIET": "1"}


def copy_of_tree(folder: Path) -> Path:
    """The files that git has here, also those that are not committed yet."""
    listed = call("git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard")
    for name in listed.splitlines():
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    return folder


def build(chosen: list[str]) -> None:
    """A pure wheel, and one for each Python."""
    DIST.mkdir(exist_ok=True)
    for old in DIST.glob("*.whl"):
        old.unlink()
    with tempfile.TemporaryDirectory() as work:
        tree = copy_of_tree(Path(work) / "tree")
        # the copy has no git
        os.environ["TABI_BUILD_VERSION"] = version()
        for name, python in pythons(chosen).items():
            inside = environment(Path(work) / name, python, tree)
            if not list(DIST.glob("*.whl")):
                _wheel(inside, tree)
            start = time.perf_counter()
            # of this tree, not of the environment: kernels go into the package that runs
            env = alone(Path(work) / f"cache-{name}") | {"PYTHONPATH": str(tree / "src")}
            call(inside, "-m", "tabi", "warmup", "--quiet", "--ship", env=env)
            print(f"Python {name}: compiled in {time.perf_counter() - start:.0f} s", flush=True)
            _wheel(inside, tree)
            shutil.rmtree(tree / "src" / "tabi" / "_kernels")


def _wheel(python: Path, tree: Path) -> None:
    before = set(DIST.glob("*.whl"))
    call(python, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", DIST, tree)
    for wheel in sorted(set(DIST.glob("*.whl")) - before):
        size = wheel.stat().st_size / 1e6
        print(f"{wheel.name}: {size:.1f} MB", flush=True)
        if size > MAX_WHEEL_MB:
            sys.exit(f"{wheel.name} is larger than {MAX_WHEEL_MB} MB")


def ends() -> dict[str, list[str]]:
    """What pip is asked for besides, at the lowest and the highest allowed releases."""
    sys.path.insert(0, str(ROOT / "src"))
    from tabi import _versions

    low = [f"{name}=={_versions.BOUNDS[name][0]}.*" for name in ("numpy", "llvmlite")]
    # a wheel of this NumPy is not there for every Python: then the lowest that is
    return {"highest": [], "lowest": [f"numba=={_versions.BOUNDS['numba'][0]}", *low]}


def wheel_for(name: str) -> Path | None:
    """The wheel of a Python, or the pure one."""
    tag = "cp" + name.replace(".", "")
    found = [*DIST.glob(f"*-{tag}-{tag}-*.whl"), *DIST.glob("*-py3-none-any.whl")]
    return found[0] if found else None


def attempts(chosen: list[str]) -> Iterator[tuple[str, Path, str, list[str]]]:
    """Python, its interpreter, which releases, and what pip is asked for."""
    for name, python in pythons(chosen).items():
        for which, packages in ends().items():
            yield name, python, which, packages


def try_all(chosen: list[str]) -> None:
    """Install each wheel, look at it with `tabi doctor`, walk, and run what the README shows."""
    for name, python, which, packages in attempts(chosen):
        wheel = wheel_for(name)
        if wheel is None:
            sys.exit(f"no wheel in {DIST}: run `python release/wheels.py build` first")
        with tempfile.TemporaryDirectory() as work:
            folder = Path(work)
            inside = _installed(folder / "env", python, wheel, packages)
            env, empty = alone(folder / "cache"), folder / "empty"
            empty.mkdir()
            size = _megabytes(folder / "env")
            seconds = float(call(inside, "-c", FIRST_STEP, env=env, cwd=empty))
            found = json.loads(call(inside, "-m", "tabi", "doctor", "--json", env=env, cwd=empty))
            walk = call(inside, "-m", "tabi", "run", "walk", "--time", "2", env=env, cwd=empty)
            if "every step certified" not in walk:
                sys.exit(f"the walk was not certified:\n{walk}")
            if which == "highest":
                readme_commands.run_all(inside, env)
            versions = found["packages"]
            used = "used" if found["cache"]["shipped"] == {} else "not used"
            print(
                f"Python {name}, {which}: numba {versions['numba']}, numpy {versions['numpy']}, "
                f"install {size:.0f} MB, shipped kernels {used}, first step after {seconds:.1f} s",
                flush=True,
            )
            if which == "highest" and size > MAX_INSTALL_MB:
                sys.exit(f"a default install takes {size:.0f} MB, more than {MAX_INSTALL_MB}")


def _installed(folder: Path, python: Path, wheel: Path, packages: list[str]) -> Path:
    """An environment with a wheel; where a lowest release has no wheel for this Python, the next
    one that has.
    """
    call(python, "-m", "venv", folder)
    inside = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [inside, "-m", "pip", "install", "--disable-pip-version-check", "--only-binary=:all:"]
    words = [str(word) for word in (*pip, wheel, *packages)]
    if subprocess.run(words, capture_output=True).returncode:
        rest = [one for one in packages if not re.match("numpy==", one)]
        call(*pip, wheel, *rest, _next_numpy(inside))
    return inside


def _next_numpy(python: Path) -> str:
    """The lowest NumPy with a wheel for a Python, of those that are allowed."""
    told = call(python, "-m", "pip", "index", "versions", "numpy")
    from tabi import _versions

    listed = re.findall(r"\d+\.\d+\.\d+", told.partition("Available versions:")[2])
    low, high = map(_versions.numbers, _versions.BOUNDS["numpy"])
    fit = [one for one in listed if low <= _versions.numbers(one) < high]
    for release in sorted(fit, key=_versions.numbers):
        command = [python, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
        with tempfile.TemporaryDirectory() as folder:
            words = [str(w) for w in (*command, "--dest", folder, f"numpy=={release}")]
            if not subprocess.run(words, capture_output=True).returncode:
                return f"numpy=={release}"
    sys.exit("no NumPy within the bounds has a wheel for this Python")


def _megabytes(folder: Path) -> float:
    """Size of an environment, without pip itself and what Python writes beside sources."""
    left_out = {"__pycache__", "pip", "setuptools"}
    files = (path for path in folder.rglob("*") if not left_out & set(path.parts))
    return sum(path.lstat().st_size for path in files if path.is_file()) / 1e6


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("build", "try"))
    parser.add_argument("--python", action="append", default=[], help="only this one, e.g. 3.12")
    asked = parser.parse_args()
    (build if asked.what == "build" else try_all)(asked.python)


if __name__ == "__main__":
    main()
