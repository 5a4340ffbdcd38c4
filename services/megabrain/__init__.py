"""Activities and artifacts: the project's memory of its work, as Markdown files in its vault."""
