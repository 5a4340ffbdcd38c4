"""Run knowledge as a process of its own; a stack hosts it in the gateway."""

import sys

from services.knowledge.service import service
from shared.runtime import serve_main
from shared.settings import harden_process, load_settings
from shared.subjects import KNOWLEDGE


def main() -> int:
    """Serve until told to stop; the value is the exit code."""
    harden_process()
    return serve_main(KNOWLEDGE, service, load_settings())


if __name__ == "__main__":
    sys.exit(main())
