"""Exploration: sample runs that together show the behaviours of a program, without arguments."""
