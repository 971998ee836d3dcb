"""Sensors in a step: what they measure, and when and how it is read."""
