"""The interface of Python programs: programs, eager instructions, tiles and tensors, settings."""
