"""Time: the step, the simulator around it, and what one sees of both."""
