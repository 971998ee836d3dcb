"""What controllers read and write: measurements, commands, and when they are asked."""
