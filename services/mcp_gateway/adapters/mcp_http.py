"""The MCP library over HTTP, stateless: each request is whole in itself, in both families of the protocol."""

from __future__ import annotations

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from services.mcp_gateway.adapters.mcp_server import ToolServer
from services.mcp_gateway.core.web import MAX_BODY_BYTES


def session_manager(server: ToolServer) -> StreamableHTTPSessionManager:
    """Make what serves requests that our own door has let in; it can be run once."""
    return StreamableHTTPSessionManager(
        server,
        stateless=True,
        json_response=False,  # progress comes as events before the answer
        # Host and Origin are checked by the door, always and by our own rules.
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=MAX_BODY_BYTES,
    )
