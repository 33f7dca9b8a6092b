#!/usr/bin/env python3
"""check_json SCHEMA: checks that stdin is one JSON document as schemas/SCHEMA.json describes it.

Understands the part of JSON Schema that our schemas use: type, required, properties,
additionalProperties (false), items, enum, minimum, $ref to a part of schemas/parts.json, and such
parts in allOf with unevaluatedProperties (false). Anything else in a schema is an error, so that no
rule is ignored in silence. Needs nothing but Python.
"""

import json
import os
import sys

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}
FOLDER = os.path.join(os.path.dirname(os.path.realpath(__file__)), "schemas")
KNOWN = {
    "$schema",
    "title",
    "description",
    "type",
    "required",
    "properties",
    "additionalProperties",
    "items",
    "enum",
    "minimum",
    "allOf",
    "unevaluatedProperties",
}


def has_type(value, name):
    if isinstance(value, bool) and name != "boolean":
        return False
    return isinstance(value, TYPES[name])


def read(name):
    with open(os.path.join(FOLDER, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


PARTS = read("parts")["$defs"]


def resolved(schema):
    if "$ref" not in schema:
        return schema
    return PARTS[schema["$ref"].removeprefix("parts.json").removeprefix("#/$defs/")]


def problems(value, schema, place):
    schema = resolved(schema)
    unknown = set(schema) - KNOWN
    if unknown:
        yield f"{place}: the schema uses {sorted(unknown)}, which this checker does not know"
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(has_type(value, name) for name in names):
            yield f"{place}: {type(value).__name__} instead of {' or '.join(names)}"
            return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place}: {value!r} is none of {schema['enum']}"
    if "minimum" in schema and isinstance(value, (int, float)) and value < schema["minimum"]:
        yield f"{place}: {value} is below {schema['minimum']}"
    parts = [resolved(part) for part in schema.get("allOf", [])]
    for part in parts:
        yield from problems(value, part, place)
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        known = properties.keys() | {key for part in parts for key in part["properties"]}
        is_closed = schema.get("additionalProperties") is False
        is_closed = is_closed or schema.get("unevaluatedProperties") is False
        for key in schema.get("required", []):
            if key not in value:
                yield f"{place}: no {key!r}"
        for key, member in value.items():
            if key in properties:
                yield from problems(member, properties[key], f"{place}.{key}")
            elif is_closed and key not in known:
                yield f"{place}: {key!r} is not in the schema"
    if isinstance(value, list) and "items" in schema:
        for index, member in enumerate(value):
            yield from problems(member, schema["items"], f"{place}[{index}]")


def main():
    schema = read(sys.argv[1])
    text = sys.stdin.read()
    document = json.loads(text)  # fails on anything behind the document
    found = list(problems(document, schema, "$"))
    for line in found:
        print(line)
    print(f"{sys.argv[1]}: {'ok' if not found else 'not as the schema says'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
