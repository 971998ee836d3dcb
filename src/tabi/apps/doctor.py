"""Report of ``tabi doctor``: versions and whether they fit, where compiled kernels are stored, and
which extras are installed.
"""

from __future__ import annotations

import importlib
import os
import platform
from typing import Any

import tabi
from tabi import _versions

# extras of the package, as pip knows them: what they are for
EXTRAS = {
    "plot": "figures of recordings, sweeps and studies; reports",
    "mjcf": "reads MJCF files, by MuJoCo",
    "referee": "other engines to compare with",
    "robots": "robots to try",
    "meshes": "meshes other than STL, OBJ, DAE; soles from files of Gmsh",
    "decomposition": "meshes that are not convex, as several that are",
    "cluster": "sweeps on a cluster",
    "export": "recordings as MCAP and Parquet",
    "docs": "to build the documentation",
    "dev": "to test and check tabi itself",
}
# where pip did not install tabi itself, and what it needs is not known
CORE = ("numpy", "scipy", "numba", "llvmlite", "viser", "lxml")


def processor() -> str:
    """The processor's name, as the system knows it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def version_of(package: str) -> str | None:
    """Installed version of a package, None where it is not installed."""
    return _versions.installed(package)


def examine() -> dict[str, Any]:
    """All findings, as plain data; ``problems`` has a sentence for each that keeps tabi from
    working.
    """
    needed = _versions.requirements()
    packages = sorted({*needed, *_versions.BOUNDS}) if needed else CORE
    # the bounds that were tested are those of this source, whatever pip knows
    bounds: dict[str, Any] = {name: needed.get(name, ("", "")) for name in packages}
    bounds |= _versions.BOUNDS
    problems = [text for name in packages if (text := _versions.problem(name, bounds[name]))]
    kernels: dict[str, Any] | None = None
    try:
        importlib.import_module("numba")
        kernels = _kernels()
    except ImportError as error:
        problems.append(f"Numba cannot be imported: {error}")
    return {
        "tabi": tabi.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "packages": {name: version_of(name) for name in packages},
        "extras": {name: _extra(name) for name in _versions.extras() or EXTRAS},
        "jit": os.environ.get("TABI_JIT", ""),
        "cache": kernels,
        "problems": problems,
    }


def _extra(name: str) -> dict[str, Any]:
    """Return the packages of an extra with their versions, and problems of those installed."""
    needed = _versions.requirements(name)
    versions = {package: version_of(package) for package in needed}
    wrong = [_versions.problem(package, needed[package]) for package in needed if versions[package]]
    return {"packages": versions, "problems": [text for text in wrong if text]}


def _kernels() -> dict[str, Any]:
    """Return which kernels are compiled, and where they are stored."""
    from numba.core import config

    from tabi.jit import cache_folder, shipped_kernels

    folder = cache_folder.cache_folder()
    files = list(folder.glob("*.nbc")) if folder else []
    return {
        "folder": str(folder) if folder else None,
        "digest": cache_folder.digest(),
        "kernels": len(files),
        "megabytes": round(sum(f.stat().st_size for f in files) / 1e6, 2),
        "compiled": not config.DISABLE_JIT,  # ty: ignore[missing-attribute]
        "shipped": shipped_kernels.differences(cache_folder.PACKAGE, cache_folder.digest()),
    }


def text(findings: dict[str, Any]) -> str:
    """The findings for a terminal."""
    lines = [
        f"tabi {findings['tabi']}, Python {findings['python']}, {findings['platform']}",
        f"{findings['processor']}, {findings['cores']} cores",
        "",
        "packages   "
        + ", ".join(
            f"{name} {version or 'MISSING'}" for name, version in findings["packages"].items()
        ),
    ]
    for name, extra in findings["extras"].items():
        lines.append(f"extra      {name:<14} {_installed(name, extra):<42} {EXTRAS.get(name, '')}")
        lines += [f"           {problem}" for problem in extra["problems"]]
    if findings["cache"] is not None:
        lines += _kernel_lines(findings["cache"], findings["jit"])
    lines.append("")
    lines += [f"PROBLEM    {problem}" for problem in findings["problems"]]
    if not findings["problems"]:
        lines.append("no problem found")
    return "\n".join(lines)


def _installed(name: str, extra: dict[str, Any]) -> str:
    """Format which packages of an extra are installed."""
    packages = extra["packages"]
    there = ", ".join(f"{package} {version}" for package, version in packages.items() if version)
    missing = [package for package, version in packages.items() if not version]
    if not there:
        return "not installed"
    if missing and len(missing) < len(packages):
        return f"incomplete, without {', '.join(missing)}: pip install 'tabi[{name}]'"
    return there if len(there) <= 42 else f"{len(packages)} packages"


def _kernel_lines(cache: dict[str, Any], mode: str) -> list[str]:
    """Format the lines about compiled kernels."""
    if mode:
        return [
            f"kernels    TABI_JIT={mode}: numba.njit compiles on every start, about two minutes, "
            "and nothing is kept"
        ]
    lines = []
    if cache["folder"] is None:
        lines.append(
            "kernels    no folder can be written, so every run compiles again; "
            "set TABI_CACHE_DIR to a folder of yours"
        )
    else:
        lines.append(
            f"kernels    {cache['kernels']} compiled, {cache['megabytes']} MB in {cache['folder']}"
        )
        if not cache["kernels"]:
            lines.append(
                "           none yet: the first run compiles what it needs, "
                "`tabi warmup` compiles all"
            )
    if cache["shipped"]:
        differ = "; ".join(f"{k} {a}, here {b}" for k, (a, b) in cache["shipped"].items())
        lines.append(
            f"           those that came with the package are not used, made for: {differ}"
        )
    elif cache["shipped"] is not None:
        lines.append("           more came with the package and fit")
    if not cache["compiled"]:
        lines.append(
            "kernels    NUMBA_DISABLE_JIT is set: everything runs as plain Python, "
            "hundreds of times slower"
        )
    return lines
