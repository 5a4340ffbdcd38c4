"""NaN guards removed from serialised graphs and GELUs reordered, on graphs written out by hand."""

from contextlib import suppress
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.onnx_graph import with_fusible_gelus, without_nan_guards

SOFTMAX: Final = ("Softmax", ["scores"], ["p"])
IS_NAN: Final = ("IsNaN", ["p"], ["is_nan"])
GUARD: Final = ("Where", ["is_nan", "zero", "p"], ["guarded"])
USER: Final = ("MatMul", ["guarded", "values"], ["context"])

SHIFTED: Final = [("Tanh", ["y"], ["x"]), ("Erf", ["scaled"], ["erf"]), ("Add", ["erf", "one"], ["shifted"])]

Node = tuple[str, list[str], list[str]]


def varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + varint(value >> 7)


def part(number: int, content: bytes | str) -> bytes:
    data = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(data)) + data


def make_graph(*nodes: Node, output: str = "context") -> bytes:
    """A ModelProto with the fields around the nodes that real files have, of every wire type."""
    weights = part(5, varint(1 << 3 | 5) + b"\0\1\2\3" + part(9, bytes(300)))
    graph = b"".join(
        part(1, b"".join([*(part(1, i) for i in inputs), *(part(2, o) for o in outputs), part(3, "n"), part(4, op)]))
        for op, inputs, outputs in nodes
    )
    version = varint(1 << 3) + varint(300)
    double = varint(20 << 3 | 1) + bytes(8)
    return version + part(7, weights + graph + part(12, part(1, output))) + double + part(8, b"opset")


def test_guard_is_removed_and_its_user_takes_the_value() -> None:
    """Everything but the two nodes and one name stays as it was, byte for byte."""
    guarded = make_graph(SOFTMAX, IS_NAN, GUARD, USER)
    assert without_nan_guards(guarded) == make_graph(SOFTMAX, ("MatMul", ["p", "values"], ["context"]))


def test_guard_behind_a_guard_is_removed_too() -> None:
    """The user takes the value that is left."""
    second = [("IsNaN", ["guarded"], ["again"]), ("Where", ["again", "zero", "guarded"], ["safe"])]
    doubled = make_graph(SOFTMAX, IS_NAN, GUARD, *second, ("MatMul", ["safe", "values"], ["context"]))
    assert without_nan_guards(doubled) == make_graph(SOFTMAX, ("MatMul", ["p", "values"], ["context"]))


@pytest.mark.parametrize(
    "graph",
    [
        pytest.param(make_graph(SOFTMAX, USER), id="no-guard"),
        pytest.param(make_graph(("Where", ["mask", "zero", "p"], ["guarded"]), USER), id="where-of-a-mask"),
        pytest.param(make_graph(IS_NAN, ("Where", ["is_nan", "zero", "q"], ["guarded"]), USER), id="other-value"),
        pytest.param(make_graph(IS_NAN, ("Where", ["is_nan", "p", "zero"], ["guarded"]), USER), id="branches-swapped"),
        pytest.param(make_graph(IS_NAN, GUARD, USER, ("Not", ["is_nan"], ["fine"])), id="test-used-elsewhere"),
        pytest.param(make_graph(("IsNaN", [], ["is_nan"]), ("Where", [], []), USER), id="parts-without-inputs"),
        pytest.param(make_graph(SOFTMAX, IS_NAN, GUARD, output="guarded"), id="guard-is-the-output"),
    ],
)
def test_whatever_is_no_removable_guard_stays(graph: bytes) -> None:
    """A graph without a guard of exactly this form comes back byte for byte."""
    assert without_nan_guards(graph) == graph


@pytest.mark.parametrize("is_swapped", [False, True])
def test_gelu_is_written_in_the_order_that_the_runtime_fuses(is_swapped: bool) -> None:
    """Whichever way round the factors stand, the constant is multiplied last."""
    inner, outer = ["half", "shifted"], ["x", "halved"]
    order = slice(None, None, -1 if is_swapped else 1)
    graph = make_graph(*SHIFTED, ("Mul", inner[order], ["halved"]), ("Mul", outer[order], ["context"]))
    fusible = make_graph(*SHIFTED, ("Mul", ["x", "shifted"], ["halved"]), ("Mul", ["half", "halved"], ["context"]))
    assert with_fusible_gelus(graph) == fusible


@pytest.mark.parametrize(
    "graph",
    [
        pytest.param(make_graph(SOFTMAX, IS_NAN, GUARD, USER), id="no-gelu"),
        pytest.param(
            make_graph(*SHIFTED, ("Mul", ["x", "shifted"], ["p"]), ("Mul", ["p", "half"], ["context"])), id="in-order"
        ),
        pytest.param(
            make_graph(
                *SHIFTED, ("Mul", ["half", "shifted"], ["p"]), ("Mul", ["x", "p"], ["context"]), ("Not", ["p"], ["q"])
            ),
            id="product-used-elsewhere",
        ),
        pytest.param(
            make_graph(*SHIFTED, ("Mul", ["half", "shifted"], ["p"]), ("Mul", ["x", "p"], ["y"]), output="p"),
            id="product-is-the-output",
        ),
        pytest.param(
            make_graph(SHIFTED[0], ("Mul", ["half", "x"], ["p"]), ("Mul", ["x", "p"], ["context"])), id="no-erf"
        ),
    ],
)
def test_whatever_is_no_gelu_in_the_slow_order_stays(graph: bytes) -> None:
    """A product of another form comes back byte for byte."""
    assert with_fusible_gelus(graph) == graph


@given(st.binary(max_size=200), st.integers(0, 200))
def test_broken_bytes_are_a_value_error_or_pass_through(noise: bytes, cut: int) -> None:
    """No input raises anything but ValueError: the caller then uses the model as it is."""
    for data in (noise, make_graph(SOFTMAX, IS_NAN, GUARD, USER)[:cut], part(7, noise), part(7, part(1, noise))):
        with suppress(ValueError):
            without_nan_guards(data)
        with suppress(ValueError):
            with_fusible_gelus(data)
