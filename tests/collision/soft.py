"""A surface that deforms and a rigid shape, or two surfaces, for tests of their points."""

import numpy as np
from collision.scenes import UNIT, Scene

import tabi
from tabi.collision.arrays import SURFACE
from tabi.collision.surfaces.points import NODES, surface_points, surfaces
from tabi.collision.workspace import point_table
from tabi.model.arrays import table
from tabi.model.shape import Box

FLAT = (1.0, 0.0, 0.0, 0.0)


def sheet(nx=7, ny=5, cell=0.01):
    """Nodes and triangles of a flat sheet that looks down."""
    x, y = np.meshgrid((np.arange(nx) - (nx - 1) / 2) * cell, (np.arange(ny) - (ny - 1) / 2) * cell)
    nodes = np.stack([x.ravel(), y.ravel(), np.zeros(nx * ny)], axis=1)
    triangles = []
    for j in range(ny - 1):
        for i in range(nx - 1):
            a = j * nx + i
            b, c, d = a + 1, a + nx, a + nx + 1
            if (i + j) % 2:
                triangles += [(a, d, b), (a, c, d)]
            else:
                triangles += [(a, c, b), (b, c, d)]
    return nodes, np.array(triangles)


class Soft(Scene):
    """A sheet as shape 0 and another shape as shape 1, which moves, or a second sheet.

    Attributes:
        at: where the nodes are now [m], of both sheets.
    """

    def __init__(self, other, nodes, triangles, second=None):
        world = tabi.World()
        world.add_object(Box((0.2, 0.2, 0.1)), UNIT, name="sole")
        world.add_object(Box((0.2, 0.2, 0.1)) if second else other, UNIT, name="thing")
        super().__init__(world)
        self._begin(nodes, triangles, second)

    def _begin(self, nodes, triangles, second=None):
        self.tables.shape["kind"][0] = SURFACE
        parts = [(0, 1, nodes, triangles)]
        if second:
            self.tables.shape["kind"][1] = SURFACE
            parts.append((1, 2, *second))
        self.f = surfaces(parts, len(self.tables.shape))
        self.at = self.f.rest.copy()
        self.where = table(512, NODES)

    def move(self, position=(0.0, 0.0, 0.0), turn=FLAT):
        """Place the other shape."""
        self.place([0, 0, 0, *FLAT, *position, *turn])

    def touch(self, band=1e-3, swapped=False):
        """Points and their nodes; swapped: the other shape is a."""
        i, k = (1, 0) if swapped else (0, 1)
        self.rows = point_table(512)
        count = surface_points(
            self.tables, self.memory, self.f, self.at, i, k, band, self.rows, self.where, 0
        )
        assert count <= 512
        return self.rows[:count].copy(), self.where[:count].copy()


class OnFixed(Soft):
    """A sheet as shape 1 and a fixed shape, as shape 0."""

    def __init__(self, ground, nodes, triangles, **where):
        world = tabi.World()
        world.add_fixed(ground, **where)
        world.add_object(Box((0.2, 0.2, 0.1)), UNIT, name="sole")
        Scene.__init__(self, world)
        self.tables.shape["kind"][1] = SURFACE
        self.f = surfaces([(1, 1, nodes, triangles)], 2)
        self.at = self.f.rest.copy()
        self.where = table(512, NODES)
        self.place(self.model.initial())

    def touch(self, band=1e-3, swapped=False):
        return super().touch(band, not swapped)
