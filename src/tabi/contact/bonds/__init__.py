"""Bonds, eliminated before the contacts are solved."""
