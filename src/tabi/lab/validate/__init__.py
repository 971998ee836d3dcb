"""Experiments that show whether the simulator is right, one file each."""
