"""Process table, Procfile, compose file and folders name the same processes."""

from __future__ import annotations

import re
from pathlib import Path

import compose_spec
import pytest

from kx.processes import BUS, PROCESSES
from shared.subjects import GATEWAY, SERVICES
from tests.support.repository import ROOT, text_of

PROJECT = "/home/ana/project"
VALUES = {"KX_PROJECT": PROJECT, "KX_UID": "1234", "KX_GID": "1234", "KX_HTTP_PORT": "5959"}
NAMES = [process.name for process in PROCESSES]


def compose() -> dict:
    text = re.sub(r"\$\{(\w+)(:[-?][^}]*)?\}", lambda found: VALUES[found[1]], text_of(Path("docker-compose.yml")))
    options = compose_spec.PyOptions(apply_merge=True)
    parsed = options.from_yaml(text)  # refuses what the compose specification does not know
    parsed.validate()
    return parsed.to_dict()


def test_procfile_starts_each_process_in_order():
    """`honcho start` runs exactly the table, the bus first."""
    lines = text_of(Path("Procfile")).splitlines()
    assert lines == [f"{name}: kx serve {name}" for name in NAMES]
    assert NAMES[0] == BUS


def test_compose_runs_each_process():
    """The compose file is valid and runs exactly the table."""
    services = compose()["services"]
    assert {name: service["command"] for name, service in services.items()} == {
        name: ["kx", "serve", name] for name in NAMES
    }


def test_compose_publishes_http_alone_and_to_loopback_alone():
    """Loopback stays loopback: one network namespace, and of the host's addresses only 127.0.0.1 leads in."""
    services = compose()["services"]
    assert {name: service["ports"] for name, service in services.items() if service.get("ports")} == {
        BUS: ["127.0.0.1:5959:5959"]
    }
    open_to_all = [name for name, service in services.items() if "KX_HTTP_HOST" in service["environment"]]
    assert open_to_all == [GATEWAY]
    for name, service in services.items():
        assert service.get("network_mode") == (None if name == BUS else "service:bus")
        after_bus = {BUS: {"condition": "service_started", "restart": True}}
        assert service.get("depends_on") == (None if name == BUS else after_bus)


def test_compose_mounts_the_tree_read_only_at_its_own_path():
    """A path in an answer is a path on the host; no container can change the tree, and the gateway alone its vault."""
    for name, service in compose()["services"].items():
        home, tree, *vault = service["volumes"]
        place = f"{PROJECT}/.vault"  # the library leaves out what is false, so `bind` is empty
        assert vault == ([{"type": "bind", "source": place, "target": place, "bind": {}}] if name == GATEWAY else [])
        assert tree == {"type": "bind", "source": PROJECT, "target": PROJECT, "read_only": True}
        assert home["type"] == "volume"
        assert service["environment"]["KX_HOME"].startswith(home["target"] + "/")
        assert service["user"] == "1234:1234"
    assert "create_host_path: false" in text_of(Path("docker-compose.yml"))  # an engine would make the folder as root's


def test_every_service_is_hosted_once():
    """Folders, subjects and the process table name the same services."""
    hosted = [service for process in PROCESSES for service in process.hosts]
    folders = [path.name for path in (ROOT / "services").iterdir() if (path / "__init__.py").is_file()]
    assert sorted(hosted) == sorted(folders) == sorted(SERVICES)


@pytest.mark.parametrize("service", SERVICES)
def test_service_has_the_common_skeleton(service: str):
    """Read one service, know all."""
    folder = ROOT / "services" / service
    missing = [name for name in ("__main__.py", "service.py", "core", "adapters") if not (folder / name).exists()]
    assert missing == []
