"""Keys of scene files: their names, types, units and meanings."""
