"""Other engines as referees on the same world, and a family of contact problems to meet them on."""
