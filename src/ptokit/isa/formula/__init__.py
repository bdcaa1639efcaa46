"""Formulas as data, and the rules made of them."""
