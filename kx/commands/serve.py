"""`kx serve NAME`: run one process of the stack in the foreground."""

from __future__ import annotations

import importlib
import signal

import click

from kx.context import Context
from kx.processes import BUS, process_named
from shared.child import end_with_parent
from shared.runtime import serve_main
from shared.settings import ensure_home


@click.command("serve", epilog="Example: kx serve bus    kx serve query")
@click.argument("name", metavar="NAME")
@click.option("--parent", type=int, hidden=True, help="Process id of the supervisor, whose end ends this one.")
@click.pass_obj
def command(context: Context, name: str, parent: int | None) -> int:
    """Run NAME (bus, watcher, indexer, embedder, query or mcp_gateway) until it is told to stop."""
    if parent is not None:
        end_with_parent(parent)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # a log that nobody reads any more ends no service
    process = process_named(name)
    ensure_home(context.settings)
    if name == BUS:
        from kx.bus_server import serve_bus

        serve_bus(context.settings.run_dir, context.settings.bus_port)
    module, *others = (importlib.import_module(f"services.{host}.service") for host in process.hosts)
    if hasattr(module, "prepare"):
        module.prepare()  # what takes long and needs no bus
    beside = {host: other.service for host, other in zip(process.hosts[1:], others, strict=True)}
    return serve_main(name, module.service, context.settings, beside=beside)
