"""Marks that the page draws over the world: forces, feet, plans of walks."""
