"""Colours of what is drawn over a world; dark ones, as the page's light is bright."""

STICKS, SLIDES = (8, 120, 62), (205, 85, 0)
FORCE, PRESSURE, SUPPORT = (165, 0, 16), (0, 60, 190), (60, 120, 230)
CENTRE, ZMP, BAND = (225, 150, 0), (190, 0, 110), (235, 80, 0)
LIFT = 2e-3  # m above the ground, so that the floor does not hide it
