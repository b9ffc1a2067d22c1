"""Lines of old session files: every byte of a line is either in a record or in a piece that says why it is in none.

Pure; nothing in a line is trusted, and no line raises.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memory.migration.old_fields import CONTENT_KEYS, ROLE_KEYS

MOST_STARTS = 64
"""Places in a broken line at which a whole record is looked for."""
_BLANK = b" \t\r\n,"
_START = re.compile(rb'\{\s*"')


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line: a record, or what could not be read with the reason."""

    record: Mapping[str, Any] | None
    raw: bytes
    reason: str = ""
    """Why there is no record."""
    repair: str = ""
    """What had to be done to get at the record; empty when nothing had."""


class _DuplicateKeyError(ValueError):
    """An object names one key twice: which value counts would be a guess."""


def split_line(line: bytes) -> list[Piece]:
    """The pieces of one line in order; a blank line has none."""
    line = line.strip(_BLANK)
    if not line:
        return []
    text, repair = _decoded(line)
    try:
        return [_whole(_DECODER.decode(text), line, repair)]
    except _DuplicateKeyError:
        return [Piece(None, line, "an object has the same key twice")]
    except RecursionError:
        return [Piece(None, line, "nested too deep")]
    except ValueError:
        return _salvaged(line)


def _whole(value: Any, raw: bytes, repair: str) -> Piece:
    if isinstance(value, dict):
        return Piece(value, raw, repair=repair)
    return Piece(None, raw, "not a JSON object")


def _salvaged(line: bytes) -> list[Piece]:
    """Whole records inside a line that is not one: glued to each other, or behind a torn one."""
    found: list[Piece] = []
    at = lost = 0
    for start in [match.start() for match in _START.finditer(line)][:MOST_STARTS]:
        if start < at:
            continue
        record, end = _record_at(line, start)
        if record is None or (start > at and not _is_message(record)):
            continue
        found += _fragment(line[lost:start])
        repair = "found inside a broken line" if start else ""
        found.append(Piece(record, line[start:end], repair=repair))
        at = lost = end
    return found + _fragment(line[lost:])


def _fragment(raw: bytes) -> list[Piece]:
    raw = raw.strip(_BLANK)
    return [Piece(None, raw, "not JSON, or cut off")] if raw else []


def _record_at(line: bytes, start: int) -> tuple[Mapping[str, Any] | None, int]:
    """The object that begins at `start` and where it ends; `None` when it is none or is not whole."""
    text, _ = _decoded(line[start:])
    try:
        value, length = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None, start
    return value, start + len(text[:length].encode("utf-8", "surrogateescape"))


def _is_message(record: Mapping[str, Any]) -> bool:
    """An object inside a torn one may be a part of it; only what has a role and a text stands for itself."""
    return any(key in record for key in ROLE_KEYS) and any(key in record for key in CONTENT_KEYS)


def _decoded(line: bytes) -> tuple[str, str]:
    try:
        return line.decode(), ""
    except UnicodeDecodeError:
        return line.decode("utf-8", "surrogateescape"), "bytes that are not UTF-8"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _DuplicateKeyError
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)
