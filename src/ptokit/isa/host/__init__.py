"""The foreign operations a program needs around its instructions: numbers, loops, branches."""
