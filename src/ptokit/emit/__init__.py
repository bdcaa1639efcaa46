"""What is derived for people and other tools: C++ calls, manual pages, stubs."""
