"""Where a robot is and how it moves, from its sensors."""
