"""Costs: the cycles for which one instruction keeps its pipe busy, from each target's figures."""
