"""Costs: how many cycles one instruction keeps its pipe busy, from the figures of each target."""
