"""OpenHRP's robots in VRML files."""
