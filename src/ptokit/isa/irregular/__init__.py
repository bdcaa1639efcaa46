"""The Irregular And Complex instruction set."""
