"""State estimation: pose and velocity of a robot from its sensors."""
