"""Programs as data: module, function, block, op, value."""
