"""Thin classes over what the query touches outside itself."""
