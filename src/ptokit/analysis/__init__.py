"""Questions about a program, answered once for all: numbers, aliases, liveness, effects, legality."""
