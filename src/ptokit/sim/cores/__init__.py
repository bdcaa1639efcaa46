"""Cores that run at once: their turns, the queues and the signals between them."""
