"""Worlds with something to do in them: ``build()`` of each module returns a world and the things in it."""
