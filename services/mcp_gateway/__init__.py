"""The door for agents and for the command: local socket, tools, the project gate."""
