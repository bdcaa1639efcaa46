"""Notebook views: tiles, layouts, programs, diagnostics and results as HTML and SVG."""
