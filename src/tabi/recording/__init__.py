"""Files of runs, and reading them back; knows worlds and models,
and of a simulator what it reads.
"""
