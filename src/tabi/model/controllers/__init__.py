"""Interfaces of controllers: measurements, commands, and when they are asked."""
