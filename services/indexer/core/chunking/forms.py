"""How the lines begin that define a name, for languages without a grammar: one row of forms a language.

Pure. Each form is a pattern for the beginning of a line; its first group that matched is the name. What a form takes for a
definition and is none costs a border and a symbol, never a line.
"""

from __future__ import annotations

import re
from functools import cache

_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([^)]*\))?|open|"
    r"override|virtual|inline|extern|unsafe|const|sealed|data|case|local|partial)[ \t]+)*"
)
_NAME = r"([A-Za-z_$][\w$.:?!]*)"

Form = tuple[str, re.Pattern[str]]  # kind, pattern
_Raw = tuple[str, str, bool]


def _form(kind: str, pattern: str, *, any_case: bool = False) -> _Raw:
    return kind, pattern, any_case


# Words that most languages share.
_WORDS = (
    _form("class", rf"[ \t]*{_MODIFIERS}(?:class|struct|interface|trait|enum|object|record|protocol|union|type)[ \t]+{_NAME}"),
    _form("module", rf"[ \t]*{_MODIFIERS}(?:module|namespace|package|defmodule|impl|extension)[ \t]+{_NAME}"),
    _form(
        "function",
        rf"[ \t]*{_MODIFIERS}(?:def|defp|function|func|fun|fn|sub|proc|procedure|macro|defmacro|task|rule)[ \t]+{_NAME}",
    ),
)  # fmt: skip
# A type before a name before a parenthesis, as C and its kin declare.
_TYPED = _form("function", r"(?!(?:return|else|if|for|while|switch|new|throw|case|do|await|yield|and|or|not|in)\b)"
               r"[A-Za-z_][\w<>,\[\]*&: \t]*[ \t*&]([A-Za-z_]\w*)[ \t]*\([^;]*$")  # fmt: skip

_HASKELL = (
    _form("module", r"module[ \t]+([A-Z][\w.']*)"),
    _form("class", r"(?:data|newtype|type|class)(?:[ \t]+(?:family|alias))?[ \t]+(?:\(?[\w', \t]+\)?[ \t]*=>[ \t]*)?([A-Z][\w']*)"),
    _form("impl", r"instance[ \t]+(?:.*=>[ \t]*)?([A-Z].*?)[ \t]*(?:where\b.*)?$"),
    _form("function", r"(?!(?:import|infix[lr]?|foreign|deriving|where|in)\b)([a-z_][\w']*)[ \t]*(?:,[ \t]*[\w']+[ \t]*)*::"),
    _form("function", r"(?!(?:import|infix[lr]?|foreign|deriving|where|in|instance|module|data|newtype|type|class)\b)([a-z_][\w']*)\b(?:[ \t][^=|:]*)?(?:=(?!=)|\|(?!\|)|$)"),
)  # fmt: skip
_ML = (
    _form("function", r"(?:let|and)[ \t]+(?:rec[ \t]+|inline[ \t]+|private[ \t]+)*([a-z_][\w']*)"),
    _form("function", r"[ \t]*(?:val|external|method!?|static[ \t]+member|member|override|abstract)[ \t]+(?:private[ \t]+)?(?:\w+\.)?(\w+)"),
    _form("class", r"[ \t]*(?:type|exception|class)[ \t]+(?:[+-]?'\w+[ \t]+|\([^)]*\)[ \t]+|nonrec[ \t]+)?(\w+)"),
    _form("module", r"[ \t]*(?:module|namespace)[ \t]+(?:type[ \t]+|rec[ \t]+)?([A-Z][\w.]*)"),
)  # fmt: skip
_LISP = (
    _form("function", r"[ \t]{0,2}\((?:def|define)[\w*-]*!?[ \t]+(?:\^\S+[ \t]+)*\(*(?:setf[ \t]+)?([^\s()\[\]'\"]+)"),
)
_ERLANG = (
    _form("module", r"-module\(([\w@]+)"),
    _form("class", r"-(?:record|type|opaque|callback)\(?[ \t]*(\w+)"),
    _form("function", r"([a-z][\w@]*)\("),
)
_FORTRAN = (
    _form(
        "function",
        r"[ \t]*(?:(?!end)\w[\w*]*(?:[ \t]*\([\w=*, ]*\))?[ \t]+){0,4}(?:subroutine|function|program)[ \t]+(\w+)",
        any_case=True,
    ),
    _form("module", r"[ \t]*(?:sub)?module[ \t]+(?!procedure)(?:\(\w+\)[ \t]*)?(\w+)", any_case=True),
    _form("class", r"[ \t]*type(?:[ \t]*,[\w(), \t]*)?[ \t]*(?:::)?[ \t]+(?!is\b)([a-z_]\w*)[ \t]*$", any_case=True),
)
_PASCAL = (
    _form("function", r"[ \t]*(?:class[ \t]+)?(?:procedure|function|constructor|destructor|operator|entry)[ \t]+\"?([\w.+*/<>=-]+)", any_case=True),
    _form("module", r"[ \t]*(?:unit|program|library|package(?:[ \t]+body)?|task(?:[ \t]+body)?|protected(?:[ \t]+body)?)[ \t]+([\w.]+)", any_case=True),
    _form("class", r"[ \t]*(?:type[ \t]+)?(\w+)[ \t]*=[ \t]*(?:packed[ \t]+)?(?:class|record|interface|object)\b|[ \t]*(?:sub)?type[ \t]+(\w+)[ \t]+is\b", any_case=True),
)  # fmt: skip
_SCHEMA = (
    _form(
        "class",
        r"[ \t]*(?:extend[ \t]+)?(?:message|service|enum|rpc|interface|union|scalar|struct|exception|directive|input|"
        r"type|query|mutation|subscription|fragment|oneof|table)[ \t]+@?(\w+)",
    ),
)
_HARDWARE = (
    _form(
        "module",
        r"[ \t]*(?:module|entity|architecture|package(?:[ \t]+body)?|interface|component|program|class)[ \t]+(\w+)",
        any_case=True,
    ),
    _form(
        "function",
        r"[ \t]*(?:task|function|procedure)[ \t]+(?:automatic[ \t]+)?(?:[\w\[\]:]+[ \t]+)?(\w+)",
        any_case=True,
    ),
)
_RECIPE = _form("function", r"@?([A-Za-z_][\w-]*)(?:[ \t][^:=]*)?:(?![=:])")

_FORMS: dict[str, tuple[_Raw, ...]] = {
    "haskell": _HASKELL,
    "purescript": _HASKELL,
    "elm": _HASKELL,
    "ocaml": _ML,
    "fsharp": _ML,
    "reason": _ML,
    "lisp": _LISP,
    "scheme": _LISP,
    "clojure": _LISP,
    "erlang": _ERLANG,
    "prolog": (_form("function", r"([a-z]\w*)\("),),
    "fortran": _FORTRAN,
    "pascal": _PASCAL,
    "ada": _PASCAL,
    "protobuf": _SCHEMA,
    "thrift": _SCHEMA,
    "graphql": _SCHEMA,
    "verilog": _HARDWARE,
    "vhdl": _HARDWARE,
    "r": (_form("function", r"[ \t]*[`\"']?([\w.]+)[`\"']?[ \t]*(?:<-|=)[ \t]*function\b"),),
    "julia": (*_WORDS, _form("function", r"([a-z_]\w*!?)\([^=]*\)[ \t]*(?:::\S+[ \t]*)?=(?!=)")),
    "solidity": (*_WORDS, _form("class", r"[ \t]*(?:contract|library|modifier|event|error)[ \t]+(\w+)")),
    "zig": (*_WORDS, _form("class", r"[ \t]*(?:pub[ \t]+)?const[ \t]+(\w+)[ \t]*=[ \t]*(?:packed |extern )?(?:struct|enum|union)\b")),
    "tcl": (_form("function", r"[ \t]*(?:proc|method|namespace[ \t]+eval|oo::class[ \t]+create)[ \t]+([\w:]+)"),),
    "vim": (_form("function", r"[ \t]*fu(?:n(?:c(?:t(?:i(?:o(?:n)?)?)?)?)?)?!?[ \t]+([\w:#.<>]+)[ \t]*\("),),
    "cmake": (_form("function", r"[ \t]*(?:function|macro)[ \t]*\([ \t]*([\w-]+)", any_case=True),),
    "makefile": (_form("target", r"(?![.#\t ])([\w./%-]++)[\w./% \t-]*+::?(?!=)"), _form("function", r"define[ \t]+([\w-]+)")),
    "just": (_RECIPE,),
    "m4": (_form("function", r"[ \t]*(?:AC_DEFUN(?:_ONCE)?|AU_DEFUN|m4_define|define)[ \t]*\([ \t]*[\[`]+([\w.]+)"),),
    "assembly": (_form("function", r"([A-Za-z_$][\w.$@?]*):"),),
    "bash": (_form("function", r"[ \t]*(?:function[ \t]+)?([\w:.-]+)[ \t]*\(\)|[ \t]*function[ \t]+([\w:.-]+)"),),
    "batch": (_form("function", r":(\w[\w-]*)[ \t]*$"),),
    "powershell": (_form("function", r"[ \t]*(?:function|filter|class|enum)[ \t]+([\w:-]+)", any_case=True),),
    "visualbasic": (
        _form(
            "function",
            r"[ \t]*(?:(?:public|private|friend|protected|shared|overridable|overrides|static)[ \t]+)*"
            r"(?:sub|function|class|module|structure|enum|interface|property(?:[ \t]+(?:get|let|set))?)[ \t]+(\w+)",
            any_case=True,
        ),
    ),
    "coffeescript": (*_WORDS, _form("function", r"[ \t]*([\w.@]+)[ \t]*[=:][ \t]*(?:\([^)]*\)[ \t]*)?[-=]>")),
    "objective-c": (
        _form("class", r"@(?:interface|implementation|protocol)[ \t]+(\w+)"),
        _form("function", r"[-+][ \t]*\([^)]*\)[ \t]*(\w+)"),
        _TYPED,
    ),
    "yacc": (_form("function", r"([a-z_]\w*)[ \t]*:(?![:=])"),),
}  # fmt: skip
_TYPED_WORDS = (*_WORDS, _TYPED)
_TYPED_LANGUAGES = frozenset({"c", "cpp", "csharp", "java", "d", "dart", "groovy", "glsl", "apex"})


@cache
def forms_of(language: str) -> tuple[Form, ...]:
    """Return the forms of a language; those that most share for one without a row."""
    forms = _FORMS.get(language) or (_TYPED_WORDS if language in _TYPED_LANGUAGES else _WORDS)
    # Here, not at import: all of them take longer than what most commands do.
    return tuple((kind, re.compile(pattern, re.IGNORECASE if any_case else 0)) for kind, pattern, any_case in forms)
