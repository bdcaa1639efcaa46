"""What a page may say: operands, rules, the array vocabulary of bodies."""
