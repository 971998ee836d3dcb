"""Surfaces that deform, against every other shape."""
