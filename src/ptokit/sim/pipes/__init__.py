"""The pipes of a core: what is issued into their queues, and what follows from the order."""
