"""What was read of a robot's file, what is doubtful in it, and what to do."""
