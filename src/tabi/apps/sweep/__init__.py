"""``tabi sweep``: a scene over a grid of values, in many processes,
that goes on where it was left.
"""
