"""What megabrain touches: the vault of a project, and its configuration."""
