"""Retrieval quality of the product's own parts on public question sets; see docs/benchmarks.md."""
