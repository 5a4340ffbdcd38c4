"""`kx purge` and `kx vacuum` as a person runs them."""

from tests.support.residue import canary, found_in


def test_purge_proves_that_the_bytes_are_gone(kx, tree):
    """R-IDX-13: what is still admitted is refused with the way out, what is gone is purged and proven gone."""
    token = canary()
    secret = tree / "docs" / "secret.md"
    secret.write_text(f"# Key\n\nThe key of the house is {token}, keep it.\n")
    assert kx("index", tree, "--wait", "text").code == 0
    (index,) = (kx.home / "data").glob("*.sqlite")
    refused = kx("purge", secret)
    assert refused.code == 2
    assert "indexing.deny" in refused.err
    assert found_in(index, token) == [token]
    secret.unlink()
    purged = kx("purge", secret, "--verify")
    assert (purged.code, found_in(index, token)) == (0, [])
    assert "1 entry purged from" in purged.err
    assert "verified: none of" in purged.err
    assert kx("vacuum", "--in", tree).code == 0
    assert kx("search", "circuit-open", "--in", tree, "--mode", "lexical", "--json").json()["results"]
