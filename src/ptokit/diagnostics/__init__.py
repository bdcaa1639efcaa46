"""Diagnostics: places in text, messages, and the catalogue of their slugs."""
