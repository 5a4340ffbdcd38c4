"""The OpenAPI document of `/api/v1` (pure), made of the same rows and Structs that serve it."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from services.mcp_gateway.core.rest import FAILURES, OPERATIONS, PREFIX, Operation
from services.mcp_gateway.core.rest_answers import Failed, ItemKept

Schema = dict[str, Any]  # JSON

_JSON = "application/json"
_REFERENCE = "#/components/schemas/{name}"


@cache
def document(version: str) -> bytes:
    """Write the document as JSON."""
    kinds = [kind for operation in OPERATIONS for kind in (operation.body, operation.gives)]
    _, schemas = msgspec.json.schema_components([*kinds, Failed], ref_template=_REFERENCE)
    paths: Schema = {}
    for operation in OPERATIONS:
        paths.setdefault(f"{PREFIX}{operation.path}", {})[operation.method.lower()] = _described(operation)
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "kx knowledge",
                "version": version,
                "description": "Knowledge bases of this machine: search, exact citations, items and their revisions.",
            },
            "servers": [{"url": "/"}],
            "security": [{"token": []}],
            "paths": paths,
            "components": {
                "schemas": schemas,
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "description": "kx token create"}},
                "responses": {str(status): _failure(text) for status, text in FAILURES.items()},
            },
        }
    )


def _described(operation: Operation) -> Schema:
    described: Schema = {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": f"Needs the scope {operation.scope}.",
        "parameters": _parameters(operation),
        "responses": {
            str(operation.status): _success(operation),
            **{str(status): {"$ref": f"#/components/responses/{status}"} for status in FAILURES},
        },
    }
    if operation.body_kind == "json":
        described["requestBody"] = {"required": True, "content": {_JSON: {"schema": _ref(operation.body.__name__)}}}
    if operation.body_kind == "file":
        described["requestBody"] = {"required": True, "content": _file_kinds()}
    return described


def _success(operation: Operation) -> Schema:
    told: Schema = {"description": "Done.", "content": {_JSON: {"schema": _ref(operation.gives.__name__)}}}
    if operation.gives is ItemKept:
        item = {"item": "$response.body#/item/id"}
        told["links"] = {
            one.name: {"operationId": one.name, "parameters": item} for one in OPERATIONS if "{item}" in one.path
        }
    return told


def _file_kinds() -> Schema:
    binary = {"type": "string", "format": "binary"}
    form = {"type": "object", "properties": {"file": binary}, "required": ["file"], "additionalProperties": False}
    return {"application/octet-stream": {"schema": binary}, "multipart/form-data": {"schema": form}}


def _parameters(operation: Operation) -> list[Schema]:
    found: list[Schema] = []
    if "{item}" in operation.path:
        schema = {"type": "string", "minLength": 1, "maxLength": 100}
        found.append({"name": "item", "in": "path", "required": True, "schema": schema})
    fields = msgspec.json.schema(operation.query)["$defs"][operation.query.__name__]
    required = fields.get("required", [])
    for name, schema in fields["properties"].items():
        told = _without_null(schema)
        found.append({"name": name, "in": "query", "required": name in required, "schema": told})
    return found


def _without_null(schema: Schema) -> Schema:
    """Write an optional parameter as simply absent: an address cannot say null."""
    choices = [choice for choice in schema.get("anyOf", ()) if choice != {"type": "null"}]
    if not choices:
        if isinstance(schema.get("enum"), list):
            return {**schema, "enum": [one for one in schema["enum"] if one is not None]}
        return schema
    rest: Schema = {key: value for key, value in schema.items() if key not in {"anyOf", "default"}}
    return {**rest, **choices[0]}


def _failure(text: str) -> Schema:
    return {"description": text, "content": {_JSON: {"schema": _ref(Failed.__name__)}}}


def _ref(name: str) -> Schema:
    return {"$ref": _REFERENCE.format(name=name)}
