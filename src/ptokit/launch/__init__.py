"""Launches: arguments bound to arrays, settings, files, and functions ready to run."""
