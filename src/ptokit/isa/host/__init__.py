"""The foreign dialects a program needs around its instructions, numbers, loops, branches."""
