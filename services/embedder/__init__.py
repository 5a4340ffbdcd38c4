"""Own the model for bulk work: texts become vectors."""
