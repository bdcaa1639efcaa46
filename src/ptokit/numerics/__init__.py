"""Arithmetic of the ISA: element formats, conversions, the fix-pipe, orders of additions."""
