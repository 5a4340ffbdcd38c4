"""What every verb of the command is given: settings, words, where output goes, which project is meant."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from kx.catalogue import Catalogue
from kx.paint import Paint
from shared.discovery import Found, find_project
from shared.errors import ErrorCode, KxError
from shared.project_config import LoadedConfig, load_project_config
from shared.registry import Project, Registry
from shared.settings import Settings, ensure_home

YES = frozenset({"y", "yes", "s", "sim"})  # in any language: nobody means no by them


class Context:
    """One run of the command."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.catalogue = Catalogue(settings.lang)
        self.registry = Registry(settings)
        self._warned: set[str] = set()  # a verb may look at one project several times
        self.paint = Paint(is_on=settings.color and sys.stdout.isatty())

    def say(self, text: str) -> None:
        """Print an answer to stdout."""
        click.echo(text.encode("utf-8", "replace"))

    def give(self, data: bytes) -> None:
        """Write an answer's exact bytes to stdout."""
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()

    def tell(self, template: str, **params: object) -> None:
        """Print a sentence about the work to stderr."""
        from kx.terminal import visible

        print(visible(self.catalogue.text(template, **params)), file=sys.stderr, flush=True)

    def warn(self, text: str) -> None:
        """Print a warning, which arrives filled, to stderr."""
        self.tell("warning: {text}", text=self.catalogue.sentence(text))

    def can_ask(self) -> bool:
        """Tell whether somebody is there to answer."""
        return sys.stdin.isatty()

    def confirm(self, template: str, **params: object) -> bool:
        """Ask a yes-or-no question on stderr; without a terminal to answer on it is a no."""
        if not self.can_ask():
            return False
        from kx.terminal import visible

        question = self.catalogue.text("{question} [y/N]", question=self.catalogue.text(template, **params))
        print(visible(question), end=" ", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip().casefold() in YES

    def find(self, path: Path | None) -> tuple[Found, LoadedConfig]:
        """Find the project of `path` (None: of the working directory) and its configuration; warnings are told."""
        found = find_project(path or working_directory(), self.registry, self.settings, explicit=path is not None)
        loaded = load_project_config(found.root, self.settings)
        for warning in loaded.warnings:
            if warning not in self._warned:
                self._warned.add(warning)
                self.warn(warning)
        return found, loaded

    def enrol(self, path: Path | None) -> Project:
        """Find the project of `path` and register it on first use."""
        ensure_home(self.settings)
        found, loaded = self.find(path)
        return self.registry.enrol(found.root, loaded)

    def registered(self, path: Path | None) -> Project:
        """Find the registered project of `path`.

        Raises:
            KxError: INDEX_MISSING naming the two ways in, when this tree was never indexed.
        """
        found, loaded = self.find(path)
        if self.registry.find(found.root, loaded) is None:
            raise not_indexed(found.root)
        return self.registry.enrol(found.root, loaded)


def working_directory() -> Path:
    """Give the working directory.

    Raises:
        KxError: PATH_NOT_FOUND when it was removed.
    """
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise KxError(
            ErrorCode.PATH_NOT_FOUND,
            "the working directory is gone: {reason}",
            hint="go to a folder that exists, for example: cd ~",
            reason=error.strerror,
        ) from error


def not_indexed(root: Path) -> KxError:
    """Say that there is no index, with the two ways in."""
    return KxError(
        ErrorCode.INDEX_MISSING,
        "{root} is not indexed yet",
        hint="try it at once: kx search --index 'your question'; or keep it: kx setup {root}",
        root=root,
    )
