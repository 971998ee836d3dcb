"""Kinds of rows of a step, one file each: contacts, their moments, bonds.

A kind is a module, or any object, with the kernels ``withhold``, ``add``, ``fill``, ``warm_start``
and ``revise`` (see ``parts``).
"""
