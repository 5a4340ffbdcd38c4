"""Run the query service as a process: `kx serve query`."""

from __future__ import annotations

import sys

from services.query.service import service
from shared.runtime import serve_main
from shared.settings import harden_process, load_settings
from shared.subjects import QUERY


def main() -> int:
    """Serve until a signal; the exit code."""
    harden_process()
    return serve_main(QUERY, service, load_settings())


if __name__ == "__main__":
    sys.exit(main())
