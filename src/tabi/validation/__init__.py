"""Other engines as referees on the same world."""
