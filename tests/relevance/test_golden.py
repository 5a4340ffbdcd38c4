"""Rankings of a small fixed tree, held still: a change of any ranking is seen, and judged, before it is committed.

The tree is ours (code, documentation, configuration, Portuguese and Japanese notes). Only words are asked, so that the
rankings do not depend on a machine's arithmetic. `pytest tests/relevance --update-golden` writes what the code says now.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.quality import metrics
from bench.quality.corpora import Corpus, Question, build_index
from bench.quality.pipeline import ask, by_evidence, by_mode, files
from shared.model import locate_model
from shared.tokens import TokenCounter

HERE = Path(__file__).parent
RANKINGS, FIGURES = HERE / "golden_rankings.json", HERE / "golden_figures.json"
SHOWN = 5


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, list[str]]]:
    """The files found for each question, by mode."""
    folder, model = tmp_path_factory.mktemp("golden"), locate_model()
    root, index = written(folder / "tree"), folder / "corpus.sqlite"
    build_index(root, index, model_id=model.model_id, count=TokenCounter.load(model.tokenizer))
    asked = tuple(
        Question(set="golden", repo="corpus", query=query, relevant=tuple(relevant))
        for query, relevant in questions().items()
    )
    found = list(ask(Corpus(set="golden", repo="corpus", index=index, root=root, questions=asked), {}))
    return {
        "auto": {item.question.query: files(by_evidence(item)) for item in found},
        "lexical": {item.question.query: files(by_mode(item, "lexical")) for item in found},
    }


def written(root: Path) -> Path:
    for row in rows_of("corpus.jsonl"):
        file = root / row["path"]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(row["text"], "utf-8")
    return root


def rows_of(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text("utf-8").splitlines()]


def questions() -> dict[str, list[str]]:
    return {row["query"]: row["relevant"] for row in rows_of("queries.jsonl")}


def figures(ranked: dict[str, dict[str, list[str]]]) -> dict[str, dict[str, float]]:
    """Mean of all questions by mode."""
    means = {}
    for mode, lists in ranked.items():
        mean = metrics.mean(metrics.scores(lists[query], relevant) for query, relevant in questions().items())
        means[mode] = {"ndcg@10": round(mean.ndcg, 4), "mrr@10": round(mean.mrr, 4), "recall@10": round(mean.recall, 4)}
    return means


def test_rankings_are_as_recorded(ranked: dict[str, dict[str, list[str]]], update_golden: bool) -> None:
    """Issue 6: a small fixed set with golden rankings guards every change."""
    shown = {query: paths[:SHOWN] for query, paths in ranked["auto"].items()}
    if update_golden:
        RANKINGS.write_text(json.dumps(shown, indent=1, ensure_ascii=False) + "\n", "utf-8")
    assert shown == json.loads(RANKINGS.read_text("utf-8"))


def test_figures_are_as_recorded(ranked: dict[str, dict[str, list[str]]], update_golden: bool) -> None:
    """One file of NDCG, MRR and recall."""
    found = figures(ranked)
    if update_golden:
        FIGURES.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    assert found == json.loads(FIGURES.read_text("utf-8"))


def test_evidence_ranks_better_than_words_alone(ranked: dict[str, dict[str, list[str]]]) -> None:
    """MISSION 4.4: what `auto` is for."""
    found = figures(ranked)
    assert found["auto"]["mrr@10"] > found["lexical"]["mrr@10"]
    assert found["auto"]["ndcg@10"] >= 0.9


def test_every_question_finds_an_answer(ranked: dict[str, dict[str, list[str]]]) -> None:
    """Cases 1, 5 and 6 among them: identifiers, Japanese, accents."""
    missed = [q for q, relevant in questions().items() if not set(relevant) & set(ranked["auto"][q][: metrics.DEPTH])]
    assert missed == []
