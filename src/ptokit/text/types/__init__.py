"""The spellings of types: readers of every spelling, printers of each form's own."""
