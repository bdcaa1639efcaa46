"""A page's body run once on symbols: what it reads and writes, for code generation and analyses."""
