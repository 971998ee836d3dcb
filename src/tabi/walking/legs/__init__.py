"""Legs in closed form, the motion of the whole body, and non-negative least squares."""
