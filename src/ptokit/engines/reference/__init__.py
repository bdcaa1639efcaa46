"""The reference engine: runs a program with NumPy, instruction by instruction."""
