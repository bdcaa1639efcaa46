"""Kernels in Python: a function runs once and records itself as a program."""
