"""Benchmarks: each prints its numbers, none asserts a time."""
