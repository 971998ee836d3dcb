"""Distances between bodies of boxes, capsules and balls, by another engine."""

import numpy as np

from tabi.model.body import Body
from tabi.model.shape import Box, Capsule, Sphere


def distance(coal, a: Body, X_WA, b: Body, X_WB) -> float:
    """Least distance of what two placed bodies touch with [m], by coal; below 0 if they overlap."""

    def solid(shape):
        g = shape.geometry
        kinds = {
            Box: lambda: coal.Box(*g.size),
            Sphere: lambda: coal.Sphere(g.radius),
            Capsule: lambda: coal.Capsule(g.radius, g.length),
        }
        return kinds[type(g)]()

    nearest = np.inf
    for s in a.collision_shapes():
        for t in b.collision_shapes():
            X, Y = X_WA @ s.placement, X_WB @ t.placement
            request, result = coal.DistanceRequest(), coal.DistanceResult()
            pair = solid(s), coal.Transform3s(X.R, X.p), solid(t), coal.Transform3s(Y.R, Y.p)
            nearest = min(nearest, coal.distance(*pair, request, result))
    return nearest
