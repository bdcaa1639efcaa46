"""The level below tiles: instructions on vector registers and masks of A5, and their memory."""
