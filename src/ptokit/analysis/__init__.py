"""Analyses of programs, each computed in one place: numbers, aliases, liveness, effects."""
