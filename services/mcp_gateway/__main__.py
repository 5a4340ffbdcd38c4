"""Run the gateway as a process of its own."""

import sys

from services.mcp_gateway.service import service
from shared.runtime import serve_main
from shared.settings import harden_process, load_settings
from shared.subjects import GATEWAY


def main() -> int:
    """Serve until told to stop; the value is the exit code."""
    harden_process()
    return serve_main(GATEWAY, service, load_settings())


if __name__ == "__main__":
    sys.exit(main())
