"""Paths to kinds and languages."""

from __future__ import annotations

import pytest

from shared.kinds import Kind, classify


@pytest.mark.parametrize(
    ("path", "kind", "language"),
    [
        ("README.md", "docs", "markdown"),
        ("docs/guide.rst", "docs", "restructuredtext"),
        ("notes.txt", "docs", "text"),
        ("LICENSE", "docs", "text"),
        ("LICENSE.MIT", "docs", "text"),
        ("index.html", "docs", "html"),
        ("src/app.py", "code", "python"),
        ("src/App.TSX", "code", "tsx"),
        ("a.ts", "code", "typescript"),
        ("a.mjs", "code", "javascript"),
        ("A.java", "code", "java"),
        ("main.go", "code", "go"),
        ("lib.rs", "code", "rust"),
        ("x.h", "code", "c"),
        ("x.hpp", "code", "cpp"),
        ("x.cs", "code", "csharp"),
        ("schema.sql", "code", "sql"),
        ("run.sh", "code", "bash"),
        ("a.rb", "code", "ruby"),
        ("a.php", "code", "php"),
        ("a.kt", "code", "kotlin"),
        ("a.scala", "code", "scala"),
        ("a.swift", "code", "swift"),
        ("a.lua", "code", "lua"),
        ("a.css", "code", "css"),
        ("Makefile", "code", "makefile"),
        ("parse.y", "code", "yacc"),
        ("scan.l", "code", "yacc"),
        ("package.json", "config", "json"),
        ("ci.yaml", "config", "yaml"),
        ("pyproject.toml", "config", "toml"),
        ("pom.xml", "config", "xml"),
        ("setup.cfg", "config", "ini"),
        ("app.properties", "config", "properties"),
        ("Dockerfile", "config", "dockerfile"),
        ("Dockerfile.dev", "config", "dockerfile"),
        ("dev.Dockerfile", "config", "dockerfile"),
        ("settings.py.example", "code", "python"),
        (".vault/note.md", "vault", "markdown"),
        (".vault/data.json", "config", "json"),
        ("sub/.vault/note.md", "docs", "markdown"),
        ("unknown.qqq", "docs", "text"),
        ("script", "docs", "text"),
    ],
)
def test_name_tells_kind_and_language(path: str, kind: str, language: str) -> None:
    """Case 18 (c) and the kinds a person filters by."""
    found = classify(path)
    assert (found.kind, found.language) == (Kind(kind), language)


@pytest.mark.parametrize(
    ("first_line", "language"),
    [
        ("#!/usr/bin/env python3", "python"),
        ("#!/usr/bin/python3.11 -u", "python"),
        ("#!/usr/bin/env -S node --no-warnings", "javascript"),
        ("#!/bin/sh", "bash"),
        ("#! /bin/bash -e", "bash"),
        ("#!/usr/bin/perl -w", "perl"),
        ("#!/usr/bin/env VAR=1 ruby", "ruby"),
        ("<?xml version='1.0'?>", "xml"),
        ("<!DOCTYPE html>", "html"),
        ("#!", "text"),
        ("#!/opt/unheard-of", "text"),
        ("", "text"),
    ],
)
def test_first_line_tells_what_a_bare_name_cannot(first_line: str, language: str) -> None:
    """Case 18 (c): files without an extension."""
    assert classify("bin/tool", first_line).language == language


def test_name_is_believed_before_the_first_line() -> None:
    """A Markdown file that begins with a shebang stays Markdown."""
    assert classify("a.md", "#!/bin/sh").language == "markdown"


@pytest.mark.parametrize("name", ["bash.bashrc", "skel/dot.bashrc", ".bashrc", "etc/zshrc.zprofile"])
def test_start_up_files_of_shells_are_scripts(name: str) -> None:
    """Whatever stands before their name."""
    assert classify(name).language == "bash"
