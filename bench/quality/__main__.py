"""Print retrieval quality per set, category and mode, and what each kind of evidence is worth.

    python -m bench.quality --data BENCH --texts TEXTS --lexical-only --ablate

BENCH holds `queries/SET.jsonl`, TEXTS the texts as `SET/REPO/...`; nothing of either is part of the project.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from msgspec.structs import fields, replace

from bench.quality import metrics
from bench.quality.budget import BUDGETS, Shown, recall_packed, recall_within, tokens_to_first
from bench.quality.corpora import SAME_TEXTS, SETS, Corpus, add_vectors, build_index, fresh, questions_of
from bench.quality.embeddings import EmbeddingCache
from bench.quality.lines import HEIGHTS, targets_of, touched
from bench.quality.metrics import Scores
from bench.quality.pipeline import Found, ask, by_evidence, by_mode, files
from services.query.core.dedup import fold_equal_texts
from services.query.core.evidence.weights import DEFAULT, Weights
from services.query.core.grouping import group
from services.query.core.passages import Ranked
from shared.messages import Group, Mode
from shared.model import locate_model
from shared.tokens import TokenCounter

Ranking = Callable[[Found], list[Ranked]]

TOP = 10
DEFAULT_CACHE = Path("~/.cache/kx-bench")


def main() -> None:
    """Run the bench as the arguments say."""
    options = _options()
    corpora = list(_corpora(options))
    cache = None if options.lexical_only else EmbeddingCache(options.cache.expanduser(), threads=options.threads)
    if cache is not None:
        for corpus in _distinct(corpora):
            share = add_vectors(corpus.index, corpus.root, cache, embed=options.embed)
            print(f"{corpus.name}: vectors of {share:.0%} of the texts", flush=True)
    found: list[Found] = []
    for corpus in corpora:
        vectors = cache.embed_questions([q.query for q in corpus.questions]) if cache is not None else {}
        found += ask(corpus, vectors)
    _report(found, options)
    _budgets(found, TokenCounter.load(locate_model().tokenizer))
    _lines(corpora, found, options.data)
    if options.run:
        _write_run(found, options.run, options.group)


def _report(found: Sequence[Found], options: argparse.Namespace) -> None:
    print(_heading())
    print(_row("auto", found, by_evidence))
    if not options.lexical_only:
        modes: tuple[Mode, ...] = ("rrf", "hybrid", "semantic")
        for mode in modes:
            print(_row(mode, found, _by_mode(mode)))
    print(_row("lexical", found, _by_mode("lexical")))
    if options.ablate:
        for name in (field.name for field in fields(Weights)):
            weights = replace(DEFAULT, **{name: 1.0 if name == "prose_names" else 0.0})
            print(_row(f"- {name}", found, _by_weights(weights)))
    _details(found)
    for name, times in (("lanes", [f.lanes_ms for f in found]), ("evidence", [f.evidence_ms for f in found])):
        ordered = sorted(times)
        print(f"{name}: p50 {ordered[len(ordered) // 2]:.1f} ms, p95 {ordered[len(ordered) * 19 // 20]:.1f} ms")


def _by_mode(mode: Mode) -> Ranking:
    return lambda found: by_mode(found, mode)


def _by_weights(weights: Weights) -> Ranking:
    return lambda found: by_evidence(found, weights)


def _details(found: Sequence[Found]) -> None:
    print(f"\n{'auto':34}{'queries':>8}  NDCG@10   MRR@10   Rec@10")
    for name in SETS:
        items = [(f, _score(f, by_evidence)) for f in found if f.question.set == name]
        if not items:
            continue
        print(_line(name, len(items), metrics.mean_of_groups((f.question.repo, s) for f, s in items)))
        grouped = metrics.by((f.question.category or "-", s) for f, s in items)
        if len(grouped) > 1:
            for category, mean in grouped.items():
                count = sum((f.question.category or "-") == category for f, _ in items)
                print(_line(f"    {category}", count, mean))


def _budgets(found: Sequence[Found], count: TokenCounter) -> None:
    print(f"\n{'tokens read':34}{'to first':>9}" + "".join(f"  recall {budget:>5}" for budget in BUDGETS))
    for name in SETS:
        chosen = [item for item in found if item.question.set == name]
        shown = [_shown(item, count) for item in chosen]
        if not chosen:
            continue
        wanted = [item.question.relevant for item in chosen]
        firsts = sorted(first for s, w in zip(shown, wanted, strict=True) if (first := tokens_to_first(s, w)))
        recalls = [
            sum(recall_within(s, w, budget) for s, w in zip(shown, wanted, strict=True)) / len(chosen)
            for budget in BUDGETS
        ]
        cells = "".join(f"       {recall:.4f}" for recall in recalls)
        print(f"{name:34}{sum(firsts) / max(1, len(firsts)):9.0f}{cells}")
        asked = [(s, item.question) for s, item in zip(shown, chosen, strict=True)]
        packed = [
            sum(recall_packed(s, q.query, q.relevant, budget) for s, q in asked) / len(asked) for budget in BUDGETS
        ]
        print(f"{'    packed: lines of them':43}" + "".join(f"       {recall:.4f}" for recall in packed))


def _lines(corpora: Sequence[Corpus], found: Sequence[Found], data: Path) -> None:
    print(f"\n{'excerpts that show a judged line':34}{'passages':>9}" + "".join(f"  {h} lines" for h in HEIGHTS * 2))
    for corpus in corpora:
        chosen = [item for item in found if (item.question.set, item.question.repo) == (corpus.set, corpus.repo)]
        rows = list(touched(corpus, chosen, targets_of(data, corpus.set)))
        if rows:
            shares = "".join(f"   {sum(column) / len(rows):.3f}" for column in zip(*rows, strict=True))
            print(f"{corpus.name:34}{len(rows):9}{shares}  (the last two: from the beginning)")


def _shown(found: Found, count: TokenCounter) -> list[Shown]:
    results = group(fold_equal_texts(by_evidence(found)), "file")[:TOP]
    texts = [(result.path, result.best.passage.text) for result in results]
    return [Shown(path, count.count(text), text) for path, text in texts]


def _line(name: str, count: int, mean: Scores) -> str:
    return f"{name:34}{count:8}  {mean.ndcg:.4f}   {mean.mrr:.4f}   {mean.recall:.4f}"


def _heading() -> str:
    return f"{'NDCG@10':24}" + " ".join(f"{name[:10]:>10}" for name in SETS) + "      mean"


def _row(name: str, found: Sequence[Found], ranking: Ranking) -> str:
    means = []
    for chosen in SETS:
        items = [(f.question.repo, _score(f, ranking)) for f in found if f.question.set == chosen]
        means.append(metrics.mean_of_groups(items).ndcg if items else None)
    known = [value for value in means if value is not None]
    cells = " ".join("         -" if value is None else f"{value:10.4f}" for value in means)
    return f"{name:24}{cells}  {sum(known) / max(1, len(known)):.4f}"


def _score(found: Found, ranking: Ranking) -> Scores:
    return metrics.scores(files(ranking(found)), found.question.relevant)


def _corpora(options: argparse.Namespace) -> Iterable[Corpus]:
    count = TokenCounter.load(locate_model().tokenizer)
    indexes = Path(options.indexes) if options.indexes else fresh(Path(tempfile.gettempdir()) / "kx-bench-indexes")
    started, built = time.perf_counter(), 0
    for (name, repo), asked in questions_of(options.data, tuple(options.set or SETS)).items():
        texts = SAME_TEXTS.get(name, name)
        root = _folder_of(repo, options.texts / texts)
        if not root.is_dir():
            print(f"{name}/{repo}: no texts, left out")
            continue
        index = indexes / f"{texts}-{root.name}.sqlite"
        if not index.exists():
            build_index(root, index, model_id=locate_model().model_id, count=count)
            built += 1
        yield Corpus(set=name, repo=repo, index=index, root=root, questions=tuple(asked))
    print(f"{built} indexes built in {time.perf_counter() - started:.0f} s")


def _folder_of(repo: str, texts: Path) -> Path:
    """Give the folder of a repository; sets that ask of another's texts call its only one by a name of their own."""
    named = texts / repo
    return named if named.is_dir() else min(texts.iterdir(), default=named)


def _distinct(corpora: Sequence[Corpus]) -> list[Corpus]:
    return list({corpus.index: corpus for corpus in reversed(corpora)}.values())[::-1]


def _write_run(found: Sequence[Found], path: Path, by: Group) -> None:
    """Write results as the evaluator of the sets reads them: files, or passages with their lines."""
    with path.open("w", encoding="utf-8") as out:
        for item in found:
            asked = item.question
            results = group(fold_equal_texts(by_evidence(item)), by)[:10]
            lines = [(r.path, r.best.passage.at.start_line, r.best.passage.at.end_line) for r in results]
            ranked = [p if by == "file" else {"path": p, "start": first, "end": last} for p, first, last in lines]
            row = {"set": asked.set, "repo": asked.repo, "query": asked.query, "ranked": ranked}
            out.write(json.dumps(row) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with queries/SET.jsonl")
    parser.add_argument("--texts", type=Path, required=True, help="folder with SET/REPO/...")
    parser.add_argument("--set", action="append", choices=SETS, help="only this set (may be repeated)")
    parser.add_argument("--lexical-only", action="store_true", help="without vectors")
    parser.add_argument("--embed", action="store_true", help="embed the texts that have no vector in the cache")
    parser.add_argument("--threads", type=int, default=1, help="of the encoder")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="folder of kept vectors")
    parser.add_argument("--indexes", type=Path, help="folder of indexes to keep and to use again")
    parser.add_argument("--ablate", action="store_true", help="also each kind of evidence left out")
    parser.add_argument("--run", type=Path, help="write the rankings as JSON lines")
    parser.add_argument("--group", choices=("file", "passage"), default="file", help="of the rankings written")
    return parser.parse_args()


if __name__ == "__main__":
    main()
