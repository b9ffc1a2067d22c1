"""`read_file` and `list_dir`: look into the directories that the settings allow (`tools.roots`)."""

import asyncio
import os
import stat
from collections.abc import Mapping
from itertools import islice
from typing import Any

from memory.errors import ToolFailed
from memory.provider.base import ToolSpec
from memory.text import label
from memory.tools.base import Decision, PermissionRequest, ToolContext, ToolResult
from memory.tools.gate import shown
from memory.tools.roots import Roots, require

MAX_BYTES = 10_000_000
"""Largest file that is read."""
MAX_LINES = 2_000
"""Lines that one call gives."""
MAX_ENTRIES = 500
"""Names that one call gives."""
REASON = "It would read in a directory that the settings allow ([tools] roots)."
_CHOICES: tuple[Decision, ...] = ("once", "session", "always", "deny")
_HEADER = 8192
"""Bytes in which a NUL tells that a file is no text."""


class _FileTool:
    """What both have: the roots, and what is asked. To read what the user has opened to orca sends nothing out."""

    reaches_outside = False
    name = ""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots

    def permission(self, arguments: Mapping[str, Any], context: ToolContext) -> PermissionRequest | None:  # noqa: ARG002
        """Asked for each root; raises `ToolRefused` for what lies below none."""
        root, _ = self._roots.find(str(arguments.get("path") or "."))
        return PermissionRequest(self.name, str(root), shown(arguments), REASON, _CHOICES)

    @property
    def _where(self) -> str:
        return f"Allowed directories: {', '.join(label(root, 200) for root in self._roots.names)}."


class ReadFile(_FileTool):
    """Implements `memory.tools.base.Tool`."""

    name = "read_file"

    @property
    def spec(self) -> ToolSpec:
        """How it is offered."""
        return ToolSpec(
            self.name,
            f"Read a text file. {self._where}",
            {
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Absolute, or relative to an allowed directory"},
                    "first_line": {"type": "integer", "description": "Where to begin; 1 by default"},
                    "lines": {"type": "integer", "description": f"How many lines; {MAX_LINES} by default and at most"},
                },
                "required": ["path"],
            },
        )

    async def run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:  # noqa: ARG002
        """The text of a file, or a part of it. Raises `ToolFailed` and `ToolRefused`."""
        first = max(1, int(arguments.get("first_line") or 1))
        lines = min(MAX_LINES, max(1, int(arguments.get("lines") or MAX_LINES)))
        return ToolResult(await asyncio.to_thread(self._read, str(arguments["path"]), first, lines))

    def _read(self, path: str, first: int, lines: int) -> str:
        descriptor = self._roots.open(path)
        try:
            size = require(descriptor, directory=False, path=path).st_size
            if size > MAX_BYTES:
                raise ToolFailed(
                    f"{label(path, 200)} has {size / 1e6:.1f} MB; at most {MAX_BYTES / 1e6:.0f} MB are read."
                )
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                raw = file.read(MAX_BYTES)
        except OSError as error:
            raise ToolFailed(f"{label(path, 200)} cannot be read: {error.strerror}.") from error
        finally:
            os.close(descriptor)
        whole = _decode(raw, path).splitlines()
        part = whole[first - 1 : first - 1 + lines]
        if not part:
            return f"[{label(path, 200)} has {len(whole)} lines]" if whole else f"[{label(path, 200)} is empty]"
        last = first - 1 + len(part)
        note = f"\n[lines {first} to {last} of {len(whole)}]" if len(part) < len(whole) else ""
        return "\n".join(part) + note


class ListDir(_FileTool):
    """Implements `memory.tools.base.Tool`."""

    name = "list_dir"

    @property
    def spec(self) -> ToolSpec:
        """How it is offered."""
        return ToolSpec(
            self.name,
            f"List a directory: one name a line, directories end in /. {self._where}",
            {
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Absolute, or relative to an allowed directory"}
                },
                "required": ["path"],
            },
        )

    async def run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:  # noqa: ARG002
        """The names in a directory, with sizes. Raises `ToolFailed` and `ToolRefused`."""
        return ToolResult(await asyncio.to_thread(self._list, str(arguments["path"]) or "."))

    def _list(self, path: str) -> str:
        descriptor = self._roots.open(path)
        try:
            require(descriptor, directory=True, path=path)
            target = descriptor if os.scandir in os.supports_fd else self._roots.find(path)[1]
            with os.scandir(target) as entries:
                found = [(entry.name, _kind(entry)) for entry in islice(entries, MAX_ENTRIES + 1)]
        except OSError as error:
            raise ToolFailed(f"{label(path, 200)} cannot be listed: {error.strerror}.") from error
        finally:
            os.close(descriptor)
        lines = [label(name, 300) + kind for name, kind in sorted(found[:MAX_ENTRIES])]
        more = [f"[only the first {MAX_ENTRIES} names]"] if len(found) > MAX_ENTRIES else []
        return "\n".join([*lines, *more]) or "[the directory is empty]"


def _kind(entry: "os.DirEntry[str]") -> str:
    """What a name is, behind it."""
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return ""
    if stat.S_ISLNK(status.st_mode):
        return "  (link)"
    return "/" if stat.S_ISDIR(status.st_mode) else f"  {status.st_size}"


def _decode(raw: bytes, path: str) -> str:
    """Text in UTF-8, UTF-16 with its mark, or GB 18030. Raises `ToolFailed` for what is no text."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    elif b"\0" in raw[:_HEADER]:
        raise ToolFailed(f"{label(path, 200)} is no text file.")
    else:
        encodings = ["utf-8-sig", "gb18030"]
    for encoding in encodings:
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise ToolFailed(f"{label(path, 200)} is no text file.")
