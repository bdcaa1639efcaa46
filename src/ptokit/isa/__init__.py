"""The instruction set: what a page may say, the machine it speaks of, the pages themselves."""
