"""What people start: the command line, the manual, replaying of recordings."""
