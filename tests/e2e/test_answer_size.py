"""How much source the real command shows."""

from shared.token_estimate import tokens


def test_flags_say_how_much_source_is_shown(kx, tree):
    """Lines and results by flag, the rest by its place; a budget holds for the whole answer, as text and as JSON."""
    (tree / "long.md").write_text(
        "# Long\n\n" + "Nothing is said here.\n" * 10 + "The circuit-open again.\n" + "End.\n" * 10
    )
    assert kx("index", tree, "--wait", "text").code == 0

    def search(*flags):
        return kx("search", "circuit-open", "--mode", "lexical", "--in", tree, *flags)

    one = search("--snippet-results", "1", "--snippet-lines", "1", "--json").json()["results"]
    assert [result["excerpt"] is not None for result in one] == [True] + [False] * (len(one) - 1)
    assert one[0]["excerpt"]["text"].count("\n") == 0
    assert all(result["text"] for result in one)
    (long,) = [result for result in search("--json").json()["results"] if result["path"] == "long.md"]
    assert (long["excerpt"]["start_line"], long["excerpt"]["end_line"]) == (10, 16)
    first = search("--json", "--top", "1").json()
    second = search("--json", "--top", "1", "--offset", str(first["next_offset"])).json()
    assert first["results"][0]["path"] != second["results"][0]["path"]
    docs = search("--json", "--path", "docs/**").json()
    assert ([result["path"] for result in docs["results"]], docs["next_offset"]) == (["docs/resilience.md"], None)
    for budget in (150, 400):
        packed = search("--max-tokens", str(budget))
        assert "circuit-open" in packed.out
        assert tokens(packed.out) <= budget
    as_json = search("--max-tokens", "1000", "--json")
    assert tokens(as_json.out) <= 1000
    assert {result["text"] for result in as_json.json()["results"]} == {""}
