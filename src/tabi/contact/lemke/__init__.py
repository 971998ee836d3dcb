"""Older laws as linear complementarity problems: friction pyramids, no friction, impacts."""
