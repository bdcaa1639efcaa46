"""The instruction set, a class for each form of an instruction."""
