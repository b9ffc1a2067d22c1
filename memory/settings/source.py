"""Reads a settings file as text and as TOML, and says of every mistake in which line it is.

Messages name the file, the line and the key; they never repeat a value, which may be a secret.
"""

import os
import re
import stat
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from memory.errors import ConfigError
from memory.text import label

MAX_BYTES = 1_000_000

_KEY = r"""(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*"""
_HEADER_LINE = re.compile(rf"\s*\[\[?\s*({_KEY})\s*\]\]?\s*(?:#.*)?$")
_KEY_LINE = re.compile(rf"\s*({_KEY})\s*=\s*(.*)$")
_YAML_LINE = re.compile(r"\s*(?:- )?[\w-]+\s*:(?:\s|$)")
_AT_LINE = re.compile(r" \(at line (\d+), column \d+\)")
_MANY_DIGITS = re.compile(r"\d{1000,}")


@dataclass(frozen=True)
class Source:
    """A settings text and where it came from."""

    name: str
    """The path or another name, for messages; cleaned when it is shown."""
    text: str = ""
    private: bool = True
    """False when other users of the machine can read the file."""
    guarded: bool = True
    """False when other users of the machine can write the file."""

    def at(self, *path: str) -> str:
        """The file, and the line of the key or section where it can be told."""
        line = self.line_of(path)
        return self.at_line(line) if line else label(self.name)

    def at_line(self, line: int) -> str:
        """The file and a line, counted from 1."""
        return f"{label(self.name)} line {line}"

    def describe(self, path: tuple[str, ...]) -> str:
        """File, line and key: the subject of a sentence about it."""
        return f"{self.at(*path)}: {key_name(path)}"

    def line_of(self, path: tuple[str, ...]) -> int | None:
        """The line where a key or section stands, else its nearest parent's."""
        for length in range(len(path), 0, -1):
            if (line := self._lines.get(path[:length])) is not None:
                return line
        return None

    @cached_property
    def _lines(self) -> dict[tuple[str, ...], int]:
        found: dict[tuple[str, ...], int] = {}
        section: tuple[str, ...] = ()
        for number, line in enumerate(self.text.split("\n"), start=1):
            if header := _HEADER_LINE.match(line):
                section = _parts(header[1])
                found.setdefault(section, number)
            elif key := _KEY_LINE.match(line):
                found.setdefault(section + _parts(key[1]), number)
        return found


def key_name(path: tuple[str, ...]) -> str:
    """A key as messages name it: `[memory] top_k`; a name with a blank or worse in it is quoted and cut."""
    shown = [name if re.fullmatch(r"[\w-]{1,64}", name) else f'"{label(name, 40)}"' for name in path]
    if len(shown) < 2:
        return f"[{shown[0]}]" if shown else "the file"
    return f"[{'.'.join(shown[:-1])}] {shown[-1]}"


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in re.findall(r"""[A-Za-z0-9_-]+|"[^"]*"|'[^']*'""", dotted))


def read_source(path: Path) -> Source | None:
    """The file's text, or `None` when there is no file. Raises `ConfigError` when it cannot be read as text."""
    shown = label(str(path))
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            kind = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            raise ConfigError(f"{shown} is {kind}; the settings must be a file.", hint=f"Move {shown} away.")
        if status.st_size > MAX_BYTES:
            raise ConfigError(
                f"{shown} is {status.st_size / 1e6:.1f} MB; a settings file is at most {MAX_BYTES // 1_000_000} MB.",
                hint="Is this the right file?",
            )
        raw = path.read_bytes()
    except FileNotFoundError:
        return None
    except PermissionError as error:
        raise ConfigError(f"{shown} cannot be read: permission denied.", hint=f"Run: chmod u+r {shown}") from error
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "the path is not valid"
        raise ConfigError(f"{shown} cannot be read: {reason}.", hint="Choose another home with --home DIR.") from error
    private = os.name == "nt" or not status.st_mode & (stat.S_IRGRP | stat.S_IROTH)
    guarded = os.name == "nt" or not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return Source(str(path), decode(raw, str(path)), private, guarded)


def decode(raw: bytes, name: str) -> str:
    """The bytes of a settings file as text, without a byte order mark. Raises `ConfigError`."""
    shown = label(name)
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")) or (len(raw) > 3 and b"\0" in (raw[:1], raw[1:2])):
        raise ConfigError(f"{shown} is saved as UTF-16.", hint="Save it again as UTF-8.")
    if (at := raw.find(b"\0")) >= 0:
        line = raw.count(b"\n", 0, at) + 1
        raise ConfigError(
            f"{shown} line {line}: the file holds a NUL byte.", hint="Was it copied from a binary file? Delete it."
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{shown} line {line}: this is not UTF-8 text.", hint="Save the file as UTF-8.") from error


def parse_toml(source: Source) -> dict[str, Any]:
    """The text as nested dicts. Raises `ConfigError` with the line and what is wrong there."""
    try:
        return tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        message, hint = _explain(source, str(error))
    except RecursionError:
        message, hint = f"{label(source.name)} is nested too deeply.", "Settings have at most a few levels."
    except ValueError:
        lines = source.text.split("\n")
        line = next((number for number, text in enumerate(lines, start=1) if _MANY_DIGITS.search(text)), 0)
        where = source.at_line(line) if line else label(source.name)
        message, hint = f"{where}: the number is too large.", "Write a smaller number."
    raise ConfigError(message, hint=hint)


def _explain(source: Source, reason: str) -> tuple[str, str]:
    """What a TOML error means to a person, and what to do about it."""
    found = _AT_LINE.search(reason)
    if found is None:
        said = label(reason.removesuffix(" (at end of document)"))
        return f"{label(source.name)} is not complete TOML: {said}.", "A string, list or section is not closed."
    number = int(found[1])
    lines = source.text.split("\n")
    line = lines[number - 1] if number <= len(lines) else ""
    where = source.at_line(number)
    if _YAML_LINE.match(line):
        return f"{where}: this looks like YAML.", 'The file must be TOML, for example: model = "name"'
    if header := _HEADER_LINE.match(line):
        name, first = label(header[1], 60), source.line_of(_parts(header[1]))
        if first is not None and first < number:
            return f"{where}: the section [{name}] appears twice; the first is at line {first}.", "Join the two."
    if key := _KEY_LINE.match(line):
        name = label(key[1], 60)
        if not key[2].split("#")[0].strip():
            return f'{where}: "{name}" has no value.', "Write a value behind the =, or delete the line."
        if reason.startswith("Cannot overwrite"):
            return f'{where}: "{name}" appears twice.', "Delete one of the two lines."
        if reason.startswith("Invalid value"):
            return f'{where}: the value of "{name}" is not valid TOML.', 'Text needs "quotes".'
    said = label(_AT_LINE.sub("", reason))
    quotes = 'A name with other characters than A-Z, a-z, 0-9, _ and - needs "quotes".'
    return f"{where}: this is not valid TOML: {said}.", "Correct that line." if line.isascii() else quotes
