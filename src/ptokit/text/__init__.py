"""Text: source spans, the reader of every form, the printers of the three forms."""
