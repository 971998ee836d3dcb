"""Model of a world: bodies, joints, shapes, materials, feet, controllers; no physics."""
