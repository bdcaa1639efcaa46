"""What Python programs call: programs, eager instructions, tiles and tensors, settings."""
