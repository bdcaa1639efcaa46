"""Text: the reader of every form, the printers of the three forms, the spellings of types."""
