"""A MuJoCo spec as text, exact to the last digit: MuJoCo itself writes six."""

from __future__ import annotations

from typing import Any

import numpy as np
from lxml import etree

from tabi.formats.mjcf.source import mujoco

# MJCF attributes that hold lengths, turns and physical numbers, with their names in a MjSpec
EXACT = {
    "body": {"pos": "pos", "quat": "quat"},
    "inertial": {"pos": "ipos", "quat": "iquat", "mass": "mass", "diaginertia": "inertia"},
    "geom": {"pos": "pos", "quat": "quat", "size": "size", "friction": "friction"},
    "site": {"pos": "pos", "quat": "quat"},
    "key": {"qpos": "qpos"},
    "mesh": {"vertex": "uservert"},
    "joint": {
        n: n
        for n in ("axis", "range", "damping", "stiffness", "springref", "armature", "frictionloss")
    }
    | {"actuatorfrcrange": "actfrcrange"},
    "pair": {"friction": "friction"},
    "motor": {"ctrlrange": "ctrlrange"},
    "general": {"ctrlrange": "ctrlrange"},
}


def exact_text(spec: Any) -> str:
    """MuJoCo's own text with its six digits replaced by all of them."""
    root = etree.fromstring(spec.to_xml().encode(), etree.XMLParser(remove_blank_text=False))
    tables = {
        "body": spec.bodies,
        "geom": spec.geoms,
        "joint": spec.joints,
        "mesh": spec.meshes,
        "key": spec.keys,
        "motor": spec.actuators,
    }
    tables["site"] = spec.sites
    named = {tag: {e.name: e for e in elements} for tag, elements in tables.items()}
    named["general"] = named["motor"]
    pairs = iter(spec.pairs)
    for element in root.iter(*EXACT):
        owner = element.getparent() if element.tag == "inertial" else element
        source = next(pairs) if element.tag == "pair" else named[owner.tag].get(owner.get("name"))
        for key, field in EXACT[element.tag].items():
            if source is None or key not in element.attrib:
                continue
            rounded = np.array(element.get(key).split(), float)
            full = np.atleast_1d(np.asarray(getattr(source, field), float)).ravel()[: len(rounded)]
            if len(full) == len(rounded) and np.allclose(
                full, rounded, rtol=1e-4, atol=1e-5 * np.abs(full).max()
            ):
                element.set(key, " ".join(repr(float(x)) for x in full))
    coupled = [
        equality for equality in spec.equalities if equality.type == mujoco().mjtEq.mjEQ_JOINT
    ]
    for equality, element in zip(coupled, root.findall("equality/joint"), strict=True):
        element.set("polycoef", " ".join(repr(float(x)) for x in equality.data[:5]))
    return etree.tostring(root, encoding="unicode")
