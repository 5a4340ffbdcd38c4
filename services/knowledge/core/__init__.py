"""What may be done, by whom, and what an item becomes by it (pure)."""
