"""Change an ONNX graph where the runtime's own optimisations do not see what may be left out (pure: bytes to bytes).

**NaN guards.** Exporters put `Where(IsNaN(p), 0, p)` behind each attention softmax, against rows whose every key is
masked. Ours have none: each text has its [CLS]. The guards cost a fifth of the embedding time (two passes over texts x
heads x tokens x tokens numbers a layer), no optimisation of the runtime removes them, and NaN is caught where vectors
are checked.

**GELU.** The runtime makes one operation of `0.5 * (x * (1 + erf(x / sqrt 2)))`, but not of `x * (0.5 * (1 + erf …))` as
some exporters write it: five passes over texts x tokens x 1,536 numbers a layer, a twelfth of the embedding time.

The handful of protobuf rules needed is written out here, because the onnx package is large and needed for nothing else.

Source: the protocol buffers encoding guide; onnx.proto, messages ModelProto, GraphProto and NodeProto.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

_GRAPH_OF_MODEL: Final = 7
_NODE_OF_GRAPH: Final = 1
_OUTPUT_OF_GRAPH: Final = 12
_INPUT_OF_NODE: Final = 1
_OUTPUT_OF_NODE: Final = 2
_OP_TYPE_OF_NODE: Final = 4
_NAME_OF_VALUE: Final = 1

_VARINT: Final = 0
_LENGTH_DELIMITED: Final = 2
_FIXED_BYTES: Final = {1: 8, 5: 4}


class _Field(Struct, frozen=True):
    number: int
    whole: memoryview  # key, length and content
    content: memoryview


class _Node(Struct, frozen=True):
    op_type: str
    inputs: list[str]
    outputs: list[str]

    def has_form(self, op_type: str, inputs: int) -> bool:
        return self.op_type == op_type and len(self.inputs) == inputs and len(self.outputs) == 1


def without_nan_guards(model: bytes) -> bytes:
    """Give `model` (a serialised ModelProto) without its `Where(IsNaN(x), y, x)`: their users take x itself.

    Values that are not NaN are untouched to the last bit. A guard whose parts are used otherwise, or that is an output
    of the graph, stays. Copies the model once.

    Raises:
        ValueError: `model` is no well-formed protobuf message.
    """
    return _with_graph(model, _pruned)


def with_fusible_gelus(model: bytes) -> bytes:
    """Give `model` (a serialised ModelProto) with each `x * (c * (1 + erf …))` written as `c * (x * (1 + erf …))`.

    Values change by rounding only. A product that is used otherwise, or is an output of the graph, stays. Copies the
    model once.

    Raises:
        ValueError: `model` is no well-formed protobuf message.
    """
    return _with_graph(model, _reordered)


def _with_graph(model: bytes, changed: Callable[[memoryview], bytes]) -> bytes:
    return b"".join(
        _encoded(field.number, changed(field.content)) if field.number == _GRAPH_OF_MODEL else field.whole
        for field in list(_fields(memoryview(model)))
    )


def _pruned(graph: memoryview) -> bytes:
    fields = list(_fields(graph))
    nodes = [_node(field.content) if field.number == _NODE_OF_GRAPH else None for field in fields]
    outputs = {_text(field, _NAME_OF_VALUE) for field in fields if field.number == _OUTPUT_OF_GRAPH}
    instead = _guards([node for node in nodes if node is not None], outputs)
    kept: list[bytes | memoryview] = []
    for field, node in zip(fields, nodes, strict=True):
        if node is None:
            kept.append(field.whole)
        elif not instead.keys() & node.outputs:
            kept.append(_with_inputs(field, [instead.get(name, name) for name in node.inputs]))
    return b"".join(kept)


def _reordered(graph: memoryview) -> bytes:
    fields = list(_fields(graph))
    nodes = [_node(field.content) if field.number == _NODE_OF_GRAPH else None for field in fields]
    outputs = {_text(field, _NAME_OF_VALUE) for field in fields if field.number == _OUTPUT_OF_GRAPH}
    inputs = _gelu_inputs([node for node in nodes if node is not None], outputs)
    return b"".join(
        _with_inputs(field, inputs.get(node.outputs[0], node.inputs)) if node and node.outputs else field.whole
        for field, node in zip(fields, nodes, strict=True)
    )


def _guards(nodes: Iterable[_Node], graph_outputs: set[str]) -> dict[str, str]:
    """Map the outputs of both parts of every removable guard to the guarded value."""
    nodes = list(nodes)
    tested = {node.outputs[0]: node.inputs[0] for node in nodes if node.has_form("IsNaN", 1)}
    instead = {}
    for node in nodes:
        if node.has_form("Where", 3) and tested.get(node.inputs[0]) == node.inputs[2]:
            users = [other for other in nodes if node.inputs[0] in other.inputs]
            if len(users) == 1 and not graph_outputs & {node.inputs[0], node.outputs[0]}:
                instead[node.inputs[0]] = instead[node.outputs[0]] = node.inputs[2]
    # One guard behind another: follow to the value that stays.
    for name, value in instead.items():
        while value in instead:
            value = instead[value]  # noqa: PLW2901 - walking the chain
        instead[name] = value
    return instead


def _gelu_inputs(nodes: Sequence[_Node], graph_outputs: set[str]) -> dict[str, list[str]]:
    """Map the outputs of both products of every GELU in the slow order to the inputs they have in the other."""
    by_output = {node.outputs[0]: node for node in nodes if node.outputs}
    uses = Counter(name for node in nodes for name in node.inputs)
    inputs: dict[str, list[str]] = {}
    for outer in nodes:
        if not outer.has_form("Mul", 2):
            continue
        for x, product in (outer.inputs, outer.inputs[::-1]):
            inner = by_output.get(product)
            is_own = inner is not None and uses[product] == 1 and product not in graph_outputs
            if inner is None or not is_own or not inner.has_form("Mul", 2):
                continue
            erfs = [name for name in inner.inputs if _is_of_erf(name, by_output)]
            constants = [name for name in inner.inputs if name not in by_output]
            if erfs and constants:
                inputs[product], inputs[outer.outputs[0]] = [x, *erfs], [*constants, product]
    return inputs


def _is_of_erf(name: str, by_output: Mapping[str, _Node]) -> bool:
    node = by_output.get(name)
    return (
        node is not None
        and node.has_form("Add", 2)
        and any(by_output[part].op_type == "Erf" for part in node.inputs if part in by_output)
    )


def _with_inputs(node: _Field, inputs: Sequence[str]) -> bytes:
    left = iter(inputs)
    return _encoded(
        node.number,
        b"".join(
            _encoded(field.number, next(left).encode()) if field.number == _INPUT_OF_NODE else field.whole
            for field in _fields(node.content)
        ),
    )


def _node(content: memoryview) -> _Node:
    named: dict[int, list[str]] = {_INPUT_OF_NODE: [], _OUTPUT_OF_NODE: [], _OP_TYPE_OF_NODE: []}
    for field in _fields(content):
        if field.number in named:
            named[field.number].append(bytes(field.content).decode())
    op_type = (named[_OP_TYPE_OF_NODE] or [""])[0]
    return _Node(op_type=op_type, inputs=named[_INPUT_OF_NODE], outputs=named[_OUTPUT_OF_NODE])


def _text(message: _Field, number: int) -> str:
    return next((bytes(field.content).decode() for field in _fields(message.content) if field.number == number), "")


def _fields(message: memoryview) -> Iterator[_Field]:
    position = 0
    while position < len(message):
        key, content = _varint(message, position)
        wire_type = key & 7
        if wire_type == _LENGTH_DELIMITED:
            length, content = _varint(message, content)
            end = content + length
        elif wire_type == _VARINT:
            end = _varint(message, content)[1]
        else:
            end = content + _FIXED_BYTES.get(wire_type, len(message))
        if end > len(message):
            raise ValueError(f"field {key >> 3} reaches beyond its message")
        yield _Field(key >> 3, message[position:end], message[content:end])
        position = end


def _varint(message: memoryview, position: int) -> tuple[int, int]:
    """Read a variable-length integer; gives it and the position behind it."""
    value = shift = 0
    for byte in message[position : position + 10]:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position + shift // 7
    raise ValueError(f"no end of the number at {position}")


def _encoded(number: int, content: bytes) -> bytes:
    return _as_varint(number << 3 | _LENGTH_DELIMITED) + _as_varint(len(content)) + content


def _as_varint(value: int) -> bytes:
    parts = bytearray()
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)
