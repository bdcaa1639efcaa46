"""The printers: one for each form, and C++."""
