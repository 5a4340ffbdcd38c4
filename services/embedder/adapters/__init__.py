"""Thin classes over what the embedder touches outside itself."""
