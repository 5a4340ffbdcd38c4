"""Pure rules of the query: values in, values out."""
