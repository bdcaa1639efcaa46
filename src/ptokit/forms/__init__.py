"""The normal form of a program: structured, inlined, one function per core, complete, DPS."""
