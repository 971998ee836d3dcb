"""Blocks on soft pads."""

import tabi
from tabi.soles import Layer

G = 9.81


def block(
    young_modulus=1e6,
    poisson_ratio=0.0,
    thickness=0.01,
    viscosity=0.0,
    friction=0.8,
    size=(0.1, 0.08, 0.05),
    mass=2.0,
    element_size=0.025,
    above=1e-6,
    **options,
):
    """A world with a box that has a pad under it, and the box."""
    world = tabi.World()
    world.add_ground(friction=friction)
    height = 0.5 * size[2] + thickness + above
    box = world.add_box(size, mass, position=(0, 0, height), friction=friction)
    layer = Layer(thickness, young_modulus, poisson_ratio, viscosity=viscosity)
    box.add_pad("-z", layer, element_size=element_size, **options)
    return world, box
