"""Run the indexer as a process of its own."""

import sys

from services.indexer.service import service
from shared.runtime import serve_main
from shared.settings import load_settings


def main() -> int:
    """Serve until told to stop; the value is the exit code."""
    return serve_main("indexer", service, load_settings())


if __name__ == "__main__":
    sys.exit(main())
