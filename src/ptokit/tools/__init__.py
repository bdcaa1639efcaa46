"""Entry points for users: the command line, the manual, replays of recordings."""
