"""`kx purge`: remove what is indexed of a path, and every trace of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import click

from kx.client import services
from kx.context import Context, working_directory
from kx.render import JSON_SCHEMA, as_json
from kx.upkeep import until_tidy
from shared.errors import ErrorCode, KxError
from shared.project_config import LoadedConfig
from shared.registry import Project
from shared.relpath import RelPath, decode_path, encode_path
from shared.subjects import PURGE
from shared.treerules import TreeRules
from shared.upkeep_messages import PathsPurged, PurgePaths

PURGE_TIMEOUT_S = 60.0
TEXTS_AT_MOST = 200  # files read to prove a folder's purge
BYTES_AT_MOST = 1_000_000  # of each


@click.command("purge", epilog="Examples: kx purge notes/secret.md --verify    kx purge old/ --yes")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--verify", is_flag=True, help="Look at every byte of the index afterwards, and say what was found.")
@click.option("--yes", is_flag=True, help="Purge also what would be indexed again at the next look at the tree.")
@click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md).")
@click.option("--stack/--no-stack", default=None, help="Use the running services, or never (default: if they run).")
@click.pass_obj
def command(context: Context, path: Path, *, verify: bool, yes: bool, is_json: bool, stack: bool | None) -> None:
    """Remove what is indexed of PATH (a file or a folder, also one that is gone) and every trace of it.

    The file itself is not touched. Earlier versions of any text and vectors nobody uses are erased with it.
    """
    place = _meant(path)
    found, loaded = context.find(_nearest(place))
    project = context.registered(found.root)
    rel = _inside(project, place)
    if not yes and _is_admitted(project, loaded, rel):
        raise KxError(
            ErrorCode.USAGE,
            "{path} would be indexed again at the next look at the tree",
            hint='keep it out first: put it into "indexing.deny" of {root}/.kx.json; or purge it all the same: --yes',
            path=path,
            root=project.root,
        )
    purged, proof = anyio.run(_purge, context, project, rel, verify, stack)
    if is_json:
        told = {"project": project.project, "path": rel, "purged": purged, "verified": proof}
        context.say(as_json({"schema": JSON_SCHEMA, **told}))
        return
    context.tell(
        "{count} entries purged from the index of {project}"
        if purged != 1
        else "1 entry purged from the index of {project}",
        count=purged,
        project=project.project,
    )
    if proof is None:
        return
    if not proof["pieces"]:
        context.tell("nothing was known that only this text holds, so there was nothing to look for")
        return
    context.tell(
        "verified: none of {count} pieces of its text stands in {files}",
        count=proof["pieces"],
        files=", ".join(proof["files"]),
    )


async def _purge(
    context: Context, project: Project, rel: str, verify: bool, stack: bool | None
) -> tuple[int, dict[str, Any] | None]:
    """Give how many entries were removed and, where it was looked for, what is proven gone."""
    from kx.residue import found_in, probes_of

    index = project.index_path
    probes = probes_of(index, project.instance, rel, _texts_of(project, rel)) if verify else None
    async with services(context.settings, writes=True, mode="kx purge", stack=stack) as reach:
        message = PurgePaths(instance=project.instance, paths=(rel,))
        purged: PathsPurged = await reach.bus.request(PURGE, message, timeout_s=PURGE_TIMEOUT_S)
        await until_tidy(reach.bus, project.instance)
    if probes is None:
        return purged.documents, None
    if not probes.pieces:
        return purged.documents, {"pieces": 0, "files": []}
    left = found_in(index, probes)
    if any(left.values()):
        raise KxError(
            ErrorCode.INTERNAL,
            "{count} of {probes} pieces of the purged text are still in {path}",
            hint="purge it again once nothing else reads the index; delete the index to be sure",
            count=sum(left.values()),
            probes=len(probes.pieces),
            path=index,
        )
    return purged.documents, {"pieces": len(probes.pieces), "files": [*left] or [index.name]}


def _meant(typed: Path) -> Path:
    """Give the place of what was typed; a name that is escaped as answers print it is that file."""
    place = Path(os.path.normpath(working_directory() / typed))
    return place if os.path.lexists(place) else Path(os.fsdecode(decode_path(os.fspath(place))))


def _nearest(place: Path) -> Path:
    """Give the nearest folder that is there: what is purged may be gone."""
    while not place.is_dir() and place != place.parent:
        place = place.parent
    return place


def _inside(project: Project, place: Path) -> str:
    real = place.parent.resolve() / place.name if place != project.root_path else place
    if not real.is_relative_to(project.root_path):
        raise KxError(
            ErrorCode.PATH_OUTSIDE_ROOT,
            "the path {path} is not inside the project",
            hint="give a path below the project's root",
            path=place,
        )
    inside = real.relative_to(project.root_path)
    return "" if inside == Path() else encode_path(os.fsencode(inside))


def _is_admitted(project: Project, loaded: LoadedConfig, rel: str) -> bool:
    rules = TreeRules(project.root_path, loaded.config.rules())
    try:
        status = os.lstat(project.root_path / rel)
    except OSError:
        return False
    return rules.verdict(RelPath(rel), status).admitted if rel else True


def _texts_of(project: Project, rel: str) -> list[str]:
    """Read what is on disk now: an index that has forgotten a denied file cannot say what to look for."""
    place = project.root_path / rel
    files = [place] if place.is_file() else sorted(file for file in place.rglob("*") if file.is_file())
    texts = []
    for file in files[:TEXTS_AT_MOST]:
        try:
            with file.open("rb") as opened:
                texts.append(opened.read(BYTES_AT_MOST).decode("utf-8", "replace"))
        except OSError:
            continue
    return texts
