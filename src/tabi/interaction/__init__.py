"""Devices through which people act on a running simulation; the mouse is the first."""
