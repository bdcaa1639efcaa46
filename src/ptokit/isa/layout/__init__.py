"""The Layout And Rearrangement instruction set."""
