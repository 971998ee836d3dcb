"""Deformable soles: from a foot's outline and its material to a compliance of the ground nodes.

rubber = tabi.soles.Layer(thickness=0.02, young_modulus=2e6, poisson_ratio=0.49, density=1100.0)
sole = tabi.soles.make_sole(robot.feet["left"].polygon, rubber, element_size=0.015)
sole.compliance, sole.ground_points, sole.stiffness, sole.pressure((500.0, 0.02, 0.0))
"""

from tabi.soles.gmsh import read_msh
from tabi.soles.materials import Layer
from tabi.soles.mesh import SoleMesh, Tread, sole_mesh
from tabi.soles.modes import SoleMode
from tabi.soles.pressure import PressureMap
from tabi.soles.sole import DeformableSole, make_sole, sole_of_mesh

__all__ = [
    "DeformableSole",
    "Layer",
    "PressureMap",
    "SoleMesh",
    "SoleMode",
    "Tread",
    "make_sole",
    "read_msh",
    "sole_mesh",
    "sole_of_mesh",
]
