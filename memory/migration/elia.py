"""Elia's chats: its SQLite file, read from a copy, or the JSON that it writes of one chat."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory.errors import ImportRefused
from memory.migration.export_files import Damaged, Export, entries
from memory.migration.foreign import Record, Said, Skipped, Source, Talk, list_of, mapping_of, text_of, time_of
from memory.types import Role

if TYPE_CHECKING:
    import apsw

MAX_FILE = 2 << 30
"""Bytes of a database that is copied."""
_CHAT = ("id", "title", "name", "model", "ai_model", "started_at", "archived")
_MESSAGE = ("id", "role", "content", "timestamp", "parent_id", "model")
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool"}


def is_elia(entry: object) -> bool:
    """Whether a JSON value looks like a chat of Elia's."""
    messages = list_of(mapping_of(entry).get("messages"))
    return bool(messages) and all(isinstance(m, Mapping) and "role" in m and "content" in m for m in messages[:5])


class EliaJSON:
    """Reads the JSON of one chat, or of a list of chats."""

    source: Source = "elia"

    def __init__(self, export: Export) -> None:
        self._export = export

    def records(self) -> Iterator[Record]:
        """The chats."""
        for name in self._export.names(""):
            for number, entry in enumerate(entries(self._export.text(name)), 1):
                if isinstance(entry, Damaged):
                    yield Skipped(f"{name}, from character {entry.at} on", entry.reason)
                elif is_elia(entry):
                    yield _talk(dict(entry), [dict(mapping_of(one)) for one in list_of(entry.get("messages"))])
                else:
                    yield Skipped(f"{name}, entry {number}", "it is no conversation")


class EliaReader:
    """Reads a database. The file itself is never opened: SQLite may write beside what it only reads."""

    source: Source = "elia"

    def __init__(self, path: Path) -> None:
        self._path = path

    def records(self) -> Iterator[Record]:
        """The chats, the oldest first. Raises `ImportRefused` when it is no such database."""
        import apsw

        with tempfile.TemporaryDirectory(prefix="orca-import-") as place:
            copy = self._copied(Path(place))
            try:
                with closing(apsw.Connection(str(copy))) as connection:
                    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
                    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
                    if not {"chat", "message"} <= _tables(connection):
                        raise ImportRefused(
                            f"{self._path.name} is a database, but not one of Elia's.", hint="Nothing was imported."
                        )
                    yield from self._chats(connection)
            except apsw.Error as error:
                raise ImportRefused(
                    f"{self._path.name} cannot be read: {type(error).__name__}.",
                    hint="What came in before stays; the file was not changed.",
                ) from error

    def _copied(self, place: Path) -> Path:
        copy = place / "chats.sqlite"
        try:
            if self._path.stat().st_size > MAX_FILE:
                raise ImportRefused(f"{self._path.name} is larger than {MAX_FILE >> 30} GB.")
            shutil.copyfile(self._path, copy)
            log = self._path.with_name(self._path.name + "-wal")
            if log.is_file():
                shutil.copyfile(log, copy.with_name(copy.name + "-wal"))
        except OSError as error:
            raise ImportRefused(f"{self._path.name} cannot be read: {error.strerror}.") from error
        return copy

    def _chats(self, connection: "apsw.Connection") -> Iterator[Record]:
        for chat in _rows(
            connection, "chat", ("id", "title", "name", "model", "ai_model", "started_at", "archived"), ""
        ):
            columns = ("id", "role", "content", "timestamp", "meta", "parent_id", "model")
            yield _talk(chat, _rows(connection, "message", columns, "WHERE chat_id = ?", chat.get("id")))


def _talk(chat: Mapping[str, Any], rows: list[dict[str, Any]]) -> Talk:
    talk = Talk(
        key=str(chat.get("id")),
        title=text_of(chat.get("title")) or text_of(chat.get("name")),
        time=time_of(chat.get("started_at")),
        model=text_of(chat.get("model")) or text_of(chat.get("ai_model")) or None,
        messages=[],
        tip=None,
        archived=bool(chat.get("archived")),
    )
    seen: set[str] = set()
    for number, row in enumerate(rows):
        key = str(row.get("id") if row.get("id") is not None else f"#{number}")
        role, text = _ROLES.get(text_of(row.get("role"))), row.get("content")
        if role is None or not isinstance(text, str) or not text.strip() or key in seen:
            reason = "a role that is not known" if role is None else "the same again" if key in seen else "empty"
            talk.skipped.append(Skipped(key, reason))
            continue
        parent = str(row.get("parent_id"))
        above = parent if parent in seen else talk.tip
        facts = {"model": row["model"]} if text_of(row.get("model")) else {}
        talk.messages.append(Said(key, above, role, text, time_of(row.get("timestamp")), facts))
        seen.add(key)
        talk.tip = key
    return talk


def _tables(connection: "apsw.Connection") -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def _rows(
    connection: "apsw.Connection", table: str, wanted: tuple[str, ...], where: str, *values: Any
) -> list[dict[str, Any]]:
    """The wanted columns as far as the table has them; it has changed with Elia's versions."""
    there = {name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")}
    names = [name for name in wanted if name in there]
    if "id" not in names:
        raise ImportRefused(f"The table {table} has no ids.", hint="Nothing was imported.")
    query = f"SELECT {', '.join(names)} FROM {table} {where} ORDER BY id"  # noqa: S608 - names are ours
    return [dict(zip(names, row, strict=True)) for row in connection.execute(query, values)]
