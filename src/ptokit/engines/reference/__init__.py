"""The reference engine: executes a program with NumPy, instruction by instruction."""
