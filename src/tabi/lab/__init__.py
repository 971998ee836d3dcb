"""Evidence that tabi is right and fast: validators, benchmarks, papers, other engines as referees.

No other package imports it; the command line loads it by name when a command needs it.
"""
