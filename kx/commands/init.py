"""`kx init`: write a `.kx.json` so that the project has a name, an id and its own rules."""

from __future__ import annotations

from pathlib import Path

import click

from kx.context import Context
from kx.render import as_json
from kx.setup.plan import new_configuration
from shared.atomic_file import write_atomic
from shared.errors import ErrorCode, KxError
from shared.project_config import KX_JSON
from shared.project_name import name_of_folder
from shared.registry import canonical_root
from shared.settings import ensure_home


@click.command("init", epilog="Example: kx init --open ~/src/shop")
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option(
    "--open", "is_open", is_flag=True, help="Leave out the project id: agents need not prove which project they mean."
)
@click.option("--name", help="Name of the project (default: the folder's).")
@click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md).")
@click.pass_obj
def command(context: Context, path: Path, *, is_open: bool, name: str | None, is_json: bool) -> None:
    """Write .kx.json into PATH and register the project."""
    ensure_home(context.settings)
    root = canonical_root(path)
    file = root / KX_JSON
    if file.exists():
        raise KxError(
            ErrorCode.PROJECT_EXISTS,
            "{file} is there already",
            hint="edit it, or delete it first; docs/settings.md lists every key",
            file=file,
        )
    write_atomic(file, new_configuration(name or name_of_folder(root), is_open=is_open), mode=0o644)
    project = context.enrol(root)
    if is_json:
        told = {"schema": 1, "file": str(file), "root": project.root, "project": project.project}
        context.say(as_json({**told, "instance": project.instance, "project_id": project.project_id}))
        return
    context.say(context.catalogue.text("{file} written; next: kx index {root}", file=file, root=project.root))
