"""Walking of any biped: patterns of feet, centre of mass and joints; knows no simulator."""
