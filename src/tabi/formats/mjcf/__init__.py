"""MuJoCo's XML files, read and written."""
