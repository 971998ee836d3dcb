"""The search for numbers of a scene that make a cost small."""
