"""Elementwise: tile with tile, tile with number, and one tile (spec 3.21, 3.23, 3.24)."""
