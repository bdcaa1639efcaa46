"""Passes: program in, program out; `pipeline` lists them."""
