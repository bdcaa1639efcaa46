"""Cores that run at once: their scheduling, the FIFOs and the signals between them."""
