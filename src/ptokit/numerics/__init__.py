"""Arithmetic of the ISA, apart from its control: element formats here, operations on top."""
