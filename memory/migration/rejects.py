"""The file with what could not be read: byte for byte, each piece behind its line number and the reason."""

import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from memory.errors import StoreFullError
from memory.store.files import PRIVATE_DIRECTORY, create_private

SUFFIX = ".rejected"


class Rejects:
    """Beside the source when one may write there, else in `elsewhere`. It appears when it is whole (`keep`)."""

    def __init__(self, source: Path, elsewhere: Path, key: str, *, active: bool = True) -> None:
        """`key` tells sources of the same name apart in `elsewhere`; not `active`: nothing is written."""
        self._source, self._elsewhere, self._key, self._active = source, elsewhere, key, active
        self._target: Path | None = None
        self._file: BinaryIO | None = None

    def __enter__(self) -> "Rejects":
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()
        if self._target is not None:
            with suppress(OSError):
                self._partial(self._target).unlink(missing_ok=True)

    def add(self, line: int, reason: str, raw: bytes) -> None:
        """Copy one piece. Raises `StoreFullError` when it cannot be kept."""
        if not self._active:
            return
        try:
            self._opened().write(f"# line {line}: {reason}\n".encode() + raw + b"\n")
        except OSError as error:
            raise self._not_kept(error) from error

    def keep(self) -> Path | None:
        """Let the file appear, in place of an earlier one; `None` when nothing was rejected."""
        if self._file is None or self._target is None:
            return None
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._partial(self._target).replace(self._target)
        except OSError as error:
            raise self._not_kept(error) from error
        return self._target

    def _opened(self) -> BinaryIO:
        if self._file is None:
            try:
                self._file = self._open(self._source.with_name(self._source.name + SUFFIX))
            except OSError:
                self._elsewhere.mkdir(mode=PRIVATE_DIRECTORY, parents=True, exist_ok=True)
                name = f"{self._source.stem}-{self._key[:8]}{self._source.suffix}{SUFFIX}"
                self._file = self._open(self._elsewhere / name)
        return self._file

    def _open(self, target: Path) -> BinaryIO:
        partial = self._partial(target)
        partial.unlink(missing_ok=True)
        create_private(partial)
        self._target = target
        return partial.open("wb")

    def _partial(self, target: Path) -> Path:
        return target.with_name(target.name + ".partial")

    def _not_kept(self, error: OSError) -> StoreFullError:
        return StoreFullError(
            f"What cannot be read of {self._source.name} cannot be kept: {error.strerror}.",
            hint="Make room and run it again; what has come in stays.",
        )
