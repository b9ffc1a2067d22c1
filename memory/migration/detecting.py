"""Whose export a file is, and the reader for it."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path

from memory.errors import ImportRefused
from memory.migration.chatgpt import ChatGPTReader, is_chatgpt
from memory.migration.claude import ClaudeReader, is_claude
from memory.migration.elia import EliaJSON, EliaReader, is_elia
from memory.migration.export_files import SQLITE, Damaged, Export, entries
from memory.migration.foreign import NAMES, Reader, Source
from memory.migration.orca_json import OrcaReader, is_orca
from memory.text import label

LOOKED_AT = 20
"""Entries of a file that may tell whose it is."""


@contextmanager
def opened(path: Path, source: Source | None = None) -> Iterator[Reader]:
    """The reader that fits a file, a zip or a directory; closes it. Raises `ImportRefused` when none does.

    `source`: whose export it is meant to be.
    """
    try:
        if not path.exists():
            raise ImportRefused(f"There is no file {label(str(path), 200)}.", hint="Check the path.")
        is_database = path.is_file() and _head(path) == SQLITE
    except (OSError, ValueError) as error:
        raise ImportRefused(f"{label(path.name, 80)} cannot be read.", hint="Check the path.") from error
    if is_database:
        _check(path, source, "elia")
        yield EliaReader(path)
        return
    with closing(Export(path)) as export:
        found = _guess(export)
        if found is None:
            raise ImportRefused(
                f"{label(path.name, 80)} is no export that orca knows.",
                hint="ChatGPT, Claude: the zip or its conversations.json. Elia: elia.sqlite. orca: its own JSON.",
            )
        _check(path, source, found)
        yield _READERS[found](export)


def _check(path: Path, source: Source | None, found: Source) -> None:
    if source not in (None, found):
        raise ImportRefused(
            f"{label(path.name, 80)} is an export of {NAMES[found]}.", hint=f"Leave --from out, or give --from {found}."
        )


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(SQLITE))


def _guess(export: Export) -> Source | None:
    """Whose export it is, by its first entries."""
    names = export.names("conversations") or export.names("")
    for name in names[:3]:
        for entry in islice(entries(export.text(name)), LOOKED_AT):
            if isinstance(entry, Damaged):
                raise ImportRefused(f"{label(name, 80)} is damaged: {entry.reason}.", hint="Nothing was imported.")
            for source, fits in _KNOWN:
                if fits(entry):
                    return source
    return None


_KNOWN: tuple[tuple[Source, Callable[[object], bool]], ...] = (
    ("orca", is_orca),
    ("chatgpt", is_chatgpt),
    ("claude", is_claude),
    ("elia", is_elia),
)
_READERS: dict[Source, Callable[[Export], Reader]] = {
    "orca": OrcaReader,
    "chatgpt": ChatGPTReader,
    "claude": ClaudeReader,
    "elia": EliaJSON,
}
