"""`kx status`: what the index of a project holds, what is missing, how the services are."""

from __future__ import annotations

from pathlib import Path

import anyio
import click
from msgspec import Struct

from kx.client import health, services
from kx.context import Context
from kx.render import Absent, as_json, status_json, status_text
from shared.bus import Bus
from shared.identity import InstanceId
from shared.messages import Listing, ListingRequest, ListingRow, ServiceStatus, StatusReply, StatusRequest
from shared.subjects import LISTING, STATUS

STATUS_TIMEOUT_S = 10.0


@click.command("status", epilog="Examples: kx status    kx status --json --skipped")
@click.option(
    "--in",
    "path",
    type=click.Path(path_type=Path),
    help="The project, by any path in it (default: the working directory).",
)
@click.option("--documents", is_flag=True, help="List every indexed document.")
@click.option("--skipped", is_flag=True, help="List every skipped entry with its reason.")
@click.option("--json", "is_json", is_flag=True, help="Print JSON (documented in docs/commands.md).")
@click.option("--stack/--no-stack", default=None, help="Use the running services, or never (default: if they run).")
@click.pass_obj
def command(  # one parameter an option
    context: Context, path: Path | None, *, documents: bool, skipped: bool, is_json: bool, stack: bool | None
) -> None:
    """Show documents, chunks, vectors, skipped and failed entries, and the services."""
    project = context.registered(path)
    wanted: tuple[Listing, ...] = (*(("documents",) if documents else ()), *(("skipped",) if skipped else ()))
    asked = anyio.run(_ask, context, project.instance, wanted, stack)
    if is_json:
        context.say(as_json(status_json(asked.reply, asked.services, asked.listings, asked.absent)))
    else:
        context.say(status_text(asked.reply, asked.services, asked.listings, context.catalogue, asked.absent))


class Asked(Struct, frozen=True):
    """What was asked for, and how the services are."""

    reply: StatusReply
    services: dict[str, ServiceStatus | None]
    listings: dict[Listing, list[ListingRow]]
    absent: Absent  # what it means that nobody answers for a service


async def _ask(context: Context, instance: InstanceId, wanted: tuple[Listing, ...], stack: bool | None) -> Asked:
    async with services(context.settings, writes=False, mode="kx status", stack=stack) as reach:
        reply = await reach.bus.request(STATUS, StatusRequest(instance=instance), timeout_s=STATUS_TIMEOUT_S)
        listings = {name: await _listing(reach.bus, instance, name) for name in wanted}
        found = await health(reach.bus)
    return Asked(reply, found, listings, "down" if reach.is_stack else "not_running")


async def _listing(bus: Bus, instance: InstanceId, listing: Listing) -> list[ListingRow]:
    rows: list[ListingRow] = []
    while True:
        after = rows[-1].path if rows else ""
        page = await bus.request(
            LISTING, ListingRequest(instance=instance, listing=listing, after=after), timeout_s=STATUS_TIMEOUT_S
        )
        rows.extend(page.rows)
        if page.complete or not page.rows:
            return rows
