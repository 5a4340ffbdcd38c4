"""What runs in the child that reads one document: its walls, one reader a format, and the way out."""
