"""Thin classes over what the indexer touches outside itself."""
