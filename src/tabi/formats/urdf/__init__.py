"""URDF and SRDF files."""
