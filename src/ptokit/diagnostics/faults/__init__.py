"""The entries of the catalogue of diagnostics, by what they are about."""
