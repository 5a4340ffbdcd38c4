"""The table of languages: which grammar reads them and which of its nodes define a name.

Pure. A new language is one entry here. Grammars are imported when the first file of their language comes.
"""

import re
from functools import cache
from importlib import import_module

import tree_sitter
from msgspec import Struct

_COMMENTS = frozenset({"comment", "line_comment", "block_comment", "multiline_comment", "doc_comment"})
_FUNCTION_VALUES = frozenset({
    "arrow_function",
    "function_expression",
    "function_definition",
    "generator_function",
    "class",
    "lambda_literal",
})  # fmt: skip
# Values that are tables: named where they are too large for one chunk.
DATA = frozenset({"object", "array", "initializer_list", "table_constructor"})


class Grammar(Struct, frozen=True):
    """How to find the definitions of one language in its syntax tree; node types in all of its sets."""

    module: str  # of the wheel
    definitions: dict[str, str]  # node type → kind; kinds of `CONTAINERS` are searched for more
    wrappers: frozenset[str] = frozenset()  # nodes around a definition that belong to it (decorators, export)
    transparent: frozenset[str] = frozenset()  # nodes whose children count as their parent's (bodies, #ifdef)
    leads: frozenset[str] = _COMMENTS  # nodes that describe what follows them
    factory: str = "language"  # the wheel's function that gives the grammar
    values: frozenset[str] = _FUNCTION_VALUES  # what makes "name = value" a definition
    masked: re.Pattern[bytes] | None = None  # what the grammar cannot know is put out of its sight
    is_braced: bool = False  # functions that the grammar loses are found by their braces


# Kinds whose bodies hold further definitions worth a path of their own.
CONTAINERS = frozenset({"class", "interface", "enum", "module", "namespace", "impl", "trait", "object"})

_ECMASCRIPT = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "class_declaration": "class",
    "method_definition": "method",
    "variable_declarator": "value",
    "assignment_expression": "value",
    "field_definition": "value",
}
_ECMASCRIPT_WRAPPERS = frozenset({
    "export_statement",
    "lexical_declaration",
    "variable_declaration",
    "expression_statement",
    "ambient_declaration",
})  # fmt: skip
_ECMASCRIPT_VALUES = _FUNCTION_VALUES | {"object", "array"}
_ECMASCRIPT_LEADS = _COMMENTS | {"decorator"}
_TYPESCRIPT = _ECMASCRIPT | {
    "abstract_class_declaration": "class",
    "interface_declaration": "interface",
    "type_alias_declaration": "type",
    "enum_declaration": "type",
    "internal_module": "namespace",
    "module": "namespace",
    "function_signature": "function",
    "method_signature": "method",
    "abstract_method_signature": "method",
    "public_field_definition": "value",
}
_C = {
    "function_definition": "function",
    "struct_specifier": "struct",
    "union_specifier": "struct",
    "enum_specifier": "struct",
    "type_definition": "type",
    "preproc_function_def": "macro",
    "declaration": "value",
}
# Macros that stand for syntax (BEGIN_NAMESPACE alone in a line, NOEXCEPT behind a parameter list) make a parser lose
# the classes around them.
_C_MACROS = re.compile(
    rb"^[ \t]*[A-Z_][A-Z0-9_]{3,}(?:\([^()\n]*\))?[ \t]*$"
    rb"|(?<=\))\s{1,8}[A-Z_][A-Z0-9_]{3,}(?:\([^()\n]*\))?(?=[ \t]*[{;:\n])",
    re.MULTILINE,
)
_C_TRANSPARENT = frozenset({
    "preproc_if",
    "preproc_ifdef",
    "preproc_else",
    "preproc_elif",
    "linkage_specification",
    "declaration_list",
})  # fmt: skip

GRAMMARS: dict[str, Grammar] = {
    "python": Grammar(
        "tree_sitter_python",
        {"function_definition": "function", "class_definition": "class"},
        wrappers=frozenset({"decorated_definition"}),
        transparent=frozenset({"block", "if_statement", "else_clause", "try_statement", "except_clause"}),
    ),
    "javascript": Grammar(
        "tree_sitter_javascript",
        _ECMASCRIPT,
        wrappers=_ECMASCRIPT_WRAPPERS,
        transparent=frozenset({"class_body"}),
        leads=_ECMASCRIPT_LEADS,
        values=_ECMASCRIPT_VALUES,
    ),
    "typescript": Grammar(
        "tree_sitter_typescript",
        _TYPESCRIPT,
        wrappers=_ECMASCRIPT_WRAPPERS,
        transparent=frozenset({"class_body", "statement_block", "interface_body", "object_type"}),
        leads=_ECMASCRIPT_LEADS,
        values=_ECMASCRIPT_VALUES,
        factory="language_typescript",
    ),
    "java": Grammar(
        "tree_sitter_java",
        {
            "class_declaration": "class",
            "interface_declaration": "interface",
            "enum_declaration": "enum",
            "record_declaration": "class",
            "annotation_type_declaration": "interface",
            "method_declaration": "method",
            "constructor_declaration": "method",
            "compact_constructor_declaration": "method",
        },
        transparent=frozenset({"class_body", "interface_body", "enum_body", "enum_body_declarations"}),
    ),
    "go": Grammar(
        "tree_sitter_go",
        {
            "function_declaration": "function",
            "method_declaration": "method",
            "type_spec": "type",
            "type_alias": "type",
        },
        wrappers=frozenset({"type_declaration"}),
    ),
    "rust": Grammar(
        "tree_sitter_rust",
        {
            "function_item": "function",
            "function_signature_item": "function",
            "struct_item": "type",
            "enum_item": "type",
            "union_item": "type",
            "type_item": "type",
            "trait_item": "trait",
            "impl_item": "impl",
            "mod_item": "module",
            "macro_definition": "macro",
        },
        transparent=frozenset({"declaration_list"}),
        leads=_COMMENTS | {"attribute_item"},
    ),
    "c": Grammar(
        "tree_sitter_c",
        _C,
        transparent=_C_TRANSPARENT,
        values=frozenset({"initializer_list"}),
        masked=_C_MACROS,
        is_braced=True,
    ),
    "cpp": Grammar(
        "tree_sitter_cpp",
        _C
        | {
            "class_specifier": "class",
            "struct_specifier": "class",
            "namespace_definition": "namespace",
            "concept_definition": "type",
            "alias_declaration": "type",
        },
        wrappers=frozenset({"template_declaration"}),
        transparent=_C_TRANSPARENT | {"field_declaration_list"},
        values=frozenset({"initializer_list"}),
        masked=_C_MACROS,
        is_braced=True,
    ),
    "sql": Grammar(
        "tree_sitter_sql",
        {
            "create_table": "table",
            "create_view": "view",
            "create_materialized_view": "view",
            "create_index": "index",
            "create_function": "function",
            "create_trigger": "trigger",
            "create_type": "type",
            "create_schema": "schema",
            "create_sequence": "sequence",
        },
        wrappers=frozenset({"statement"}),
        leads=_COMMENTS | {"marginalia"},
    ),
    "bash": Grammar("tree_sitter_bash", {"function_definition": "function"}),
    "ruby": Grammar(
        "tree_sitter_ruby",
        {"module": "module", "class": "class", "method": "method", "singleton_method": "method"},
        transparent=frozenset({"body_statement"}),
    ),
    "php": Grammar(
        "tree_sitter_php",
        {
            "namespace_definition": "namespace",
            "class_declaration": "class",
            "interface_declaration": "interface",
            "trait_declaration": "trait",
            "enum_declaration": "enum",
            "function_definition": "function",
            "method_declaration": "method",
        },
        transparent=frozenset({"declaration_list", "compound_statement", "enum_declaration_list"}),
        factory="language_php",
    ),
    "csharp": Grammar(
        "tree_sitter_c_sharp",
        {
            "namespace_declaration": "namespace",
            "class_declaration": "class",
            "struct_declaration": "class",
            "interface_declaration": "interface",
            "record_declaration": "class",
            "enum_declaration": "type",
            "delegate_declaration": "type",
            "method_declaration": "method",
            "constructor_declaration": "method",
            "property_declaration": "property",
        },
        transparent=frozenset({"declaration_list"}),
    ),
    "kotlin": Grammar(
        "tree_sitter_kotlin",
        {
            "class_declaration": "class",
            "object_declaration": "object",
            "companion_object": "object",
            "function_declaration": "function",
        },
        transparent=frozenset({"class_body", "enum_class_body"}),
    ),
    "scala": Grammar(
        "tree_sitter_scala",
        {
            "class_definition": "class",
            "object_definition": "object",
            "trait_definition": "trait",
            "enum_definition": "enum",
            "function_definition": "function",
            "function_declaration": "function",
        },
        transparent=frozenset({"template_body", "enum_body"}),
    ),
    "swift": Grammar(
        "tree_sitter_swift",
        {
            "class_declaration": "class",
            "protocol_declaration": "interface",
            "function_declaration": "function",
            "protocol_function_declaration": "function",
            "init_declaration": "method",
        },
        transparent=frozenset({"class_body", "protocol_body", "enum_class_body"}),
    ),
    "lua": Grammar(
        "tree_sitter_lua",
        {"function_declaration": "function", "assignment_statement": "value"},
        wrappers=frozenset({"variable_declaration"}),
        values=_FUNCTION_VALUES | {"table_constructor"},
    ),
    "css": Grammar(
        "tree_sitter_css",
        {"rule_set": "rule", "media_statement": "rule", "keyframes_statement": "rule", "at_rule": "rule"},
    ),
}
GRAMMARS["tsx"] = Grammar(
    "tree_sitter_typescript",
    _TYPESCRIPT,
    wrappers=_ECMASCRIPT_WRAPPERS,
    transparent=GRAMMARS["typescript"].transparent,
    leads=_ECMASCRIPT_LEADS,
    values=_ECMASCRIPT_VALUES,
    factory="language_tsx",
)
# Names by which callers may know the same languages.
ALIASES = {"jsx": "javascript", "shell": "bash", "sh": "bash", "c++": "cpp", "c#": "csharp", "c_sharp": "csharp"}


def grammar_of(language: str) -> Grammar | None:
    """Return the grammar of a language, or None if the table does not have it."""
    return GRAMMARS.get(ALIASES.get(language, language))


@cache
def load(module: str, factory: str) -> tree_sitter.Language | None:
    """Return a wheel's grammar, loaded once per process; None if the wheel is not there or of another ABI."""
    try:
        return tree_sitter.Language(getattr(import_module(module), factory)())
    except (ImportError, AttributeError, ValueError):
        return None
