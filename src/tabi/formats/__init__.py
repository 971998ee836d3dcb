"""Files of robots and meshes, read and written."""
