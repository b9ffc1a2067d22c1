"""JSONLStore: the store on plain files. Its methods live in the parts; here is what spans them."""

from typing import Any

from memory.store.jsonl.conversations import ConversationPart
from memory.store.jsonl.memories import MemoryPart
from memory.store.jsonl.runs import RunPart
from memory.store.jsonl.search import SearchPart


class JSONLStore(ConversationPart, RunPart, MemoryPart, SearchPart):
    """Implements `memory.store.base.Store`, whose docstrings are the contract, in the files of a home.

    Everything is held in memory and searched there, exactly; each change is one line, on the disk before a method
    returns. Several processes may share a home: they write in turn and see each other's lines.
    """

    def stats(self) -> dict[str, int]:
        """Counts of `sessions`, `messages`, `short_term`, `long_term`, `embeddings`; size of the files: `bytes`."""
        state = self._state
        with self._log.reading():
            return {
                "sessions": len(state.sessions),
                "messages": len(state.messages),
                "short_term": len(state.summaries),
                "long_term": len(state.memories),
                "embeddings": len(state.vectors),
                "bytes": self._log.size,
            }

    def capabilities(self) -> dict[str, Any]:
        """What works here; beside the protocol's names `damaged_lines`: how many could not be read."""
        with self._log.reading():
            damaged = self._log.damaged
        return {
            "backend": "jsonl",
            "path": str(self._log.home),
            "sqlite_version": "not used",
            "fts5": False,
            "sqlite_vec": "not used",
            "schema_version": 1,
            "damaged_lines": damaged,
        }

    def close(self) -> None:
        """Finish writes and let go of the files. Safe to call twice."""
        self._log.close()
