"""Source code: exact lines, definitions, and inputs made to hurt a parser."""

from collections.abc import Callable

import pytest

from services.indexer.core.chunking import chunk, definitions
from services.indexer.core.chunking.code import outline_tree
from services.indexer.core.chunking.python_lines import outline_python
from tests.support.chunks import assert_sound

Count = Callable[[str], int]


@pytest.mark.parametrize("ending", ["\n", ""], ids=["final newline", "no final newline"])
def test_lines_of_a_chunk_are_the_files(ending: str, count: Count) -> None:
    """Case 13: functions at lines 1, 2, 30 and 59 of 60 are found at exactly these lines."""
    lines = [f"value_{i} = compute({i}, 'some text to give the line a weight')" for i in range(1, 61)]
    lines[0] = "def one(): return 1"
    lines[1] = "def two(): return 2"
    lines[29] = "def thirty(): return 30"
    lines[58] = "def fifty_nine():"
    lines[59] = "    return 59"
    text = "\n".join(lines) + ending
    chunks = chunk(text, kind="code", language="python", count=count)
    assert_sound(text, chunks, count)
    found = {name: c for c in chunks for name in c.symbols}
    assert {d.name: d.start_line for d in definitions(text, "python")} == {
        "one": 1, "two": 2, "thirty": 30, "fifty_nine": 59,
    }  # fmt: skip
    assert found["thirty"].start_line <= 30 <= found["thirty"].end_line
    assert found["fifty_nine"].end_line == 60


def test_definitions_have_paths_and_depths() -> None:
    """Ranking needs what a file defines, and whether at top level."""
    text = "class A:\n    def f(self): pass\n\ndef g(): pass\n"
    assert [(d.name, d.path, d.kind, d.start_line, d.end_line, d.depth) for d in definitions(text, "python")] == [
        ("A", "A", "class", 1, 2, 0),
        ("f", "A.f", "function", 2, 2, 1),
        ("g", "g", "function", 4, 4, 0),
    ]


PYTHON = '''
import a
@decorator(
    1,
)
class A(B,
        C):
    """Doc.

    def not_me(): pass
    """

    x = [
"def nor_me(): pass",
    ]

    @property
    # comment
    async def f(self,
          b="""
def nobody(): pass
"""):
        return 'it"""s'

    class Inner: pass

    if x:
        def g(self): return r"\\"" + """x"""
    else:
        def g(self): return """def h(): pass"""

try:
    def top(): pass
except ImportError:
    def top(): pass
finally:
    done = """ " """
def last(): return 1
'''


def test_python_by_its_lines_is_python_by_its_parser() -> None:
    """The quick reader finds what the syntax tree finds, names and lines."""
    lines = PYTHON.split("\n")
    tree = outline_tree(PYTHON, lines, "python")
    assert tree is not None
    by_tree = [(d.path, d.kind, d.start_line, d.end_line) for d in tree.definitions()]
    by_lines = [(d.path, d.kind, d.start_line, d.end_line) for d in outline_python(lines).definitions()]
    assert by_lines == by_tree
    assert len(by_lines) == 8


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("c", "int main()" + "{" * 16_384),
        ("rust", "fn main(){" + "(" * 100_000),
        ("javascript", "{ try { } catch { (, e"),
        ("javascript", "{ try { } catch { (, e\n" * 2_000),
        ("javascript", "x = " + "[" * 20_000 + "]" * 20_000),
        ("cpp", "a<b<c<d>>>(e)*f;\n" * 1_000),
        ("python", "\n".join(" " * i + f"if x{i}:" for i in range(500))),
        ("python", "x = '''" + "\n" * 2_000 + '"""'),
        ("c", "#if A\n" + "#elif B\nint x;\n" * 3_000 + "#endif\n"),
        ("c", "int " + "*" * 5_000 + "x(void) { return 0; }\n"),
        ("java", 'class A { String s = "never closed;\n' * 500),
    ],
    ids=[
        "braces",
        "parentheses",
        "broken",
        "broken often",
        "nested",
        "ambiguous",
        "stairs",
        "open string",
        "elif",
        "stars",
        "open class",
    ],
)
def test_pathological_source_is_still_chunked(language: str, text: str, count: Count) -> None:
    """Case 12: a parser that would hang or overflow costs the file its structure, not its lines."""
    chunks = chunk(text, kind="code", language=language, count=count)
    assert chunks
    assert_sound(text, chunks, count)


@pytest.mark.parametrize(
    "text",
    ['class A { String s = "' + "(" * 2_000 + '"; }', "x" * 999_990 + "\n" + "y\n" * 10, "@@ ?? ##\n" * 200],
    ids=["too deep", "too large", "not the language"],
)
def test_source_that_must_not_be_parsed_has_no_tree(text: str) -> None:
    """The stated limits: nesting, size, and a parse that understood less than half."""
    assert outline_tree(text, text.split("\n"), "java") is None


def test_parse_beyond_its_work_limit_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A parse that makes no headway ends by count of steps, not by a clock."""
    text = "int x = 1;\n" * 10_000
    assert outline_tree(text, text.split("\n"), "c") is not None
    monkeypatch.setattr("services.indexer.core.chunking.code._LEAST_REPORTS", 0)
    monkeypatch.setattr("services.indexer.core.chunking.code._BYTES_PER_REPORT", 1_000_000)
    assert outline_tree(text, text.split("\n"), "c") is None


def test_huge_function_is_cut_between_statements(count: Count) -> None:
    """Inside of a definition, borders are statements of the outermost block, and the path stays."""
    block = "    if (ready(i)) {\n        first(value, i);\n        second(value, i);\n    }\n"
    text = "static int run(int value)\n{\n" + block * 60 + "    return 0;\n}\n"
    chunks = chunk(text, kind="code", language="c", count=count)
    assert_sound(text, chunks, count)
    assert len(chunks) > 4
    assert {c.heading for c in chunks} == {"run"}
    assert all(c.text.startswith("    if (ready(i)) {") for c in chunks[1:])


def test_small_neighbours_share_a_chunk_named_by_what_holds_them(count: Count) -> None:
    """Ten one-line methods are one chunk of their class."""
    text = "class Small:\n" + "".join(f"    def get_{i}(self): return {i}\n" for i in range(10))
    (only,) = chunk(text, kind="code", language="python", count=count)
    assert only.heading == "Small"
    assert only.symbols == ("Small", *(f"get_{i}" for i in range(10)))


def test_macro_does_not_hide_the_class_around_it() -> None:
    """Macros that stand for syntax are everywhere in C++; the names inside keep their path and lines."""
    text = """namespace app {
_BEGIN_NAMESPACE_VERSION
template <typename T>
class Box {
  Q_OBJECT
 public:
  int get() const
  _BOX_NOEXCEPT
  { return 1; }
  void set(int value) BOX_NOEXCEPT { }
};
_END_NAMESPACE_VERSION
}
"""
    assert [(d.path, d.start_line, d.end_line) for d in definitions(text, "cpp")] == [
        ("app", 1, 13), ("app.Box", 3, 11), ("app.Box.get", 7, 9), ("app.Box.set", 10, 10),
    ]  # fmt: skip


def test_comment_that_stands_alone_goes_with_what_follows(count: Count) -> None:
    """The title of a part of the file opens its chunk, it does not end the one before."""
    part = "".join(f"    value = compute(value, {i}, 'and a few words of text')\n" for i in range(14))
    text = f"def one(value):\n{part}\n\n# Second part\n\ndef two(value):\n{part}"
    second = chunk(text, kind="code", language="python", count=count)[1]
    assert second.text.startswith("# Second part\n\ndef two")


def test_broken_line_does_not_cost_a_file_its_structure(count: Count) -> None:
    """A save in the middle of typing moves the borders around the cursor, and methods keep their names."""
    body = "        value = compute(value, other);\n" * 24
    methods = [f"    int work{i}(int value) {{\n{body}        return value;\n    }}\n\n" for i in range(12)]
    whole = "class Big {\n" + "".join(methods) + "}\n"
    methods[10] = methods[10].replace("value = ", '"never closed = ', 1)
    broken = "class Big {\n" + "".join(methods) + "}\n"
    old, new = (chunk(text, kind="code", language="java", count=count) for text in (whole, broken))
    assert len(old) >= 12
    assert {c.text for c in old[:10]} <= {c.text for c in new}
    assert {"work0", "work5", "work9"} <= {name for c in new for name in c.symbols}


def test_ruler_with_a_title_goes_with_what_follows(count: Count) -> None:
    """A hundred hyphens are a hundred tokens, and still no passage of their own."""
    ruler = "# --- accepted " + "-" * 110
    body = "\n".join(f"    value_{n} = compute_something({n}, limit={n})" for n in range(24))
    text = f"def first():\n{body}\n\n\n{ruler}\n\n\ndef second():\n{body}\n"
    chunks = chunk(text, kind="code", language="python", count=count)
    assert_sound(text, chunks, count)
    assert not any(c.text.strip() == ruler for c in chunks)
    assert any(ruler in c.text and "def second" in c.text for c in chunks)


def test_functions_with_old_heads_are_named() -> None:
    """K&R: without a type, with parameters declared below; heads hidden in macros, too."""
    text = """\
main(argc, argv)
int argc;
char **argv;
{
    exit(0);
}

/* The rest. */
int
dc_rem DC_DECLARG((a, b))
	dc_num a DC_DECLSEP
	int b DC_DECLEND
{
    return DC_SUCCESS;
}

static int known(int a)
{
    return a;
}

int table[] =
{
    1, 2
};
"""
    assert [(d.path, d.start_line, d.end_line) for d in definitions(text, "c")] == [
        ("main", 1, 6),
        ("dc_rem", 8, 15),
        ("known", 17, 20),
    ]


def test_comment_above_a_blank_line_describes_what_follows() -> None:
    """If it stands apart from what is above; a licence at the top and a remark right below a function describe neither."""
    text = """\
/* Licence. */

int first(void) { return 1; }
/* That was it. */

int second(void) { return 2; }


/* About the third. */

int
third(void) { return 3; }
"""
    assert [(d.path, d.start_line, d.end_line) for d in definitions(text, "c")] == [
        ("first", 3, 3),
        ("second", 6, 6),
        ("third", 9, 12),
    ]


def test_head_of_several_lines_is_not_cut(count: Count) -> None:
    """A long comment above leaves little room: the signature stays whole."""
    comment = "".join(f"     * Line {n} of what it does, at some length.\n" for n in range(24))
    text = (
        f"class A {{\n    /**\n{comment}     */\n    public static Object call(final Object target,\n            final String"
        " name,\n            final int times) {\n" + "        call(target);\n" * 40 + "    }\n}\n"
    )
    chunks = chunk(text, kind="code", language="java", count=count)
    assert any("call(final Object target" in c.text and "final int times) {" in c.text for c in chunks)


def test_large_tables_are_named() -> None:
    """A chunk from the middle of a table says whose it is; a small one needs no name."""
    rows = '    { "a name of some length", 1 },\n' * 40
    assert [
        d.path for d in definitions(f"static const struct e all[] = {{\n{rows}}};\nint few[] = {{ 1 }};\n", "c")
    ] == ["all"]
    rows = "  name: 'a value of some length',\n" * 40
    script = f"const all = {{\n{rows}  run() {{}},\n}};\nconst few = {{ a: 1 }};\nmodule.exports = {{\n{rows}}};\n"
    assert [d.path for d in definitions(script, "javascript")] == ["all", "all.run", "module.exports"]


def test_names_of_lua_and_of_declared_modules_are_whole_words() -> None:
    """`A:b` is the method b of A, an assigned function has the name it is assigned to, a module that of its place."""
    lua = "function A:b() end\nM.c = function() end\nlocal d = function() end\nlocal e = 1\n"
    assert [(d.name, d.path) for d in definitions(lua, "lua")] == [("b", "A.b"), ("c", "M.c"), ("d", "d")]
    declared = "declare module '../vanilla.mjs' {\n  interface A {}\n}\ndeclare module '@scope/shop';\n"
    assert [d.path for d in definitions(declared, "typescript")] == ["vanilla", "vanilla.A", "shop"]
