"""Imported before Numba, so that a release that does not fit ends in one sentence."""

from tabi import _versions

_versions.check_compiler()
