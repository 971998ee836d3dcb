"""From legs and footsteps to the planned motion of a walk."""
