"""Layout and rearrangement: windows, moves, transposition, padding, unrolling."""
