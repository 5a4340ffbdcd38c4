"""The entrance of the command: prove that the code is ours, then hand over."""

import sys

from kx.isolation import ensure_isolated, ensure_unshadowed


def main() -> int:
    """Run `kx` with the arguments of this process; the value is the exit code."""
    ensure_isolated(sys.argv[1:])
    ensure_unshadowed()
    from kx.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:  # before the command could say what an interrupt means
        sys.exit(130)
