"""Measures of motions: walks and impacts, margins to limits, cost, error of the time step."""
