"""The command: a client of the bus and a starter of processes."""
