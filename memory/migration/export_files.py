"""Exports as they come: a JSON file, a zip, or a directory; read within bounds, never written.

Large lists are read entry by entry, so that what is damaged costs the rest and not what was before it.
"""

import json
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory.errors import ImportRefused
from memory.text import label

MAX_BYTES = 512 * 1024 * 1024
"""Of one JSON text. Ten years of daily talk are a tenth of it."""
MAX_RATIO = 200
"""How many times as large as in the zip a text may be; real exports are 5 to 30."""
MAX_MEMBERS = 200_000
"""Entries of a zip that are looked at."""
CHUNK = 1 << 20
SQLITE = b"SQLite format 3\x00"


@dataclass(frozen=True, slots=True)
class Damaged:
    """Where a list could not be read any further."""

    at: int
    """Character of the text."""
    reason: str


class Export:
    """One export. Raises `ImportRefused` when it cannot be opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._zip: zipfile.ZipFile | None = None
        try:
            if path.is_dir():
                self._names = {file.name: str(file) for file in sorted(path.rglob("*.json")) if file.is_file()}
            elif zipfile.is_zipfile(path):
                self._zip = zipfile.ZipFile(path)
                infos = self._zip.infolist()[:MAX_MEMBERS]
                self._names = {Path(i.filename).name: i.filename for i in infos if i.filename.endswith(".json")}
            else:
                with path.open("rb"):
                    self._names = {path.name: str(path)}
        except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise _unreadable(path, error) from error

    def close(self) -> None:
        """Let go of the file."""
        if self._zip is not None:
            self._zip.close()

    @property
    def is_single(self) -> bool:
        """Whether it is one file, whatever its name."""
        return self._zip is None and not self.path.is_dir()

    def names(self, beginning: str) -> list[str]:
        """The JSON files whose name begins so, in order; the only file when it is a single one."""
        if self.is_single:
            return list(self._names)
        return sorted(name for name in self._names if name.casefold().startswith(beginning))

    def text(self, name: str) -> str:
        """One file's text. Raises `ImportRefused` when it is damaged or too large."""
        raw = self._packed(self._names[name]) if self._zip is not None else self._plain(Path(self._names[name]))
        encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
        return raw.decode(encoding, errors="replace")

    def _plain(self, path: Path) -> bytes:
        try:
            with path.open("rb") as file:
                raw = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise _unreadable(path, error) from error
        if len(raw) > MAX_BYTES:
            raise _too_large(path.name)
        return raw

    def _packed(self, name: str) -> bytes:
        assert self._zip is not None  # noqa: S101 - the caller has looked
        info = self._zip.getinfo(name)
        if info.file_size > MAX_BYTES:
            raise _too_large(name)
        most = min(MAX_BYTES, max(CHUNK, info.compress_size * MAX_RATIO))
        parts: list[bytes] = []
        size = 0
        try:
            with self._zip.open(info) as file:
                while piece := file.read(CHUNK):
                    size += len(piece)
                    if size > most:
                        raise _too_large(name)
                    parts.append(piece)
        except (OSError, EOFError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error, lzma.LZMAError) as error:
            raise _unreadable(Path(name), error) from error
        return b"".join(parts)


def entries(text: str) -> Iterator[Any | Damaged]:
    """The entries of a JSON list, or the one value that is no list. Ends with `Damaged` where it cannot be read."""
    decoder = json.JSONDecoder()
    at = _past_blanks(text, 0)
    if text[at : at + 1] != "[":
        try:
            yield decoder.raw_decode(text, at)[0]
        except (ValueError, RecursionError) as error:
            yield Damaged(at, _why(error))
        return
    at = _past_blanks(text, at + 1)
    while text[at : at + 1] != "]":
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            yield Damaged(at, _why(error))
            return
        yield value
        at = _past_blanks(text, at)
        if text[at : at + 1] == ",":
            at = _past_blanks(text, at + 1)
        elif text[at : at + 1] != "]":
            yield Damaged(at, "the list is cut off" if at >= len(text) else "the list goes on with something else")
            return


def _past_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _why(error: Exception) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else "it is no valid JSON"


def _too_large(name: str) -> ImportRefused:
    return ImportRefused(
        f"{label(Path(name).name, 80)} is larger than {MAX_BYTES >> 20} MB, or far larger than it was packed.",
        hint="Nothing was imported. Unpack it and look at it, or export a part.",
    )


def _unreadable(path: Path, error: Exception) -> ImportRefused:
    reason = (error.strerror if isinstance(error, OSError) else None) or "it is damaged, locked or no export"
    return ImportRefused(f"{label(path.name, 80)} cannot be read: {reason}.", hint="Nothing was imported.")
