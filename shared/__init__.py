"""What two processes of kx must agree on, and the machinery each of them repeats."""
