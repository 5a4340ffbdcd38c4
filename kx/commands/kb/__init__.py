"""`kx kb`: knowledge bases, their items and revisions."""

from __future__ import annotations

import click

from kx.commands.kb import bases, editing, erasing, folders, items, moves, reading, spaces, surroundings
from kx.usage import SuggestingGroup


@click.group("kb", cls=SuggestingGroup, epilog="Example: kx kb import runbooks docs/runbooks --publish")
def command() -> None:
    """Keep knowledge bases: write, publish, search, cite."""


for _verb in (
    spaces.space_list, spaces.space, bases.base_list, bases.create, bases.update,
    items.items, items.add, editing.edit, folders.import_files, folders.export,
    moves.publish, moves.archive, moves.restore, erasing.delete,
    reading.read, reading.revisions, reading.diff, reading.search,
    surroundings.audit, surroundings.link, surroundings.unlink, surroundings.links, surroundings.limits,
):  # fmt: skip
    command.add_command(_verb)
