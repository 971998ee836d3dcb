"""What ``tabi doctor`` finds: versions, where compiled kernels lie,
and which optional parts are there.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
from typing import Any

import tabi

PARTS = {
    "mujoco": "reads MJCF, referee",
    "pin": "referee",
    "coal": "referee for collisions",
    "example-robot-data": "robots to try",
    "trimesh": "meshes other than STL, OBJ, DAE",
    "meshio": "soles from files of Gmsh",
    "numba-cuda": "GPU",
    "distributed": "sweeps on a cluster",
}


def processor() -> str:
    """The processor's name, as the system knows it."""
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def version_of(package: str) -> str | None:
    """Installed version of a package, None where it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def examine() -> dict[str, Any]:
    """All findings, as plain data."""
    from numba.core import config

    from tabi import _folder, _shipped

    folder = _folder.cache_folder()
    files = list(folder.glob("*.nbc")) if folder else []
    return {
        "tabi": tabi.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "packages": {
            name: version_of(name)
            for name in ("numpy", "scipy", "numba", "llvmlite", "viser", "lxml")
        },
        "optional": {name: version_of(name) for name in PARTS},
        "cache": {
            "folder": str(folder) if folder else None,
            "digest": _folder.digest(),
            "kernels": len(files),
            "megabytes": round(sum(f.stat().st_size for f in files) / 1e6, 2),
            "compiled": not config.DISABLE_JIT,  # type: ignore[attr-defined]
            "shipped": _shipped.differences(_folder.PACKAGE, _folder.digest()),
        },
    }


def text(findings: dict[str, Any]) -> str:
    """The findings for a terminal."""
    cache = findings["cache"]
    lines = [
        f"tabi {findings['tabi']}, Python {findings['python']}, {findings['platform']}",
        f"{findings['processor']}, {findings['cores']} cores",
        "",
        "packages   "
        + ", ".join(
            f"{name} {version or 'MISSING'}" for name, version in findings["packages"].items()
        ),
    ]
    for name, version in findings["optional"].items():
        lines.append(f"optional   {name:<20} {version or 'not installed':<14} {PARTS[name]}")
    if cache["folder"] is None:
        lines.append(
            "kernels    no folder can be written, so every run compiles anew; "
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
    return "\n".join(lines)
