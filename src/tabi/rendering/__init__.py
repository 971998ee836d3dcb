"""Pictures of a world without a browser and without a graphics card: cameras, triangles, colour,
depth and segmentation. Knows no simulator.
"""
