"""Rows read straight from the pages of a database file, without SQLite and whatever else in the file is damaged.

Only the leaves of tables are looked at (https://sqlite.org/fileformat2.html): each holds whole rows, and needs neither
the header of the file nor the pages above it. What cannot be read of a page is passed over.
"""

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass

LEAF = 0x0D
HEADER = 100
"""Bytes of the file's header, on the first page."""
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Serial type → bytes of an integer."""
_WAL_HEADER, _FRAME_HEADER = 32, 24

Value = int | float | str | bytes | None


@dataclass(frozen=True, slots=True)
class RawRow:
    """A row of some table."""

    rowid: int
    values: tuple[Value, ...]


class PageFile:
    """The pages of a database, those of its log that were committed in place of the older ones."""

    def __init__(self, content: bytes | mmap.mmap, log: bytes, page_size: int) -> None:
        self._content = content
        self._size = page_size
        self._newer = _committed(log, page_size)

    def rows(self) -> Iterator[RawRow]:
        """Every row that can be read."""
        last = max([len(self._content) // self._size, *self._newer])
        for number in range(1, last + 1):
            page = self._page(number)
            start = HEADER if number == 1 else 0
            if len(page) == self._size and page[start] == LEAF:
                yield from self._leaf(page, start)

    def _page(self, number: int) -> bytes:
        at = (number - 1) * self._size
        return self._newer.get(number) or self._content[at : at + self._size]

    def _leaf(self, page: bytes, start: int) -> Iterator[RawRow]:
        count = int.from_bytes(page[start + 3 : start + 5], "big")
        for cell in range(min(count, (self._size - start - 8) // 2)):
            at = start + 8 + 2 * cell
            try:
                yield self._cell(page, int.from_bytes(page[at : at + 2], "big"))
            except (IndexError, ValueError, struct.error):  # a damaged cell; the others may be sound
                continue

    def _cell(self, page: bytes, at: int) -> RawRow:
        length, at = _varint(page, at)
        rowid, at = _varint(page, at)
        return RawRow(rowid - (1 << 64) if rowid >> 63 else rowid, _record(self._payload(page, at, length)))

    def _payload(self, page: bytes, at: int, length: int) -> bytes:
        """The bytes of a row, those on overflow pages too."""
        most = self._size - 35
        if length <= most:
            return _exactly(page[at : at + length], length)
        least = (self._size - 12) * 32 // 255 - 23
        local = least + (length - least) % (self._size - 4)
        local = local if local <= most else least
        parts, left = [page[at : at + local]], length - local
        following = int.from_bytes(page[at + local : at + local + 4], "big")
        while left > 0 and following:
            overflow = self._page(following)
            parts.append(_exactly(overflow[4 : 4 + left], min(left, self._size - 4)))
            left -= len(parts[-1])
            following = int.from_bytes(overflow[:4], "big")
        return _exactly(b"".join(parts), length)


def _record(payload: bytes) -> tuple[Value, ...]:
    """The values of a row. Raises `ValueError` and `IndexError` when it is none."""
    header, at = _varint(payload, 0)
    kinds = []
    while at < header:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    values: list[Value] = []
    for kind in kinds:
        value, at = _value(payload, at, kind)
        values.append(value)
    if at != len(payload):
        raise ValueError("not a row")
    return tuple(values)


def _value(payload: bytes, at: int, kind: int) -> tuple[Value, int]:
    if kind == 0:
        return None, at
    if size := _INTEGERS.get(kind):
        return int.from_bytes(_exactly(payload[at : at + size], size), "big", signed=True), at + size
    if kind == 7:
        return float(struct.unpack(">d", payload[at : at + 8])[0]), at + 8
    if kind in (8, 9):
        return kind - 8, at
    if kind < 12:
        raise ValueError("no such type")
    size = (kind - 12) // 2
    part = _exactly(payload[at : at + size], size)
    return (part.decode("utf-8", "replace") if kind % 2 else part), at + size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for step in range(9):
        byte = data[at + step]
        if step == 8:
            return value << 8 | byte, at + 9
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + step + 1
    raise ValueError("not a number")


def _exactly(part: bytes, size: int) -> bytes:
    if len(part) != size:
        raise ValueError("cut short")
    return part


def _committed(log: bytes, page_size: int) -> dict[int, bytes]:
    """Page number → its newest content in a write-ahead log, up to the last commit of the log's present run."""
    found: dict[int, bytes] = {}
    pending: dict[int, bytes] = {}
    salts = log[16:24]
    step = _FRAME_HEADER + page_size
    for at in range(_WAL_HEADER, len(log) - step + 1, step):
        number, commit = struct.unpack(">II", log[at : at + 8])
        if log[at + 8 : at + 16] != salts or not number:
            break
        pending[number] = log[at + _FRAME_HEADER : at + step]
        if commit:
            found |= pending
            pending = {}
    return found
