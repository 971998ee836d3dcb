"""Robots on their feet: laws of feet, soft soles, and a walk with all sensors."""
