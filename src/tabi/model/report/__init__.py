"""Reports on a robot's file: facts, suspicious values, and what to do."""
