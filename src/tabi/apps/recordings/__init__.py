"""What can be done with a recording: play, plot, export, compare."""
