"""Recording: a page's body run once on symbols, for code generation and analyses."""
