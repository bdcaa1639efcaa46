"""Questions about a program, answered from its text: what its numbers are, what it surely does."""
