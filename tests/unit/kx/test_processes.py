"""Looking up a process of the table."""

from __future__ import annotations

import pytest

from kx.processes import PROCESSES, process_named
from shared.errors import ErrorCode, KxError


@pytest.mark.parametrize("process", PROCESSES, ids=lambda process: process.name)
def test_process_is_found_by_its_name(process):
    """`kx serve NAME` runs the row with that name."""
    assert process_named(process.name) is process


def test_unknown_process_is_refused_with_the_known_ones():
    """A wrong name is a usage error that lists the right ones."""
    with pytest.raises(KxError) as refused:
        process_named("indexr")
    assert refused.value.code is ErrorCode.USAGE
    assert "indexer" in refused.value.params["known"]
