"""Thin classes over what the watcher touches outside itself."""
