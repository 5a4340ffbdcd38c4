"""Pure rules of the watcher: values in, values out."""
