"""Row B9 of RELIABILITY.md: hostile documents are refused or capped, and their reader alone suffers."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from shared.errors import KxError
from shared.extraction import DEFAULT_LIMITS, EXTRACTION_CODES, extract_blocking
from tests.soak.conftest import IS_SOAK, Report
from tests.support.document_samples import Hostile, hostile_documents, make_docx, mutated

pytestmark = pytest.mark.timeout(3_600 if IS_SOAK else 120)

Amount = Callable[[int], int]

_FIRST = 2  # CI meets a bomb, archives in archives and a tree beyond the memory
MUTATED = 600 if IS_SOAK else 6  # a start of a process each
SLACK_S = 2.0  # of the deadline, for the start and the end of a process on a busy machine
KIB = 1024


def test_b9_hostile_documents_end_in_a_reason_or_a_part(amount: Amount, report: Report) -> None:
    """Row B9: bombs, loops, deep trees, lying sizes, encrypted, a million pages, and mutations of good ones."""
    made = len(hostile_documents())
    with multiprocessing.get_context("spawn").Pool(1) as pool:  # whose only children are those of this row
        read = pool.apply(_read_all, (made // amount(made),))
    problems = list(read.problems)
    alive = "Handbook" in extract_blocking(make_docx(), suffix=".docx").markdown
    report(
        "B9",
        problems,
        documents=read.documents,
        slowest=f"{read.slowest:.1f}",
        peak_mib=int(read.peak_mib),
        alive=alive,
    )


class ReadAll(NamedTuple):
    """What reading them came to."""

    documents: int
    problems: list[str]
    slowest: float
    peak_mib: float


def _read_all(step: int) -> ReadAll:
    made = hostile_documents()
    chosen = made if IS_SOAK else made[_FIRST::step]
    makers = [*chosen, *(lambda seed=seed: mutated(seed) for seed in range(MUTATED))]
    problems: list[str] = []
    slowest = 0.0
    for make in makers:
        hostile = make()
        started = time.monotonic()
        problems += _problem(hostile)
        took = time.monotonic() - started
        slowest = max(slowest, took)
        if took > DEFAULT_LIMITS.wall_s + SLACK_S:
            problems.append(f"{hostile.kind} {hostile.name} took {took:.1f} s")
    peak_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / KIB
    if peak_mib > DEFAULT_LIMITS.memory_bytes / KIB / KIB:
        problems.append(f"a child took {peak_mib:.0f} MiB")
    return ReadAll(len(makers), problems, slowest, peak_mib)


def _problem(hostile: Hostile) -> list[str]:
    before = _descriptors()
    name = f"{hostile.kind} {hostile.name}"
    problems: list[str] = []
    try:
        found = extract_blocking(hostile.data, suffix=hostile.kind)
    except KxError as error:
        if error.code not in EXTRACTION_CODES:
            problems.append(f"{name}: {error.code}")
        elif hostile.reasons and error.params["reason"] not in set(map(str, hostile.reasons)):
            problems.append(f"{name}: {error.params['reason']}")
    else:
        if hostile.reasons:
            problems.append(f"{name} was read: {found.markdown[:40]!r}")
        if len(found.markdown.encode()) > DEFAULT_LIMITS.output_bytes:
            problems.append(f"{name} gave {len(found.markdown)} characters")
    return problems if _descriptors() == before else [*problems, f"{name} left a descriptor"]


def _descriptors() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0
