"""Own the write side of every index."""
