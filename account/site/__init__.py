"""The site of the documentation: docs/ and what the pages of the instruction set say, as HTML.

`make site` gathers the files here and gives them to zensical; nothing generated is committed.
"""
