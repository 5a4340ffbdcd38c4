"""The services of kx; each owns one resource and reaches the others by message only."""
