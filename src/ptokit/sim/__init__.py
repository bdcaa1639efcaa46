"""Execution: memory, tiles, the reference executor, and the interpreter of programs."""
