"""Irregular access: gathers and scatters, sorts, histograms, generated numbers."""
