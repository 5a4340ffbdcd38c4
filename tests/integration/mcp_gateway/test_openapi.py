"""What `/api/v1` says of itself is what it does: schemathesis asks the real listener, a real knowledge service behind it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import anyio
import pytest

from services.mcp_gateway.adapters.http_listener import bound, serving
from tests.support.http_bench import http_door, make_token
from tests.support.knowledge_product import KnowledgeProduct

pytestmark = pytest.mark.anyio

IS_SOAK = bool(os.environ.get("KX_SOAK"))
EXAMPLES = 300 if IS_SOAK else 3  # of an operation, beside the boundary cases, which are always all asked
SEED = "20261130"
# A schema cannot say of a title that it is more than blanks, of a name that its ending is known, or what may be
# published now: there, and nowhere else, may a request that fits the schema be refused with 422.
CONFIG = """
[[operations]]
include-operation-id = ["base_create", "item_create", "item_edit", "item_import", "item_publish"]
checks.positive_data_acceptance.expected-statuses = ["2xx", "403", "404", "409", "422"]

[phases.coverage]
unexpected-methods = ["PUT"]
"""


@pytest.mark.timeout(3_600 if IS_SOAK else 120)
async def test_every_answer_is_as_the_openapi_document_says(tmp_path: Path):
    """No server error; statuses and bodies as documented; what the schema refuses is refused, what it allows is not."""
    config = tmp_path / "schemathesis.toml"
    config.write_text(CONFIG)
    product = KnowledgeProduct(tmp_path / "home")
    token = make_token(product.settings, scopes=("admin",), principal="local")
    listener = bound("127.0.0.1", 0)
    port = listener.getsockname()[1]
    command = [
        str(Path(sys.executable).with_name("st")), "--config-file", str(config),
        "run", f"http://127.0.0.1:{port}/api/v1/openapi.json", "-H", f"Authorization: Bearer {token}",
        "--checks", "all", "--max-examples", str(EXAMPLES), "--seed", SEED,
        "--continue-on-failure", "--no-color", "--warnings", "off",
    ]  # fmt: skip
    async with (
        product.serving() as asker,
        http_door(asker.bus, product.settings, port=port) as door,
        serving(door, listener),
    ):
        await asker.base("0")  # a name that is often thought of, so that there is something behind it
        ran = await anyio.run_process(command, check=False, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout.decode() + ran.stderr.decode()
