"""`kx project`: the trees of this machine that kx knows."""

from __future__ import annotations

from pathlib import Path

import click

from kx.context import Context
from kx.render import as_json
from kx.terminal import visible
from shared.errors import ErrorCode, KxError
from shared.project_config import load_project_config
from shared.registry import Project, canonical_root
from shared.settings import ensure_home

JSON = click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md).")


@click.group("project", epilog="Example: kx project move 3f2a9c… ~/src/new-place")
def command() -> None:
    """List, add, remove or move registered projects."""


@command.command("list", epilog="Example: kx project list --json")
@JSON
@click.pass_obj
def list_projects(context: Context, *, is_json: bool) -> None:
    """List the registered projects by root."""
    projects = context.registry.projects()
    for error in context.registry.damaged():
        message, hint = context.catalogue.error(error)
        context.tell("warning: {text}", text=f"{message}; {hint}")
    if is_json:
        context.say(as_json({"schema": 1, "projects": [_row(project) for project in projects]}))
        return
    if not projects:
        context.tell(
            "no project is registered; try one at once: kx search --index 'your question' --in PATH; or keep it: kx setup PATH"
        )
    for project in projects:
        context.say(visible(f"{project.instance}  {project.project}  {project.root}"))


@command.command("add", epilog="Example: kx project add ~/src/shop")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--index", type=click.Path(path_type=Path), help="Where its index file shall be (default: in ~/.kx/data)."
)
@JSON
@click.pass_obj
def add(context: Context, path: Path, *, index: Path | None, is_json: bool) -> None:
    """Register the tree at PATH without indexing it."""
    ensure_home(context.settings)
    root = canonical_root(path)
    project = context.registry.add(root, load_project_config(root, context.settings), index=index)
    context.say(_json(project) if is_json else project.instance)


@command.command("remove", epilog="Example: kx project remove 3f2a9c0d1e2b4a58")
@click.argument("instance_or_path")
@click.option("--delete-index", is_flag=True, help="Delete its index file too.")
@JSON
@click.pass_obj
def remove(context: Context, instance_or_path: str, *, delete_index: bool, is_json: bool) -> None:
    """Forget a project; its files are not touched, its index only with --delete-index."""
    project = _named(context, instance_or_path)
    context.registry.remove(project.instance)
    if delete_index:
        for suffix in ("", "-wal", "-shm", ".lock"):
            project.index_path.with_name(project.index_path.name + suffix).unlink(missing_ok=True)
    told = context.catalogue.text("{root} is forgotten", root=visible(project.root))
    context.say(_json(project) if is_json else told)


@command.command("move", epilog="Example: kx project move 3f2a9c0d1e2b4a58 ~/src/new-place")
@click.argument("instance_or_path")
@click.argument("new_root", type=click.Path(path_type=Path))
@JSON
@click.pass_obj
def move(context: Context, instance_or_path: str, new_root: Path, *, is_json: bool) -> None:
    """Tell kx that a tree now lies at NEW_ROOT; its index goes on as it is."""
    project = context.registry.move(_named(context, instance_or_path).instance, new_root)
    told = context.catalogue.text("{instance} is now at {root}", instance=project.instance, root=visible(project.root))
    context.say(_json(project) if is_json else told)


def _named(context: Context, instance_or_path: str) -> Project:
    for project in context.registry.projects():
        if instance_or_path in (project.instance, project.root):
            return project
    path = Path(instance_or_path)
    found = context.registry.find(path) if path.is_dir() else None
    if found is None:
        raise KxError(
            ErrorCode.PROJECT_UNKNOWN,
            "no project {name} is registered",
            hint="see the registered ones with: kx project list",
            name=instance_or_path,
        )
    return found


def _json(project: Project) -> str:
    return as_json({"schema": 1, "project": _row(project)})


def _row(project: Project) -> dict[str, object]:
    return {
        "instance": project.instance,
        "project": project.project,
        "project_id": project.project_id,
        "root": project.root,
        "index": project.index,
    }
