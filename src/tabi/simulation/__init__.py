"""The simulator as users see it: its world, its time, its controllers, and its states."""
