"""What the user agreed to of the MCP servers' tools: a small file in the home, for its owner only."""

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memory.errors import MCPError


class KnownTools:
    """Server → tool → description and parameters, as they were agreed to. Blocks: call it in a thread."""

    def __init__(self, home: Path) -> None:
        """`home`: orca's own directory."""
        self._path = home / "mcp-tools.json"
        self._writing = threading.Lock()

    def of(self, server: str) -> dict[str, Any]:
        """What was agreed to of a server's tools; nothing when the file cannot be read: then it is asked again."""
        found = self._read().get(server)
        return found if isinstance(found, dict) else {}

    def keep(self, server: str, tools: Mapping[str, Any]) -> None:
        """Set what was agreed to of a server's tools. Raises `MCPError`."""
        with self._writing:
            content = json.dumps(self._read() | {server: dict(tools)}, ensure_ascii=False, indent=1)
            new = self._path.with_name(f"{self._path.name}.{os.getpid()}.new")
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    file.write(content)
                new.replace(self._path)
            except OSError as error:
                new.unlink(missing_ok=True)
                raise MCPError(
                    f"What you agreed to cannot be kept ({error.strerror}).", hint=f"Look at {self._path.parent}."
                ) from error

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}
