"""Execution: memories and tiles, the reference and the native engine, cores, pipes and costs."""
