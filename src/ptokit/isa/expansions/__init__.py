"""Expansions of tile instructions of A5 into vector instructions: a second meaning of a page."""
