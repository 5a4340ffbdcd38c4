"""Pure rules of the indexer: values in, values out."""
