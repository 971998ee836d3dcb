"""Solvers of contact problems, one problem at a time."""
