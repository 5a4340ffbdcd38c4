"""The one error type of kx, its codes and its wire form (pure).

Codes are API: documented in `docs/errors.md`, asserted by tests, never renamed. Wording is not: messages and
hints are English templates with `{name}` placeholders, so that the command can show them in another language.
"""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec import Struct

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class ErrorCode(StrEnum):
    """Every code a caller of kx can meet; one line each in `docs/errors.md`."""

    ACTIVITY_CLOSED = "KX_ACTIVITY_CLOSED"
    ACTIVITY_EXISTS = "KX_ACTIVITY_EXISTS"
    ACTIVITY_UNKNOWN = "KX_ACTIVITY_UNKNOWN"
    ALREADY_RUNNING = "KX_ALREADY_RUNNING"
    ARTIFACT_UNKNOWN = "KX_ARTIFACT_UNKNOWN"
    BAD_REQUEST = "KX_BAD_REQUEST"
    BUS_UNAVAILABLE = "KX_BUS_UNAVAILABLE"
    CONFIG_INVALID = "KX_CONFIG_INVALID"
    CONFIG_NOT_TRUSTED = "KX_CONFIG_NOT_TRUSTED"
    CONFIG_UNREADABLE = "KX_CONFIG_UNREADABLE"
    CONTENT_TOO_LARGE = "KX_CONTENT_TOO_LARGE"
    DISK_FULL = "KX_DISK_FULL"
    EMBEDDER_FAILED = "KX_EMBEDDER_FAILED"
    ENVIRONMENT_SHADOWED = "KX_ENVIRONMENT_SHADOWED"
    EXTRACTION_FAILED = "KX_EXTRACTION_FAILED"
    EXTRACTION_MISSING = "KX_EXTRACTION_MISSING"
    EXTRACTION_REFUSED = "KX_EXTRACTION_REFUSED"
    INDEX_BUSY = "KX_INDEX_BUSY"
    INDEX_DAMAGED = "KX_INDEX_DAMAGED"
    INDEX_FOREIGN = "KX_INDEX_FOREIGN"
    INDEX_LOCKED = "KX_INDEX_LOCKED"
    INDEX_MISSING = "KX_INDEX_MISSING"
    INDEX_NEWER = "KX_INDEX_NEWER"
    INDEX_READ_ONLY = "KX_INDEX_READ_ONLY"
    INDEX_UNREADABLE = "KX_INDEX_UNREADABLE"
    INTERNAL = "KX_INTERNAL"
    KNOWLEDGE_CONFLICT = "KX_KNOWLEDGE_CONFLICT"
    KNOWLEDGE_DAMAGED = "KX_KNOWLEDGE_DAMAGED"
    KNOWLEDGE_DISABLED = "KX_KNOWLEDGE_DISABLED"
    KNOWLEDGE_EXISTS = "KX_KNOWLEDGE_EXISTS"
    KNOWLEDGE_FORBIDDEN = "KX_KNOWLEDGE_FORBIDDEN"
    KNOWLEDGE_UNKNOWN = "KX_KNOWLEDGE_UNKNOWN"
    MEMORY_UNKNOWN = "KX_MEMORY_UNKNOWN"
    MESSAGE_INVALID = "KX_MESSAGE_INVALID"
    MESSAGE_TOO_LARGE = "KX_MESSAGE_TOO_LARGE"
    MODEL_ALTERED = "KX_MODEL_ALTERED"
    MODEL_MISSING = "KX_MODEL_MISSING"
    MODEL_WIDTH = "KX_MODEL_WIDTH"
    NOT_A_DIRECTORY = "KX_NOT_A_DIRECTORY"
    PATH_DENIED = "KX_PATH_DENIED"
    PATH_NOT_FOUND = "KX_PATH_NOT_FOUND"
    PATH_OUTSIDE_ROOT = "KX_PATH_OUTSIDE_ROOT"
    PROJECT_ASSERTION_REQUIRED = "KX_PROJECT_ASSERTION_REQUIRED"
    PROJECT_EXISTS = "KX_PROJECT_EXISTS"
    PROJECT_MISMATCH = "KX_PROJECT_MISMATCH"
    PROJECT_UNKNOWN = "KX_PROJECT_UNKNOWN"
    ROOT_MISSING = "KX_ROOT_MISSING"
    ROOT_TOO_LARGE = "KX_ROOT_TOO_LARGE"
    SERVICE_UNAVAILABLE = "KX_SERVICE_UNAVAILABLE"
    SQLITE_TOO_OLD = "KX_SQLITE_TOO_OLD"
    STACK_OUTDATED = "KX_STACK_OUTDATED"
    STACK_UNREACHABLE = "KX_STACK_UNREACHABLE"
    TIMEOUT = "KX_TIMEOUT"
    TOOL_FORBIDDEN = "KX_TOOL_FORBIDDEN"
    USAGE = "KX_USAGE"
    VAULT_BUSY = "KX_VAULT_BUSY"
    VAULT_DAMAGED = "KX_VAULT_DAMAGED"
    VAULT_UNWRITABLE = "KX_VAULT_UNWRITABLE"


class ErrorDetails(Struct, frozen=True, kw_only=True):
    """An error as it crosses a process boundary."""

    code: ErrorCode
    message: str  # English template
    hint: str = ""  # English template: what to do next, often the command to type
    retryable: bool = False
    params: dict[str, str] = {}


class KxError(Exception):
    """What failed, with which value, and what to do next.

    `message` and `hint` are templates; `params` fill them. `retryable` says that the same request may succeed later
    without anyone acting.
    """

    def __init__(
        self, code: ErrorCode, message: str, *, hint: str = "", retryable: bool = False, **params: object
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.retryable = retryable
        self.params = {name: str(value) for name, value in params.items()}

    def __str__(self) -> str:
        return fill(self.message, self.params)

    def details(self) -> ErrorDetails:
        """Give the wire form."""
        return ErrorDetails(
            code=self.code, message=self.message, hint=self.hint, retryable=self.retryable, params=self.params
        )

    @classmethod
    def from_details(cls, details: ErrorDetails) -> KxError:
        """Rebuild the error another process sent."""
        error = cls(details.code, details.message, hint=details.hint, retryable=details.retryable)
        error.params = details.params
        return error


def fill(template: str, params: dict[str, str]) -> str:
    """Put `params` into `{name}` placeholders; an unknown placeholder stays as it is, braces in values are literal.

    >>> fill("no {what} in {where}", {"what": "model"})
    'no model in {where}'
    """
    return _PLACEHOLDER.sub(lambda found: params.get(found[1], found[0]), template)
