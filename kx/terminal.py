"""What may be written to a terminal: foreign text with everything it could act on made visible."""

from shared.visible import visible

__all__ = ["visible"]
