"""Pure rules of the embedder: values in, values out."""
