#!/usr/bin/env python3
"""check_json SCHEMA: checks that stdin is one JSON document as schemas/SCHEMA.json describes it.

Understands the part of JSON Schema that our schemas use: type, required, properties,
additionalProperties (false), items, enum, minimum, and $ref to a part of schemas/parts.json. Anything
else in a schema is an error, so that no rule is ignored in silence. Needs nothing but Python.
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
}


def has_type(value, name):
    if isinstance(value, bool) and name != "boolean":
        return False
    return isinstance(value, TYPES[name])


def read(name):
    with open(os.path.join(FOLDER, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


PARTS = read("parts")["$defs"]


def problems(value, schema, place):
    if "$ref" in schema:
        schema = PARTS[schema["$ref"].removeprefix("parts.json").removeprefix("#/$defs/")]
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
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        for key in schema.get("required", []):
            if key not in value:
                yield f"{place}: no {key!r}"
        for key, member in value.items():
            if key in properties:
                yield from problems(member, properties[key], f"{place}.{key}")
            elif schema.get("additionalProperties", True) is False:
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
