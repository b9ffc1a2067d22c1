"""The head of a GGUF file: what kind of model it is and how many tokens it takes, without loading it.

The file is foreign: every count and length is checked before it is believed, and reading stops early.
"""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from memory.errors import ModelFileError

MAGIC = b"GGUF"
MOST_KEYS = 4096
LONGEST_TEXT = 16 * 1024 * 1024
MOST_ITEMS = 4_000_000

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _ARRAY = 8, 9


@dataclass(frozen=True, slots=True)
class GgufInfo:
    """What the head says; empty or 0 where it does not."""

    architecture: str = ""
    name: str = ""
    context_length: int = 0
    """Tokens that the model was trained on."""


def read_info(path: Path) -> GgufInfo:
    """Read the head of the file at `path`. Raises `ModelFileError` when it is no GGUF file or a damaged one."""
    try:
        with path.open("rb") as file:
            return _info(_Reader(file))
    except OSError as error:
        raise ModelFileError(f"{path.name} cannot be read: {error.strerror or type(error).__name__}.") from error
    except (struct.error, ValueError, UnicodeDecodeError) as error:
        raise ModelFileError(
            f"{path.name} is not a usable GGUF file.", hint="Fetch it again, or choose another file."
        ) from error


def is_gguf(path: Path) -> bool:
    """Whether the file begins like one; a file that cannot be read does not."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


class _Reader:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def numbers(self, form: str) -> tuple[int | float | bool, ...]:
        size = struct.calcsize("<" + form)
        return struct.unpack("<" + form, self._file.read(size))

    def number(self, form: str) -> int:
        return int(self.numbers(form)[0])

    def text(self) -> bytes:
        length = self.number("Q")
        if length > LONGEST_TEXT:
            raise ValueError("text too long")
        data = self._file.read(length)
        if len(data) != length:
            raise ValueError("file too short")
        return data

    def skip(self, size: int) -> None:
        self._file.seek(size, 1)

    def value(self, kind: int) -> int | float | bytes | None:
        """The value, or `None` for an array, which is skipped."""
        if kind == _TEXT:
            return self.text()
        if kind != _ARRAY:
            return self.numbers(_form(kind))[0]
        item, count = self.number("I"), self.number("Q")
        if count > MOST_ITEMS:
            raise ValueError("array too long")
        if item == _TEXT:
            for _ in range(count):
                self.text()
        else:
            self.skip(struct.calcsize("<" + _form(item)) * count)
        return None


def _form(kind: int) -> str:
    if kind not in _NUMBERS:
        raise ValueError("unknown kind of value")
    return _NUMBERS[kind]


def _info(reader: _Reader) -> GgufInfo:
    magic = bytes(int(b) for b in reader.numbers("4B"))
    version, _tensors, keys = reader.number("I"), reader.number("Q"), reader.number("Q")
    if magic != MAGIC or version not in (2, 3) or keys > MOST_KEYS:
        raise ValueError("not a GGUF head")
    found: dict[str, int | float | bytes | None] = {}
    for _ in range(keys):
        key = reader.text().decode()
        found[key] = reader.value(reader.number("I"))
        if key.endswith(".context_length"):  # the word lists behind it take long to read
            break
    architecture = _text(found.get("general.architecture"))
    context = found.get(f"{architecture}.context_length")
    return GgufInfo(
        architecture=architecture,
        name=_text(found.get("general.name")),
        context_length=context if isinstance(context, int) and context > 0 else 0,
    )


def _text(value: int | float | bytes | None) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""
