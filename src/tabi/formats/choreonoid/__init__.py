"""Choreonoid's body files."""
