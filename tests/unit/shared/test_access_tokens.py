"""Access tokens: shown once, stored hashed, good until they expire or are revoked."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from shared.access import AccessToken
from shared.access_tokens import FILE_NAME, AccessTokens
from shared.errors import ErrorCode, KxError
from shared.identity import InstanceId

NOW_S = 1_700_000_000
WANTED = AccessToken(
    id="",
    name="laptop",
    principal="",
    scopes=("search",),
    instances=(InstanceId("0123456789abcdef"),),
    profile="ordinary-full",
    created_s=NOW_S,
    expires_s=NOW_S + 60,
)


@pytest.fixture
def tokens(tmp_path: Path) -> AccessTokens:
    return AccessTokens(tmp_path)


def test_who_holds_a_token_is_known_and_the_file_does_not_hold_it(tokens, tmp_path):
    """MISSION 5.2: only the hash is stored, in a file nobody else may read."""
    token, text = tokens.create(WANTED)
    assert tokens.holder(text, NOW_S) == token == tokens.all()[0]
    assert token.principal == f"token-{token.id}"
    stored = (tmp_path / FILE_NAME).read_bytes()
    secret = text.rpartition("_")[2]
    assert secret.encode() not in stored
    assert bytes.fromhex(secret) not in stored
    assert (tmp_path / FILE_NAME).stat().st_mode & 0o777 == 0o600


def test_what_is_not_exactly_a_token_lets_nobody_in(tokens):
    """Row A7: no, foreign, shortened, altered and padded tokens."""
    _, text = tokens.create(WANTED)
    other, _ = tokens.create(WANTED)
    altered = text[:-1] + ("0" if text[-1] != "0" else "1")
    swapped = f"kx_{other.id}_{text.rpartition('_')[2]}"
    for wrong in (
        "",
        "kx",
        text[:-1],
        text + "0",
        f" {text}",
        text.upper(),
        altered,
        swapped,
        text.replace("_", "-"),
        text + "\n",
    ):
        assert tokens.holder(wrong, NOW_S) is None, wrong


def test_a_token_ends_at_its_time_or_when_it_is_revoked(tokens):
    """MISSION 5.2: expiry and revocation hold at once, also for a reader that is open already."""
    _, text = tokens.create(WANTED)
    endless, forever = tokens.create(replace(WANTED, expires_s=None))
    assert tokens.holder(text, NOW_S + 59)
    assert not tokens.holder(text, NOW_S + 60)
    assert tokens.holder(forever, NOW_S + 10**9)
    AccessTokens(tokens._path.parent).revoke(endless.id, NOW_S + 5)
    assert not tokens.holder(forever, NOW_S + 6)
    assert tokens.revoke(endless.id, NOW_S + 50).revoked_s == NOW_S + 5
    assert not tokens.has_valid(NOW_S + 60)


def test_without_a_file_nobody_is_let_in_and_none_is_made(tokens, tmp_path):
    """HTTP stays off until a token exists; looking makes none."""
    assert tokens.all() == ()
    assert not tokens.has_valid(NOW_S)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KxError) as refused:
        tokens.revoke("0a1b2c3d", NOW_S)
    assert refused.value.code is ErrorCode.USAGE


def test_a_file_taken_away_takes_its_tokens_with_it(tokens, tmp_path):
    """A reader does not go on believing a deleted file."""
    _, text = tokens.create(WANTED)
    assert tokens.holder(text, NOW_S)
    (tmp_path / FILE_NAME).rename(tmp_path / "gone")
    assert tokens.holder(text, NOW_S) is None


def test_a_damaged_file_is_an_error_and_no_open_door(tokens, tmp_path):
    """Fail closed, with the name of the file."""
    (tmp_path / FILE_NAME).write_bytes(b"no database" * 100)
    with pytest.raises(KxError) as refused:
        tokens.holder("kx_0a1b2c3d_" + "0" * 64, NOW_S)
    assert refused.value.code is ErrorCode.CONFIG_UNREADABLE
