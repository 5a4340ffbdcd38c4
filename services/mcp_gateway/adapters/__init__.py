"""What the gateway touches: the local socket, the MCP library, the registry of projects."""
