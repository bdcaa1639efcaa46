"""Texts that families of pages share about NaN and infinities (`Instr.specials`)."""

from __future__ import annotations

NAN_MOVES = "Bits move: NaN and infinities stay as they are."
NAN_COMPUTED = """\
As IEEE 754 says, each step rounded; a computed NaN is the positive quiet NaN of its type."""
NAN_NARROWED = """\
Bits move, but out of the accumulator through the fix-pipe: a float keeps infinities, what is too
large becomes infinite, or with a parameter the largest f16, and NaN is the positive quiet NaN; an
integer of NaN is 0. The reading `saturate` of the fix-pipe makes the largest float of infinities
and 0 of NaN."""
