"""Questions about a program, each asked in one place: numbers, aliases, liveness, effects."""
