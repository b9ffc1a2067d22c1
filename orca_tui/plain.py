"""Plain output for the command line: cleaned for a terminal, as it came for a pipe, JSON without an unseen character.

Nothing here needs Textual or Rich, so that the command line starts fast.
"""

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, TextIO

from memory.clock import from_iso
from memory.config import Secret
from memory.errors import OrcaError
from memory.text import clean, label, repair

_UNFINISHED = re.compile("(?:\r|[\ud800-\udbff]|\x1b(?:\\[[0-9;:]{0,32})?)$")
"""What may belong to the next piece of a stream: half a line end, half a character, half a colour sequence."""
_BEYOND_ASCII = re.compile("[\x7f-\U0010ffff]+")
CONTEXT = 2
"""Characters before a piece that decide what its first one means (an emoji before a joiner)."""


def plain_print(text: str = "", *, end: str = "\n", file: TextIO | None = None) -> None:
    """Print foreign text: cleaned when it goes to a terminal; else only NUL and lone surrogates are repaired."""
    stream = sys.stdout if file is None else file
    stream.write((clean(text) if stream.isatty() else repair(text)[0]) + end)


def print_json(value: object, *, indent: int | None = 2) -> None:
    """Print `to_plain(value)` as JSON: letters as they are where the output takes them, all that is unseen escaped."""
    text = json.dumps(to_plain(value), indent=indent, ensure_ascii=False)
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    sys.stdout.write(_BEYOND_ASCII.sub(lambda match: _json_escape(match[0], seen=utf8), text) + "\n")


def _json_escape(text: str, *, seen: bool) -> str:
    return "".join(ch if seen and ch.isprintable() else json.dumps(ch)[1:-1] for ch in text)


def complain(problem: OrcaError | str, hint: str = "") -> None:
    """Say on stderr what is wrong and, on a second line, what to do about it."""
    advice = problem.hint if isinstance(problem, OrcaError) else hint
    for line in (f"orca-tui: {label(str(problem), 2000)}", label(advice, 2000)):
        if line:
            sys.stderr.write(line + "\n")
    sys.stderr.flush()


class PlainWriter:
    """Writes a stream of pieces as `plain_print` would write the whole."""

    def __init__(self, file: TextIO | None = None) -> None:
        self._file = sys.stdout if file is None else file
        self._terminal = self._file.isatty()
        self._held = self._context = ""

    def write(self, piece: str) -> None:
        """Write what is complete and hold back the rest for the next piece."""
        text = self._held + piece
        unfinished = _UNFINISHED.search(text)
        self._held = unfinished[0] if unfinished else ""
        self._put(text.removesuffix(self._held))

    def close(self) -> None:
        """Write what was held back."""
        self._put(self._held)
        self._held = ""

    def _put(self, text: str) -> None:
        if not text:
            return
        if self._terminal:
            whole = clean(self._context + text)
            fits = whole.startswith(self._context)
            text = whole[len(self._context) :] if fits else clean(text)
            self._context = (self._context + text)[-CONTEXT:]
        else:
            text = repair(text)[0]
        self._file.write(text)
        self._file.flush()


def to_plain(value: Any) -> Any:
    """A value as JSON can say it: dataclasses, mappings and errors as objects, secrets as whether they are set."""
    if isinstance(value, OrcaError):
        return {"kind": type(value).__name__, "title": value.title, "message": str(value), "hint": value.hint}
    if isinstance(value, Secret):
        return "…" if value else ""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): to_plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)


def local_time(timestamp: str) -> str:
    """A stored time for a person: this machine's time zone, to the minute; what is no time comes back cleaned."""
    try:
        moment: datetime = from_iso(timestamp).astimezone()
    except (ValueError, OverflowError):
        return label(timestamp, 16)
    return moment.strftime("%Y-%m-%d %H:%M")
