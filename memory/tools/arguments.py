"""Reads the arguments of a call as a model wrote them, and checks them against the tool's schema.

Only what a model gets wrong is checked: the names, what is required, the simple types, and the allowed words. Whatever
else a schema says is the tool's to check.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from memory.errors import OrcaError
from memory.text import label, repair

MAX_CHARACTERS = 1_000_000
"""Longest arguments of one call."""
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def read_arguments(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as an object that fits `schema`. Raises `OrcaError` with a sentence that helps the model."""
    found = _parse(text)
    properties = schema.get("properties")
    known: Mapping[str, Any] = properties if isinstance(properties, dict) else {}
    required = names if isinstance(names := schema.get("required"), list) else []
    found = {name: value for name, value in found.items() if not _is_left_out(name, value, known, required)}
    missing = [str(name) for name in required if name not in found]
    if missing:
        raise OrcaError(f"The call lacks {', '.join(missing)}.", hint=_expected(known))
    if schema.get("additionalProperties") is False and (unknown := [name for name in found if name not in known]):
        raise OrcaError(f"The call has no argument {label(', '.join(unknown), 200)}.", hint=_expected(known))
    for name, value in found.items():
        if isinstance(rule := known.get(name), dict) and (problem := _problem(value, rule)):
            raise OrcaError(f"The argument {label(name, 80)} {problem}.", hint=_expected(known))
    return found


def _parse(text: str) -> dict[str, Any]:
    if len(text) > MAX_CHARACTERS:
        raise OrcaError("The arguments are too long.", hint="Call the tool with less.")
    found: Any = {}
    try:
        if text.strip():
            found = json.loads(text)
        if isinstance(found, str):  # JSON inside JSON, as some servers send it
            found = json.loads(found)
    except (ValueError, RecursionError) as error:
        raise OrcaError(
            f"The arguments are not valid JSON: {label(str(error), 200)}.", hint="Call again with one JSON object."
        ) from error
    if found is None:
        return {}
    if isinstance(found, dict) and "\\u" in text:  # half a character, which nothing behind can encode
        found = json.loads(repair(json.dumps(found, ensure_ascii=False))[0])
    if not isinstance(found, dict):
        raise OrcaError("The arguments are not an object.", hint="Call again with one JSON object.")
    return found


def _is_left_out(name: str, value: Any, known: Mapping[str, Any], required: list[Any]) -> bool:
    """A null that stands for "not given": many models name every argument."""
    rule = known.get(name)
    return value is None and name not in required and isinstance(rule, dict) and bool(_problem(value, rule))


def _problem(value: Any, rule: Mapping[str, Any]) -> str:
    """What is wrong with a value; empty when it fits."""
    kinds = rule.get("type")
    names = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    types = tuple(kind for name in names for kind in _TYPES.get(str(name), (object,)))
    if types and not (isinstance(value, types) and (not isinstance(value, bool) or bool in types or object in types)):
        return f"must be {' or '.join(map(str, names))}"
    if isinstance(value, float) and not math.isfinite(value):
        return "must be a finite number"
    words = rule.get("enum")
    if isinstance(words, list) and value not in words:
        return f"must be one of {label(', '.join(map(str, words)), 300)}"
    return ""


def _expected(known: Mapping[str, Any]) -> str:
    return f"Its arguments: {label(', '.join(known), 300)}." if known else "It takes no arguments."
