"""What a step returns beside its state: whether it was done, and why not."""

# done; a joint without inertia; more memory is needed; velocities are not finite or implausible;
# dropped by the user; a controller's command is not finite; a kernel could not be compiled
FINE, SINGULAR, ROOM, BROKEN, DROPPED, MISLED, UNCOMPILED = 0, 1, 2, 3, 4, 5, 6
