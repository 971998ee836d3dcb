"""Tags a wheel by what is in it: one with compiled kernels fits one Python and one platform.

Kernels are there where ``tabi warmup --ship`` has put them (``make wheel``). They are LLVM's code,
which uses no library of the system; so on Linux the tag is the oldest manylinux for which Numba's
own dependency is built.
"""

import json
import platform
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

STAMP = Path("src/tabi/_kernels/made_for.json")
MANYLINUX = "manylinux_2_17"


def tag(root: Path) -> str:
    """Of the kernels in a tree; "" where there are none.

    Raises:
        ValueError: if they were made by another Python or on another platform.
    """
    try:
        made = json.loads((root / STAMP).read_text(encoding="utf-8"))
    except OSError:
        return ""
    here = {
        "python": ".".join(map(str, sys.version_info[:2])),
        "platform": f"{platform.system()} {platform.machine()}",
    }
    for name, value in here.items():
        if made[name] != value:
            raise ValueError(
                f"the kernels in {STAMP.parent} were made for {name} {made[name]}, and this is "
                f"{value}: run `tabi warmup --ship` here, or remove the folder"
            )
    python = "cp" + made["python"].replace(".", "")
    return f"{python}-{python}-{platform_tag()}"


def platform_tag() -> str:
    """Of this machine, as pip knows it."""
    name = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return name.replace("linux", MANYLINUX, 1) if name.startswith("linux") else name


class WheelTag(BuildHookInterface):
    """Called by hatchling for each wheel; an editable install has no kernels of its own."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Set the tag."""
        found = tag(Path(self.root)) if version == "standard" else ""
        if found:
            build_data["pure_python"] = False
            build_data["tag"] = found
