"""The order of execution: channels, queues, FIFOs, deadlocks, races, timelines."""
