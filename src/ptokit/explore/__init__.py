"""Exploration: which runs show all that a program may do, on samples instead of arguments."""
