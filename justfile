# The recipes; run them through ./dev, which makes the environment first. CI runs `check`.

bin := ".venv/bin"

# what `lock` needs besides pyproject.toml: the build backend, so that kx itself installs without an index
backend := "hatchling==1.33.0 editables==0.6"
uv := "uv==0.13.9"
compile := bin / "uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate"

_default:
    @{{ bin }}/just --list --unsorted

# everything a change must pass; the tests come last
check: lint types contracts test

# style and form
lint:
    {{ bin }}/ruff check .
    {{ bin }}/ruff format --check .

# mypy, strict
types:
    {{ bin }}/mypy

# who may import whom
contracts:
    {{ bin }}/lint-imports

# the tests, on both cores; arguments go to pytest
test *ARGS:
    {{ bin }}/pytest -n 2 -m "not soak" {{ ARGS }}

# the same and the long ones
test-all *ARGS:
    {{ bin }}/pytest -n 2 {{ ARGS }}

# rows of figures in full, one after the other, each with its line: `just soak F5 L3`; all of them take hours
soak *ROWS:
    KX_SOAK=1 {{ bin }}/python -m pytest -p tests.support.soak_rows -o timeout=3600 tests {{ prepend("--row=", ROWS) }}

# all of them where there is no network, every call to another machine counted (row A15; Linux, strace)
offline:
    KX_SOAK=1 {{ bin }}/pytest tests/soak/test_no_network.py

# repair what the linter can
fix:
    {{ bin }}/ruff check --fix .
    {{ bin }}/ruff format .

# bring the derived tables of docs/ up to date
docs:
    {{ bin }}/python -m tests.support.doc_tables

# one benchmark of bench/
bench NAME *ARGS:
    {{ bin }}/python bench/{{ NAME }}.py {{ ARGS }}

# the command, from the source tree
run *ARGS:
    {{ bin }}/kx {{ ARGS }}

# the whole stack in one terminal
stack:
    PATH="$PWD/{{ bin }}:$PATH" {{ bin }}/honcho start

# pin names, versions and hashes; never an address
lock:
    {{ bin }}/python -m pip install -q {{ uv }}
    printf '%s\n' {{ backend }} | {{ compile }} -o requirements.txt pyproject.toml -
    printf '%s\n' {{ backend }} | {{ compile }} -o requirements-dev.txt --group dev --extra documents pyproject.toml -

# check style and types before each commit
hook:
    printf '#!/bin/sh\nexec .venv/bin/just lint types contracts\n' > "$(git rev-parse --git-path hooks)/pre-commit"
    chmod +x "$(git rev-parse --git-path hooks)/pre-commit"
