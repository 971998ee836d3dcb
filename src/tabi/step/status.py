"""Statuses of a step: done, or the reason why not."""

# done; a joint without inertia; more memory is needed; velocities are not finite or implausible;
# aborted by the user; a controller's command is not finite; a kernel could not be compiled
OK, SINGULAR, OUT_OF_MEMORY, DIVERGED, ABORTED, INVALID_COMMAND, UNCOMPILED = 0, 1, 2, 3, 4, 5, 6
