"""Forces of a step, one file each: motors with springs and dampers, limits of joints,
external wrenches.

A force is a module, or any object, with the kernels ``load``, ``judge`` and ``finish``
(see ``parts``).
"""
