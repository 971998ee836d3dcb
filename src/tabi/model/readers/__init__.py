"""Robots from files: URDF, MJCF, OpenHRP VRML, and the meshes they name."""
