"""Elementwise: tile with tile, tile with number, and one tile."""
