"""Releases of other packages that tabi was tested with.

tabi's compiler uses names of Numba that are not part of its documented interface, and compiled code
depends on NumPy and llvmlite. The bounds are those of ``pyproject.toml``: the lowest and the
highest release of each were installed and run (``make try-wheels``). Outside of them a simulation
does not start, and one sentence states what to install. ``TABI_JIT=plain`` compiles with
``numba.njit`` alone, on any release.
"""

from __future__ import annotations

import functools
import importlib
import os
import re

from tabi._errors import VersionError

# of tabi itself; a build from a git tag has that of the tag (release/version.py)
LAST_RELEASE = "0.1.0"
# name → first release that works, first that was not tested
BOUNDS = {
    "numpy": ("2.0", "2.5"),
    "numba": ("0.63.1", "0.69"),
    "llvmlite": ("0.46", "0.51"),
    "viser": ("1.1", "1.2"),
}
COMPILER = ("numba", "llvmlite", "numpy")
PLAIN = "plain"
EXTRA = re.compile(r"""extra\s*==\s*['"]([\w.-]+)['"]""")


def installed(package: str) -> str | None:
    """Version of a package; None where it is not installed."""
    import importlib.metadata

    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def tabi_version() -> str:
    """Return the version of tabi as installed, or the last release where it was not."""
    return installed("tabi") or LAST_RELEASE


def numbers(version: str) -> tuple[int, ...]:
    """Numbers of a version, up to the first part that is none: 0.69.0rc1 → (0, 69, 0)."""
    parts = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, parts.group().split("."))) if parts else ()


def requirement(package: str) -> str:
    """The package and its bounds as pip takes them."""
    low, high = BOUNDS[package]
    return f"{package}>={low},<{high}"


def requirements(extra: str = "") -> dict[str, tuple[str, str]]:
    """Packages that tabi needs, or one of its extras: name → lowest release and first one too high,
    "" where there is no bound. Empty where tabi was not installed by pip.
    """
    import importlib.metadata

    try:
        lines = importlib.metadata.requires("tabi") or []
    except importlib.metadata.PackageNotFoundError:
        return {}
    bounds = {}
    for line in lines:
        what, _, condition = line.partition(";")
        if (match := re.match(r"[\w.-]+", what)) and extra == "".join(EXTRA.findall(condition)):
            low, high = re.search(r">=\s*([\w.]+)", what), re.search(r"<\s*([\w.]+)", what)
            bounds[match.group()] = (low[1] if low else "", high[1] if high else "")
    return bounds


def extras() -> list[str]:
    """Names of the extras that can be installed: ``pip install 'tabi[NAME]'``."""
    import importlib.metadata

    try:
        return importlib.metadata.metadata("tabi").get_all("Provides-Extra") or []
    except importlib.metadata.PackageNotFoundError:
        return []


def problem(package: str, bounds: tuple[str, str] | None = None) -> str:
    """State what is wrong with an installed package, and what to do; "" if nothing is."""
    version, (low, high) = installed(package), bounds or BOUNDS[package]
    wanted = package + ",".join(f"{sign}{end}" for sign, end in ((">=", low), ("<", high)) if end)
    if version is None:
        return f"{package} is not installed: pip install '{wanted}'"
    # 2.0 ≤ 2.0.2, and a candidate of 2.5 counts as 2.5
    if numbers(low) <= numbers(version) and not (high and numbers(version) >= numbers(high)):
        return ""
    tested = f"{low} or newer, and older than {high}" if high else f"{low} or newer"
    return f"{package} {version} is installed, and tabi works with {tested}: pip install '{wanted}'"


def jit_mode() -> str:
    """The compiler of kernels, from TABI_JIT: "" for tabi's own, "plain" for ``numba.njit``.

    Raises:
        VersionError: if it is set to anything else.
    """
    mode = os.environ.get("TABI_JIT", "")
    if mode not in ("", PLAIN):
        raise VersionError(
            f"TABI_JIT is {mode!r}; expected '{PLAIN}', to compile with numba.njit alone, or unset"
        )
    return mode


def check_compiler() -> None:
    """Refuse a Numba, llvmlite or NumPy that tabi's compiler was not tested with, and a Numba that
    cannot be imported.

    Raises:
        VersionError: with what to install.
    """
    if not jit_mode():
        check(*COMPILER)
    try:
        importlib.import_module("numba")
    except ImportError as error:
        raise VersionError(
            f"Numba cannot be imported ({error}): pip install --force-reinstall "
            + " ".join(f"'{requirement(package)}'" for package in COMPILER)
        ) from None


@functools.cache
def check(*packages: str) -> None:
    """Refuse releases of packages that tabi was not tested with.

    Raises:
        VersionError: with what to install.
    """
    problems = [text for text in map(problem, packages) if text]
    if not problems:
        return
    hint = ""
    if set(packages) & set(COMPILER) and installed("numba"):
        hint = f"; or set TABI_JIT={PLAIN}, which compiles on any release but starts slowly"
    # pip brings the others along with the first
    raise VersionError(problems[0] + hint)
