"""Which files a tool may look at: those below the allowed directories, and nothing that only a name puts there.

A path is resolved first (`~`, `..`, links) and must then lie below a root; it is opened step by step without following
links, so that what was checked is what is read.
"""

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from memory.errors import ToolFailed, ToolRefused
from memory.text import label

SECRET_NAMES = frozenset(
    (".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".pgpass", ".git-credentials", ".password-store")
)
"""What holds keys wherever it lies: never read, also below an allowed directory."""
_STEP = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class Roots:
    """The allowed directories. Methods block: call them in a thread."""

    def __init__(self, roots: Sequence[str], home: Path) -> None:
        """`home`: orca's own, which is never shown."""
        self._roots = tuple(dict.fromkeys(_expanded(root) for root in roots if root.strip()))
        self._home = home

    @property
    def names(self) -> tuple[str, ...]:
        """As the user knows them, absolute."""
        return tuple(map(str, self._roots))

    def find(self, path: str) -> tuple[Path, Path]:
        """The root that a path lies below, and the path, both resolved. Raises `ToolRefused`; for what is not there as
        for what may not be read: a model must not learn what else there is.
        """
        for start in self._starts(path):
            with suppress(OSError, ValueError, RuntimeError):  # a loop of links, a name that no system takes
                real, own = start.resolve(), self._home.resolve()
                for root in self._roots:
                    above = root.resolve()
                    if real.is_relative_to(above) and not real.is_relative_to(own) and not _is_secret(real, above):
                        return above, real
        allowed = ", ".join(label(root, 200) for root in self.names)
        raise ToolRefused(
            f"{label(path, 200)} is not in a directory that may be read.", hint=f"Allowed: {allowed or 'none'}."
        )

    def open(self, path: str) -> int:
        """A descriptor of what a path names. Raises `ToolRefused` and `ToolFailed`."""
        root, real = self.find(path)
        try:
            return _open_below(root, real)
        except OSError as error:
            reason = error.strerror or "the path is not valid"
            raise ToolFailed(f"{label(path, 200)} cannot be opened: {reason}.") from error

    def _starts(self, path: str) -> list[Path]:
        """Where a path may begin: at the file system's root, or at each of the allowed ones, where it exists first."""
        given = _expanded(path) if path.startswith("~") else Path(path)
        if given.is_absolute():
            return [given]
        return sorted((root / given for root in self._roots), key=_exists, reverse=True)


def require(descriptor: int, *, directory: bool, path: str) -> os.stat_result:
    """What a descriptor is of. Raises `ToolFailed` unless it is a directory, or a regular file."""
    status = os.fstat(descriptor)
    if directory and not stat.S_ISDIR(status.st_mode):
        raise ToolFailed(f"{label(path, 200)} is no directory.", hint="Read it with read_file.")
    if not directory and stat.S_ISDIR(status.st_mode):
        raise ToolFailed(f"{label(path, 200)} is a directory.", hint="Look into it with list_dir.")
    if not directory and not stat.S_ISREG(status.st_mode):
        raise ToolRefused(f"{label(path, 200)} is no regular file: devices, pipes and sockets are not read.")
    return status


def _expanded(path: str) -> Path:
    with suppress(RuntimeError):  # no home directory is known
        return Path(path).expanduser().absolute()
    return Path(path).absolute()


def _exists(path: Path) -> bool:
    with suppress(OSError, ValueError):
        return path.exists()
    return False


def _is_secret(real: Path, root: Path) -> bool:
    return any(part.casefold() in SECRET_NAMES for part in real.relative_to(root).parts)


def _open_below(root: Path, real: Path) -> int:
    """Open a resolved path from its root on, following no link that has come since."""
    if os.open not in os.supports_dir_fd:
        return os.open(real, _STEP)
    here = os.open(root, _STEP)
    for part in real.relative_to(root).parts:
        try:
            below = os.open(part, _STEP, dir_fd=here)
        finally:
            os.close(here)
        here = below
    return here
