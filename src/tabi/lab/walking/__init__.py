"""Experiments with robots that walk: rough ground, slippery patches, pushes, landings."""
