"""Files that went with messages, each kept once, under the name of its SHA-256."""

import hashlib
import os
import re
import time
import uuid
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from memory.errors import AttachmentError
from memory.store import files

YOUNG = 3600.0
"""Seconds that a file is kept in any case: its message may be about to be stored."""

_NAME = re.compile(r"[0-9a-f]{64}")


class AttachmentFiles:
    """The directory that they lie in. Methods block, and are safe from any thread and process."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def save(self, data: bytes) -> str:
        """Keep `data` on the disk; gives its SHA-256. Raises `AttachmentError`."""
        name = hashlib.sha256(data).hexdigest()
        target, partial = self._root / name, self._root / f".{name}.{uuid.uuid4().hex}"
        try:
            self._root.mkdir(mode=files.PRIVATE_DIRECTORY, parents=True, exist_ok=True)
            if target.is_file() and target.stat().st_size == len(data):
                os.utime(target)
                return name
            files.create_private(partial)
            with partial.open("r+b") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(target)
        except OSError as error:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            raise AttachmentError(
                f"The file could not be kept: {error.strerror}.",
                hint=f"Make room, and check that you may write to {self._root}.",
            ) from error
        return name

    def load(self, sha256: str) -> bytes:
        """The bytes of a file. Raises `AttachmentError` when it is gone or is not what it was."""
        try:
            data = (self._root / sha256).read_bytes() if _NAME.fullmatch(sha256) else b""
        except OSError:
            data = b""
        if hashlib.sha256(data).hexdigest() != sha256:
            raise AttachmentError("A file that went with a message is not there any more.", hint="Attach it again.")
        return data

    def drop_unreferenced(self, referenced: Collection[str], *, spared: float = YOUNG) -> int:
        """Remove the files that no message refers to, but for those younger than `spared` seconds; tells how many."""
        oldest, dropped = time.time() - spared, 0
        if not self._root.is_dir():
            return 0
        for path in self._root.iterdir():
            with suppress(OSError):
                if path.name not in referenced and path.is_file() and path.stat().st_mtime <= oldest:
                    path.unlink()
                    dropped += 1
        return dropped
