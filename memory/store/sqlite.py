"""SQLiteStore: the store on one SQLite file. Its methods live in the parts; here is what spans them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memory.clock import Clock
from memory.store import fts
from memory.store.acts import ActPart
from memory.store.embeddings import EmbeddingPart
from memory.store.erasing import ErasingPart
from memory.store.filters import ANYTHING, Filter, Only
from memory.store.imports import ImportPart
from memory.store.journal import JournalPart
from memory.store.memories import MemoryPart
from memory.store.messages import MessagePart
from memory.store.migrations import applied
from memory.store.proposals import ProposalPart
from memory.store.provenance import ProvenancePart
from memory.store.run_store import AGENT_RUN
from memory.store.runs import RunPart
from memory.store.search import query_terms
from memory.store.sessions import SessionPart
from memory.store.summaries import SummaryPart
from memory.store.upkeep_log import UpkeepLogPart
from memory.types import FORGOTTEN, Candidate, ItemKind, MemoryStatus, Scope


class SQLiteStore(
    SessionPart,
    MessagePart,
    SummaryPart,
    ImportPart,
    MemoryPart,
    JournalPart,
    EmbeddingPart,
    ProvenancePart,
    ProposalPart,
    RunPart,
    ActPart,
    ErasingPart,
    UpkeepLogPart,
):
    """Implements `memory.store.base.Store` and `memory.store.ledger.Ledger`, whose docstrings are the contract."""

    def __init__(self, path: Path, *, clock: Clock | None = None) -> None:
        super().__init__(path, clock=clock)
        self._catch_up()

    def search_text(
        self,
        query: str,
        *,
        kinds: Sequence[ItemKind],
        limit: int = 50,
        session_id: str | None = None,
        exclude_session: str | None = None,
        scope: Scope | None = None,
        branches: Sequence[str] | None = None,
        status: Sequence[MemoryStatus] | None = ("active",),
        only: Only = ANYTHING,
    ) -> list[Candidate]:
        """Full-text hits, best first. Every string is a legal query; one without a word finds nothing."""
        wanted = query_terms(query)
        if not wanted or limit < 1:
            return []
        where = Filter(session_id, exclude_session, scope, branches, status, only)
        found: list[Candidate] = []
        with self._db.read() as connection:
            for kind in dict.fromkeys(kinds):
                found += fts.search(connection, kind, wanted, where, limit)
        found.sort(key=lambda candidate: -candidate.score)
        return found[:limit]

    def newest(
        self,
        *,
        kinds: Sequence[ItemKind],
        limit: int = 50,
        session_id: str | None = None,
        scope: Scope | None = None,
        branches: Sequence[str] | None = None,
        status: Sequence[MemoryStatus] | None = ("active",),
        only: Only = ANYTHING,
    ) -> list[Candidate]:
        """What a search with these filters could find, the newest first; scores are 0."""
        where = Filter(session_id, None, scope, branches, status, only)
        found: list[tuple[str, int, ItemKind]] = []
        with self._db.read() as connection:
            for kind in dict.fromkeys(kinds):
                tables, condition, values = where.source(kind)
                time = "updated_at"
                if kind == "message":
                    time = "timestamp"
                    condition += " AND item.role IN ('user', 'assistant') AND item.state <> 'streaming'"
                    condition += f" AND item.metadata ->> '{FORGOTTEN}' IS NOT 1"
                    condition += f" AND item.metadata ->> '{AGENT_RUN}' IS NULL"
                query = f"SELECT item.{time}, item.id FROM {tables} WHERE {condition} ORDER BY 1 DESC, 2 DESC LIMIT ?"
                found += [(at, item, kind) for at, item in connection.execute(query, [*values, max(limit, 0)])]
        found.sort(reverse=True)
        return [Candidate(kind, item, 0.0) for _, item, kind in found[: max(limit, 0)]]

    def document_frequency(self, terms: Sequence[str]) -> tuple[int, dict[str, int]]:
        """How many texts there are in all, and in how many each (normalised) term occurs: for coverage weights."""
        with self._db.read() as connection:
            return fts.document_frequency(connection, terms)

    def stats(self) -> dict[str, int]:
        """Counts of `sessions`, `messages`, `short_term`, `long_term`, `embeddings`; size of the file: `bytes`."""
        counted = {
            "sessions": "sessions",
            "messages": "main_messages",
            "short_term": "short_term_memories",
            "long_term": "long_term_memories",
            "embeddings": "embeddings",
        }
        with self._db.read() as connection:
            numbers = {name: connection.execute(f"SELECT count(*) FROM {table}").get for name, table in counted.items()}
            size = connection.pragma("page_count") * connection.pragma("page_size")
        return {**numbers, "bytes": size}

    def capabilities(self) -> dict[str, Any]:
        """What works here: backend, path, sqlite_version, fts5, sqlite_vec (version or reason), schema_version."""
        import apsw

        extension = self._db.vector_extension
        with self._db.read() as connection:
            schema_version = len(applied(connection))
        return {
            "backend": "sqlite",
            "path": str(self._db.path),
            "sqlite_version": apsw.sqlite_lib_version(),
            "fts5": True,  # The schema cannot be made without it.
            "sqlite_vec": extension.version or extension.problem,
            "schema_version": schema_version,
        }

    def foreign_changes(self) -> int:
        """A number that is another one after every commit by another process."""
        return self._db.foreign_changes()

    def close(self) -> None:
        """Finish writes and let go of the file. Safe to call twice."""
        self._db.close()
