"""Exit codes of the command; documented in `docs/errors.md`."""

from __future__ import annotations

from enum import IntEnum

from shared.errors import ErrorCode, KxError


class Exit(IntEnum):
    """What the exit code of `kx` means."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    NOT_SET_UP = 3  # no index, unknown project: one of the two ways in is named
    TRY_AGAIN = 75  # EX_TEMPFAIL: busy, locked, unreachable; the same command may succeed later
    CONFIGURATION = 78  # EX_CONFIG: a configuration file or the installation is wrong
    INTERRUPTED = 130


_BY_CODE = {
    ErrorCode.USAGE: Exit.USAGE,
    ErrorCode.BAD_REQUEST: Exit.USAGE,
    ErrorCode.NOT_A_DIRECTORY: Exit.USAGE,
    ErrorCode.PATH_NOT_FOUND: Exit.USAGE,
    ErrorCode.ACTIVITY_UNKNOWN: Exit.USAGE,
    ErrorCode.ARTIFACT_UNKNOWN: Exit.USAGE,
    ErrorCode.KNOWLEDGE_UNKNOWN: Exit.USAGE,
    ErrorCode.MEMORY_UNKNOWN: Exit.USAGE,
    ErrorCode.INDEX_MISSING: Exit.NOT_SET_UP,
    ErrorCode.PROJECT_UNKNOWN: Exit.NOT_SET_UP,
    ErrorCode.CONFIG_INVALID: Exit.CONFIGURATION,
    ErrorCode.CONFIG_UNREADABLE: Exit.CONFIGURATION,
    ErrorCode.CONFIG_NOT_TRUSTED: Exit.CONFIGURATION,
    ErrorCode.KNOWLEDGE_DISABLED: Exit.CONFIGURATION,
    ErrorCode.ENVIRONMENT_SHADOWED: Exit.CONFIGURATION,
}


def exit_code_of(error: KxError) -> Exit:
    """Choose the exit code for an error."""
    return _BY_CODE.get(error.code, Exit.TRY_AGAIN if error.retryable else Exit.FAILED)
