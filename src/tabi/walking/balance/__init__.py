"""Feedback that keeps a walk upright and on its course."""
