"""Accounts of the repository, not shipped: founding statements and generated files."""
