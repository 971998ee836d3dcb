"""tabi: a simulator for humanoid robots, and all that they touch, with exact Coulomb friction."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tabi._errors import ModelError, SimulationError, TabiError, near
from tabi._versions import tabi_version

if TYPE_CHECKING:
    from tabi import collision, contact, control, dynamics, robots, scenes, soles, walking
    from tabi.apps.viewer.own_loop import show
    from tabi.formats.mjcf.writer import to_mjcf, to_mujoco
    from tabi.model.body import Body, Foot, Frame
    from tabi.model.controllers.signals import Command, Measurement
    from tabi.model.joint import Joint, Mimic, Motor
    from tabi.model.report.summary import report
    from tabi.model.robot import Robot, SoftGainsWarning
    from tabi.model.shape import (
        Box,
        Capsule,
        Convex,
        Cylinder,
        Ellipsoid,
        HeightField,
        Material,
        MeshFile,
        Shape,
        Sphere,
    )
    from tabi.model.world import World
    from tabi.observation.names import LateChangeWarning
    from tabi.recording.recording import Recording
    from tabi.rendering.camera import Camera
    from tabi.robots.files import RobotFileWarning, load
    from tabi.simulation.faults import BriefPushWarning, MissedStepWarning, OverlapWarning
    from tabi.simulation.simulator import Simulator
    from tabi.spatial.inertia import Inertia
    from tabi.spatial.transform import Transform
    from tabi.spatial.twist import Twist, Wrench
    from tabi.step.budget import Budget
    from tabi.step.commands.target_ranges import TargetRangeWarning
    from tabi.step.laws.penalty import Penalty
    from tabi.step.laws.selection import Selection
    from tabi.step.settings import LongStepWarning

    __version__: str

# imported when first asked for: compiling and reading meshes are not everybody's first need
_LAZY = {
    "World": "tabi.model.world",
    "Robot": "tabi.model.robot",
    "load": "tabi.robots.files",
    "SoftGainsWarning": "tabi.model.robot",
    "RobotFileWarning": "tabi.robots.files",
    "report": "tabi.model.report.summary",
    "to_mujoco": "tabi.formats.mjcf.writer",
    "to_mjcf": "tabi.formats.mjcf.writer",
    "Simulator": "tabi.simulation.simulator",
    "Budget": "tabi.step.budget",
    "BriefPushWarning": "tabi.simulation.faults",
    "LateChangeWarning": "tabi.observation.names",
    "TargetRangeWarning": "tabi.step.commands.target_ranges",
    "LongStepWarning": "tabi.step.settings",
    "MissedStepWarning": "tabi.simulation.faults",
    "OverlapWarning": "tabi.simulation.faults",
    "Penalty": "tabi.step.laws.penalty",
    "Selection": "tabi.step.laws.selection",
    "Recording": "tabi.recording.recording",
    "Body": "tabi.model.body",
    "Foot": "tabi.model.body",
    "Frame": "tabi.model.body",
    "Joint": "tabi.model.joint",
    "Mimic": "tabi.model.joint",
    "Motor": "tabi.model.joint",
    "Box": "tabi.model.shape",
    "Capsule": "tabi.model.shape",
    "Convex": "tabi.model.shape",
    "Cylinder": "tabi.model.shape",
    "Ellipsoid": "tabi.model.shape",
    "HeightField": "tabi.model.shape",
    "Material": "tabi.model.shape",
    "MeshFile": "tabi.model.shape",
    "Shape": "tabi.model.shape",
    "Sphere": "tabi.model.shape",
    "Inertia": "tabi.spatial.inertia",
    "Transform": "tabi.spatial.transform",
    "Twist": "tabi.spatial.twist",
    "Wrench": "tabi.spatial.twist",
    "Camera": "tabi.rendering.camera",
    "show": "tabi.apps.viewer.own_loop",
    "Command": "tabi.model.controllers.signals",
    "Measurement": "tabi.model.controllers.signals",
    "collision": "",
    "control": "",
    "contact": "",
    "dynamics": "",
    "robots": "",
    "scenes": "",
    "soles": "",
    "walking": "",
}

__all__ = [
    "Body",
    "Box",
    "BriefPushWarning",
    "Budget",
    "Camera",
    "Capsule",
    "Command",
    "Convex",
    "Cylinder",
    "Ellipsoid",
    "Foot",
    "Frame",
    "HeightField",
    "Inertia",
    "Joint",
    "LateChangeWarning",
    "LongStepWarning",
    "Material",
    "Measurement",
    "MeshFile",
    "Mimic",
    "MissedStepWarning",
    "ModelError",
    "Motor",
    "OverlapWarning",
    "Penalty",
    "Recording",
    "Robot",
    "RobotFileWarning",
    "Selection",
    "Shape",
    "SimulationError",
    "Simulator",
    "SoftGainsWarning",
    "Sphere",
    "TabiError",
    "TargetRangeWarning",
    "Transform",
    "Twist",
    "World",
    "Wrench",
    "collision",
    "contact",
    "control",
    "dynamics",
    "load",
    "report",
    "robots",
    "scenes",
    "show",
    "soles",
    "to_mjcf",
    "to_mujoco",
    "walking",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # pip's records take 20 ms to read
        globals()[name] = tabi_version()
        return globals()[name]
    if name not in _LAZY:
        raise AttributeError(
            f"module 'tabi' has no attribute {name!r}; it has {', '.join(__all__)}"
            f"{near(name, __all__)}"
        )
    module = importlib.import_module(_LAZY[name] or f"tabi.{name}")
    value = module if not _LAZY[name] else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
