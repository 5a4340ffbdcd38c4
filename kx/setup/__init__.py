"""Set a project up to stay: its configuration, its agents, and kx at login; every change can be undone."""
