"""The small note beside each model file: its size, time and SHA-256, so that it is hashed once."""

import json
import os
from pathlib import Path
from typing import Any

from memory.provider.model_fetch import disk_errors


def note_of(path: Path) -> Path:
    """Where the note of a model file lies."""
    return path.with_suffix(".json")


def read_note(path: Path) -> dict[str, Any]:
    """The note of a file; empty when there is none or the file has changed since."""
    try:
        note = json.loads(note_of(path).read_text("utf-8"))
        state = path.stat()
    except (OSError, ValueError):
        return {}
    fits = isinstance(note, dict) and (note.get("size"), note.get("mtime_ns")) == (state.st_size, state.st_mtime_ns)
    return note if fits else {}


def write_note(path: Path, sha256: str, licence: str, source: str) -> None:
    """Note what a model file is now. Raises `ModelFileError`."""
    with disk_errors():
        state = path.stat()
        note = {"size": state.st_size, "mtime_ns": state.st_mtime_ns, "sha256": sha256}
        part = path.with_suffix(f".json.{os.getpid()}")
        part.write_text(json.dumps(note | {"licence": licence, "source": source}, indent=1) + "\n", "utf-8")
        part.chmod(0o600)
        part.replace(note_of(path))
