"""Entries of the catalogue of diagnostics, one file for each group of faults."""
