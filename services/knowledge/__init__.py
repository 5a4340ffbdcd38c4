"""Knowledge bases: spaces, bases, items, immutable revisions; and the memory of projects."""
