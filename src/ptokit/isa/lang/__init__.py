"""The language of pages: operands, rules, text forms, and the hooks of bodies."""
