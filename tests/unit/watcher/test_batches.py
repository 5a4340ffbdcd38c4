"""Announcements within the limits of a message."""

from hypothesis import given, settings
from hypothesis import strategies as st

from services.watcher.core.batches import batches
from shared.bus import MAX_MESSAGE_BYTES
from shared.codec import encode
from shared.identity import InstanceId
from shared.messages import MAX_TOUCHED_PATHS, PathsTouched


@settings(max_examples=30)
@given(st.lists(st.sampled_from(["a", "é" * 100, "x" * 4_000, "\\xff" * 4_000]), max_size=1_200))
def test_every_batch_fits_and_none_is_lost(paths):
    """DESIGN 3: at most 500 paths and 256 KiB, whatever the names."""
    found = list(batches(paths))
    assert [path for batch in found for path in batch] == paths
    for batch in found:
        assert 0 < len(batch) <= MAX_TOUCHED_PATHS
        message = PathsTouched(instance=InstanceId("0" * 16), paths=tuple(batch), reason="event")
        assert len(encode(message)) < MAX_MESSAGE_BYTES
