"""Writes src/pos_agent_client/schema.py from the agent's OpenAPI description. With --check, it only compares.

Objects become TypedDicts, and enumerations become Literals. Nothing is checked when a program runs, so a word or a
field of a newer agent is no error.
"""

import json
import keyword
import sys
import textwrap
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SOURCE = HERE / "../openapi.json"
TARGET = HERE / "src/pos_agent_client/schema.py"
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
HEAD = '''"""Types of the terminal's interface. generate.py writes this file from the agent's OpenAPI description."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict
'''


def type_of(schema: dict[str, Any]) -> str:
    """Returns the annotation for a schema."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    for joined in ("anyOf", "oneOf", "allOf"):
        if joined in schema:
            return " | ".join(dict.fromkeys(type_of(one) for one in schema[joined]))
    if words := schema.get("enum", [schema["const"]] if "const" in schema else []):
        return "Literal[" + ", ".join(json.dumps(word) for word in words) + "]"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return " | ".join(plain_type(kind, schema) for kind in kinds) or "Any"


def plain_type(kind: str, schema: dict[str, Any]) -> str:
    if kind == "array":
        return f"list[{type_of(schema.get('items', {}))}]"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"dict[str, {type_of(values) if isinstance(values, dict) else 'Any'}]"
    return PLAIN[kind]


def definition(name: str, schema: dict[str, Any]) -> str:
    """Returns the source of one type."""
    fields, required = schema.get("properties", {}), schema.get("required", [])
    if not fields:
        alias = type_of(schema)
        if alias.startswith("Literal[") and "," in alias:
            alias = "Literal[\n" + "".join(f"    {json.dumps(word)},\n" for word in schema["enum"]) + "]"
        return f"{name} = {alias}\n"
    types = {key: type_of(field) for key, field in fields.items()}
    types = {key: one if key in required else f"NotRequired[{one}]" for key, one in types.items()}
    if all(key.isidentifier() and not keyword.iskeyword(key) for key in types):
        about = textwrap.wrap(schema.get("description", name), 110, break_long_words=False)
        about = (
            [f'    """{about[0]}"""']
            if len(about) == 1
            else ['    """' + about[0], *("    " + a for a in about[1:]), '    """']
        )
        lines = [f"class {name}(TypedDict):", *about, "", *(f"    {key}: {one}" for key, one in types.items())]
        return "\n".join(lines) + "\n"
    lines = [f"{name} = TypedDict(", f'    "{name}",', "    {"]
    lines += [
        f'        "{key}": {json.dumps(one) if "[" in one or one[0].isupper() else one},' for key, one in types.items()
    ]
    return "\n".join([*lines, "    },", ")"]) + "\n"


def is_class(source: str) -> bool:
    return source.startswith("class ")


def generated(description: dict[str, Any]) -> str:
    """Returns the whole file. The body of a request without a name of its own is named after the operation."""
    schemas: dict[str, Any] = dict(description["components"]["schemas"])
    for methods in description["paths"].values():
        for operation in methods.values():
            content = operation.get("requestBody", {}).get("content", {}) if isinstance(operation, dict) else {}
            body = content.get("application/json", {}).get("schema", {})
            if "properties" in body:
                name = operation["operationId"]
                schemas.setdefault(f"{name[0].upper()}{name[1:]}Body", body)
    sources = {name: definition(name, schema) for name, schema in sorted(schemas.items())}
    # An alias needs the names in it, so those without another name come first.
    order = sorted(sources, key=lambda name: ("properties" in schemas[name], "$ref" in json.dumps(schemas[name]), name))
    text = HEAD + "\n"
    for before, name in zip([None, *order], order, strict=False):
        is_alias_run = before is None or not (is_class(sources[before]) or is_class(sources[name]))
        text += ("" if is_alias_run else "\n\n") + sources[name]
    return text


def main() -> None:
    wanted = generated(json.loads(SOURCE.read_text()))
    if "--check" not in sys.argv:
        TARGET.write_text(wanted)
    elif TARGET.read_text() != wanted:
        sys.exit("schema.py is not what the description says: run generate.py")


if __name__ == "__main__":
    main()
