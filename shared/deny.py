"""The denylist: paths that are never read, whatever else says yes (pure).

Names are compared case-folded and in NFC, because file systems and people are not exact about either. A pattern without
a slash counts at any depth; a denied folder denies everything below. A project can only make the list grow: there is no
negation. The user's own `allowDenied` takes paths out of the default list, never out of a project's.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from shared.errors import ErrorCode, KxError
from shared.globregex import MalformedGlobError
from shared.globs import Glob, GlobSet, regex_of
from shared.relpath import decode_path

DEFAULT_PATTERNS: tuple[str, ...] = (
    # environments
    ".env*", "*.env", ".vault/private/**",
    # private keys and key stores
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.ppk", "*.p8", "*.p12", "*.pfx", "*.pkcs12",
    "*.jks", "*.keystore", "*.bks", "*.kdb", "*.kdbx", "*.gpg", "*.pgp", "secring.*", ".ssh/", ".gnupg/",
    # credentials of tools and clouds
    ".netrc", "_netrc", ".pgpass", ".my.cnf", ".htpasswd", ".git-credentials", ".npmrc", ".pypirc", ".dockercfg",
    "**/.docker/config.json", ".aws/", ".azure/", ".kube/", "**/gcloud/*credential*", "kubeconfig", ".s3cfg", ".boto",
    ".vault-token", ".terraformrc", "terraform.rc", "*.tfstate", "*.tfstate.*", "credentials.json", "client_secret*.json",
    "service-account*.json", "service_account*.json", "secrets.json", "secrets.yml", "secrets.yaml", "secrets.toml",
    ".secrets", ".secrets.*", "local.settings.json", "wp-config.php",
)  # fmt: skip

_DRIVE = re.compile(r"[A-Za-z]:")


class DenyList:
    """The default patterns and those of the project (`indexing.deny`).

    What fits a pattern of `allowed`, or lies in a folder that does, is not denied by a default pattern. A folder above
    that is denied denies it all the same: what is never entered cannot be left by a side door.

    Raises:
        KxError: `KX_CONFIG_INVALID` for a pattern that is absolute, leaves the root, is empty, negated or malformed.
            A denylist with a pattern that silently matches nothing would be worse than none.
    """

    def __init__(self, patterns: Sequence[str] = (), allowed: Sequence[str] = ()) -> None:
        built_in = [_parse(pattern, "built in") for pattern in DEFAULT_PATTERNS]
        self._built_in = frozenset(built_in)
        self._globs = GlobSet(built_in + [_parse(_checked(pattern), "indexing.deny") for pattern in patterns])
        self._allowed = GlobSet([_parse(_checked(pattern), "allowDenied") for pattern in allowed])

    def denies(self, rel: str) -> str | None:
        """Give the pattern that denies the path or a folder above it, with its source; None if nothing does."""
        parts = _folded(rel).split("/")
        for count in range(1, len(parts) + 1):
            found = self._last("/".join(parts[:count]))
            if found is not None:
                return found
        return None

    def denies_entry(self, rel: str) -> str | None:
        """Do the same for the last component alone: for a walk that has already asked about the folders above."""
        return self._last(_folded(rel))

    def _last(self, folded: str) -> str | None:
        # A pattern for folders counts for a file too: whether it is one may change between check and use.
        glob = self._globs.last(folded, is_dir=True)
        if glob is None or (glob in self._built_in and self._is_allowed(folded)):  # the project's own come last
            return None
        return glob.written

    def _is_allowed(self, folded: str) -> bool:
        parts = folded.split("/") if self._allowed else []
        return any(self._allowed.fits("/".join(parts[:count]), is_dir=True) for count in range(1, len(parts) + 1))


def _folded(path: str) -> str:
    if path.isascii() and "\\" not in path:
        return path.lower()
    text = decode_path(path).decode("utf-8", "surrogateescape")
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def _checked(pattern: str) -> str:
    cleaned = re.sub(r"/{2,}", "/", pattern.strip())
    while cleaned.startswith("./"):
        cleaned = cleaned[2:]
    if cleaned in {"", ".", "/"} or "\0" in cleaned:
        raise _invalid(pattern, "it is empty")
    if cleaned.startswith(("/", "~", "\\")) or _DRIVE.match(cleaned):
        raise _invalid(pattern, "it is absolute")
    if ".." in cleaned.split("/"):
        raise _invalid(pattern, "it leaves the root")
    if cleaned.startswith("!"):
        raise _invalid(pattern, "the denylist can only grow")
    return cleaned


def _parse(pattern: str, source: str) -> Glob:
    glob = unicodedata.normalize("NFC", unicodedata.normalize("NFC", pattern).casefold())
    anchored = "/" in glob.rstrip("/")
    glob = glob.rstrip("/")
    while glob.endswith("/**"):  # what denies all of a folder denies the folder
        glob = glob[:-3]
    while glob.startswith("**/"):
        glob = glob[3:]
        anchored = False
    name_only = not anchored and "/" not in glob
    if not anchored and not name_only:
        glob = "**/" + glob
    glob = glob.replace("[:upper:]", "[:lower:]")
    parsed = Glob(f"{pattern} ({source})", 0, False, False, name_only, glob)
    try:
        regex_of(parsed)
    except MalformedGlobError:
        raise _invalid(pattern, "a bracket or an escape is not finished") from None
    return parsed


def _invalid(pattern: str, reason: str) -> KxError:
    return KxError(
        ErrorCode.CONFIG_INVALID,
        "indexing.deny: the pattern {pattern} is not accepted: {reason}",
        hint='write a glob relative to the project, for example "secrets/**" or "*.key"',
        pattern=repr(pattern),
        reason=reason,
    )
