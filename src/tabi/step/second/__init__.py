"""Steps of second order: a second stage at the middle of the step, see ``stage``."""
