"""Parameters of a robot from logs of it: joints, friction, sensors, and where its mass is."""
