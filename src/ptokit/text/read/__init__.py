"""Text to program: every spelling of every form."""
