"""Rotations, transforms and 6-D algebra. Knows no robot."""
