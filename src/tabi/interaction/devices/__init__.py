"""Haptic devices: what one is, and drivers for those there are."""
