"""``tabi optimise``: numbers of a scene file, searched for what makes a cost small,
in many processes, and gone on with where it was left.
"""
