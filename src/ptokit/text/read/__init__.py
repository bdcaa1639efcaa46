"""The reader: text in any spelling of any form becomes a program."""
