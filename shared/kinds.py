"""What a file is, judged by its path and, without a telling name, by its first line (pure).

A kind is what a person filters by (docs, code, config, vault); a language picks the chunker. Whether a file is read
at all is decided by `shared/treerules.py`; here every path gets an answer, plain text in doubt.
"""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec import Struct

VAULT = ".vault"


class Kind(StrEnum):
    """What a person would call the file."""

    DOCS = "docs"
    CODE = "code"
    CONFIG = "config"
    VAULT = "vault"


class FileType(Struct, frozen=True):
    """The kind of a file and the name of its language."""

    kind: Kind
    language: str


TEXT = FileType(Kind.DOCS, "text")

# Read by `shared/extraction.py`: the language is the file's format, the text is Markdown.
DOCUMENTS = ("pdf", "docx", "pptx", "xlsx")

_DOCS = {
    "markdown": "md markdown mdc mdown mkd mkdn mdx mdwn qmd rmd livemd",
    "restructuredtext": "rst rest",
    "text": "txt text log 1 2 3 4 5 6 7 8 man me ms srt vtt po pot changes news nfo",
    "asciidoc": "adoc asciidoc asc",
    "org": "org",
    "latex": "tex ltx sty cls bib",
    "html": "html htm xhtml",
    "textile": "textile",
    "wiki": "wiki mediawiki creole",
    "rtf": "rtf",
    "csv": "csv tsv",
    "jupyter": "ipynb",
    **{kind: kind for kind in DOCUMENTS},
}

_CODE = {
    "python": "py pyi pyw pyx pxd pxi",
    "javascript": "js mjs cjs jsx es6",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "java": "java",
    "go": "go",
    "rust": "rs",
    "c": "c h",
    "cpp": "cpp cc cxx c++ hpp hh hxx h++ ipp inl tcc tpp cppm ixx ino cu cuh",
    "csharp": "cs csx",
    "sql": "sql psql pgsql ddl dml plsql pls pks pkb prc fnc trg",
    "bash": "sh bash zsh ksh fish bats ebuild eclass bashrc bash_profile bash_aliases zshrc zprofile",
    "ruby": "rb rake gemspec ru rbi podspec erb",
    "php": "php phtml php3 php4 php5",
    "kotlin": "kt kts",
    "scala": "scala sc sbt",
    "swift": "swift",
    "lua": "lua rockspec",
    "css": "css scss sass less styl pcss",
    "vue": "vue",
    "svelte": "svelte",
    "astro": "astro",
    "perl": "pl pm pod t perl xs",
    "r": "r",
    "julia": "jl",
    "dart": "dart",
    "elixir": "ex exs heex eex leex",
    "erlang": "erl hrl escript",
    "haskell": "hs lhs hsc",
    "ocaml": "ml mli mll mly",
    "fsharp": "fs fsi fsx",
    "clojure": "clj cljs cljc edn bb",
    "lisp": "lisp lsp cl el asd",
    "scheme": "scm ss rkt sld",
    "groovy": "groovy gvy gradle jenkinsfile",
    "powershell": "ps1 psm1 psd1",
    "batch": "bat cmd",
    "objective-c": "m mm",
    "m4": "m4 ac am",
    "yacc": "y yy ypp yxx y++ l ll lpp lxx",
    "visualbasic": "vb vbs bas frm",
    "pascal": "pas pp dpr lpr",
    "fortran": "f for f77 f90 f95 f03 f08",
    "ada": "adb ads",
    "assembly": "asm s nasm",
    "zig": "zig",
    "nim": "nim nims",
    "d": "d di",
    "v": "vsh",
    "crystal": "cr",
    "solidity": "sol",
    "verilog": "v vh sv svh",
    "vhdl": "vhd vhdl",
    "graphql": "graphql gql graphqls",
    "protobuf": "proto",
    "thrift": "thrift avdl capnp fbs",
    "tcl": "tcl tk exp",
    "awk": "awk",
    "vim": "vim vimrc",
    "cobol": "cob cbl cpy",
    "apex": "apex",
    "template": (
        "j2 jinja jinja2 tmpl tpl mustache hbs handlebars ejs pug jade liquid njk twig haml slim ftl jsp aspx cshtml razor"
    ),
    "makefile": "mk mak make",
    "cmake": "cmake",
    "starlark": "bzl star bazel",
    "prolog": "pro prolog",
    "coffeescript": "coffee",
    "haxe": "hx",
    "elm": "elm",
    "purescript": "purs",
    "reason": "re rei",
    "gdscript": "gd",
    "glsl": "glsl vert frag geom comp tesc tese wgsl hlsl fx metal shader",
    "wasm-text": "wat wast",
    "diff": "diff patch cocci",
}

_CONFIG = {
    "json": "json jsonc json5 jsonl ndjson geojson webmanifest avsc har map code-workspace",
    "yaml": "yaml yml clang-format",
    "toml": "toml",
    "xml": (
        "xml xsd xsl xslt wsdl plist csproj fsproj vbproj vcxproj props targets pom resx xaml config nuspec rss atom kml"
    ),
    "ini": "ini cfg conf cnf inf desktop service socket timer target mount editorconfig gitconfig npmrc repo reg",
    "properties": "properties env",
    "hcl": "tf tfvars hcl nomad",
    "nix": "nix",
    "dhall": "dhall",
    "jsonnet": "jsonnet libsonnet",
    "cue": "cue",
    "prisma": "prisma",
    "dockerfile": "dockerfile containerfile",
    "nginx": "nginx vhost",
    "rego": "rego",
    "gn": "gn gni",
}

# Names compared in lower case, whole.
_NAMES = {
    (Kind.DOCS, "text"): (
        "license licence copying copyright notice authors contributors maintainers readme changelog changes news todo "
        "install history thanks credits version codeowners manifest patents faq hacking bugs announce"
    ),
    (Kind.CODE, "makefile"): "makefile gnumakefile bsdmakefile makefile.am makefile.in",
    (Kind.CODE, "cmake"): "cmakelists.txt",
    (Kind.CODE, "ruby"): (
        "rakefile gemfile guardfile capfile vagrantfile podfile brewfile fastfile appfile thorfile dangerfile berksfile"
    ),
    (Kind.CODE, "groovy"): "jenkinsfile",
    (Kind.CODE, "starlark"): "build workspace tiltfile buck build.bazel workspace.bazel module.bazel",
    (Kind.CODE, "python"): "sconstruct sconscript wscript snakefile",
    (Kind.CODE, "bash"): (
        ".bashrc .bash_profile .bash_aliases .profile .zshrc .zprofile .zshenv .kshrc configure pkgbuild apkbuild "
        "gradlew mvnw .envrc"
    ),
    (Kind.CODE, "vim"): ".vimrc .gvimrc _vimrc",
    (Kind.CODE, "lisp"): ".emacs",
    (Kind.CONFIG, "dockerfile"): "dockerfile containerfile",
    (Kind.CONFIG, "gomod"): "go.mod go.work",
    (Kind.CONFIG, "requirements"): (
        "requirements.txt requirements-dev.txt requirements-test.txt dev-requirements.txt test-requirements.txt "
        "requirements.in constraints.txt"
    ),
    (Kind.CONFIG, "ini"): (
        ".editorconfig .gitconfig .npmrc .pypirc .flake8 .pylintrc .coveragerc .hgrc .gitmodules .gitattributes "
        ".gitignore .dockerignore .npmignore .prettierignore .eslintignore .vercelignore .gcloudignore .helmignore "
        ".mailmap .nvmrc .node-version .python-version .ruby-version .tool-versions .gitkeep .ignore .rgignore pipfile "
        "procfile .yarnrc .condarc .inputrc .curlrc .wgetrc .npmrc .browserslistrc .buckconfig hosts fstab"
    ),
    (Kind.CONFIG, "json"): (
        ".prettierrc .eslintrc .babelrc .stylelintrc .jshintrc .swcrc .bowerrc .lintstagedrc .watchmanconfig"
    ),
    (Kind.CONFIG, "yaml"): ".clang-format .clang-tidy .yamllint .rubocop .gemrc citation.cff",
    (Kind.CONFIG, "makefile"): "kconfig",
    (Kind.DOCS, "markdown"): ".cursorrules .windsurfrules .clinerules",
    (Kind.CODE, "just"): "justfile .justfile",
    (Kind.CODE, "meson"): "meson.build meson_options.txt meson.options",
}

_SHEBANGS = (
    (re.compile(r"python|pypy"), "python"),
    (re.compile(r"node|deno|bun"), "javascript"),
    (re.compile(r"ts-node|tsx"), "typescript"),
    (re.compile(r"(ba|z|da|k|a)?sh$|fish"), "bash"),
    (re.compile(r"ruby|jruby"), "ruby"),
    (re.compile(r"perl"), "perl"),
    (re.compile(r"php"), "php"),
    (re.compile(r"lua"), "lua"),
    (re.compile(r"make"), "makefile"),
    (re.compile(r"[gmn]?awk"), "awk"),
    (re.compile(r"tclsh|wish|expect"), "tcl"),
    (re.compile(r"Rscript"), "r"),
    (re.compile(r"groovy"), "groovy"),
    (re.compile(r"pwsh"), "powershell"),
)


def _by_word(tables: dict[Kind, dict[str, str]]) -> dict[str, FileType]:
    return {
        word: FileType(kind, language)
        for kind, languages in tables.items()
        for language, words in languages.items()
        for word in words.split()
    }


_BY_EXTENSION = _by_word({Kind.DOCS: _DOCS, Kind.CODE: _CODE, Kind.CONFIG: _CONFIG})
_BY_NAME = {name: FileType(*file_type) for file_type, names in _NAMES.items() for name in names.split()}

# What a template or a sample is an example of stands before the last extension: settings.py.tmpl, config.ini.example.
_WRAPPERS = frozenset(
    (
        "in",
        "tmpl",
        "tpl",
        "template",
        "example",
        "sample",
        "dist",
        "default",
        "orig",
        "bak",
        "old",
        "new",
        "j2",
        "jinja",
    )
)


def classify(path: str, first_line: str = "") -> FileType:
    """Tell the kind and language of a file; `first_line` is asked only when the name says nothing.

    Markdown under the root's `.vault/` is of kind vault. Unknown names are plain text.

    >>> classify("src/app.py").language
    'python'
    >>> classify("bin/tool", "#!/usr/bin/env python3").language
    'python'
    """
    name = path.rpartition("/")[2].lower()
    found = _by_name(name) or _by_first_line(first_line) or TEXT
    if found.language == "markdown" and path.startswith(VAULT + "/"):
        return FileType(Kind.VAULT, found.language)
    return found


def document_kind(path: str) -> str | None:
    """Tell which kind of document a path or suffix names, whose text has to be extracted.

    >>> document_kind("Plan.PDF")
    'pdf'
    """
    _, dot, extension = path.lower().rpartition(".")
    return extension if dot and extension in DOCUMENTS else None


def extension_of(format_name: str) -> str | None:
    """Give the extension by which a file of that language, or with that extension, is known; None for no such.

    >>> extension_of("markdown"), extension_of("yml"), extension_of("python"), extension_of("klingon")
    ('md', 'yml', 'py', None)
    """
    named = (one for one, found in _BY_EXTENSION.items() if found.language == format_name)
    return next(named, format_name if format_name in _BY_EXTENSION else None)


def _by_name(name: str) -> FileType | None:
    whole = _BY_NAME.get(name)
    if whole is not None:
        return whole
    stem, dot, extension = name.rpartition(".")
    if not dot:
        return None
    if stem in {"dockerfile", "containerfile"}:  # Dockerfile.dev
        return _BY_NAME[stem]
    if extension in _WRAPPERS:
        return _by_name(stem) or _BY_EXTENSION.get(extension)
    found = _BY_EXTENSION.get(extension)
    if found is None and stem in _BY_NAME:  # LICENSE.MIT, README.pt
        return _BY_NAME[stem]
    return found


def _by_first_line(line: str) -> FileType | None:
    if line.startswith("#!"):
        words = [word for word in line[2:].split() if not word.startswith("-")]
        program = _program(words)
        for pattern, language in _SHEBANGS:
            if pattern.match(program):
                return FileType(Kind.CODE, language)
    if line.startswith("<?xml"):
        return FileType(Kind.CONFIG, "xml")
    if line.lower().startswith("<!doctype html"):
        return FileType(Kind.DOCS, "html")
    return None


def _program(words: list[str]) -> str:
    names = [word.rpartition("/")[2] for word in words if "=" not in word]
    if names and names[0] == "env":
        names = names[1:]
    return names[0] if names else ""
