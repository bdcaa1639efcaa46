"""Cores that run at once: their scheduling, the queues and the signals between them."""
