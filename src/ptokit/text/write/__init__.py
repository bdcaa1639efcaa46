"""Program to text: one printer for each form."""
