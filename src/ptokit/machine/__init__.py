"""The machine: memories and tiles, bodies recorded and executed, costs, the log of a run."""
