"""Which language a name of a locale means (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Lang = Literal["en", "pt"]


def language_of(name: str) -> str:
    """Give the language of a locale name: C and POSIX speak English.

    >>> language_of("pt_BR.UTF-8"), language_of("C")
    ('pt', 'en')
    """
    word = name.lower().replace("-", "_").partition(".")[0].partition("_")[0]
    return "en" if word in {"c", "posix"} else word


def locale_language(env: Mapping[str, str]) -> Lang:
    """Give the language the system's locale asks for, English where it is none of ours."""
    locale = next((env[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if env.get(name)), "C")
    return "pt" if language_of(locale) == "pt" else "en"
