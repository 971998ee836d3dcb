"""What a world is: bodies, joints, shapes, materials, feet; readers and writers.
Knows no physics.
"""
