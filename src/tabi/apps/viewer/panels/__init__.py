"""Panels beside the picture: sensors, soft soles, walks, hands, curves."""
