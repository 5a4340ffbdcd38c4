"""Own the read side: a question becomes ranked, explained hits."""
