"""The language server: what editors ask of a text, answered by the reader, pages and checker."""
