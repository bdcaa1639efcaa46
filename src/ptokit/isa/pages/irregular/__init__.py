"""Irregular access: gathers by index, mask and comparison."""
