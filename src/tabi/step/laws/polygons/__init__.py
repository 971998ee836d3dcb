"""Flat soles as polygons: what the older laws of feet, selection and penalty, solve."""
