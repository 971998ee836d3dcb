"""The commands ``tabi validate``, ``tabi compare`` and ``tabi family``."""
