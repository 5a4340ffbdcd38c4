"""The verbs of the command, a module each; imported when they are called."""
