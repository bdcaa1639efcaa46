"""Programs: module, function, block, op, value."""
