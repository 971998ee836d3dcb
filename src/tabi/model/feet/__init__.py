"""Feet of robots: which links they are, their soles, and the legs above them."""
