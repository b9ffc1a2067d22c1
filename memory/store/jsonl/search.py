"""Search by text and by vector, and what still waits for a vector. Vectors are kept as lines of base64."""

import base64
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from memory.store.embeddings import check_width
from memory.store.filters import ANYTHING, Filter, Only
from memory.store.jsonl.log import VECTORS
from memory.store.jsonl.parts import JSONLPart
from memory.store.jsonl.state import to_line
from memory.store.jsonl.vectors import digest
from memory.store.messages import is_searched
from memory.store.search import query_terms
from memory.store.vectors import checked
from memory.types import FORGOTTEN, Candidate, ItemKind, MemoryStatus, Message, Scope

if TYPE_CHECKING:
    from memory.provider.base import Vectors

LEAST_LENGTH, LEAST_BYTES = 10, 15
"""A message of so many characters or bytes of UTF-8 is worth a vector: ten letters, or five Chinese characters."""


class SearchPart(JSONLPart):
    """The methods about finding things."""

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
        with self._log.reading():
            for kind in dict.fromkeys(kinds):
                hits = self._state.texts[kind].search(wanted, self._passing(kind, where), limit)
                found += [Candidate(kind, item_id, score) for item_id, score in hits]
        found.sort(key=lambda candidate: -candidate.score)
        return found[:limit]

    def search_vector(
        self,
        query: "Vectors",
        *,
        model: str,
        kinds: Sequence[ItemKind],
        limit: int = 50,
        session_id: str | None = None,
        exclude_session: str | None = None,
        scope: Scope | None = None,
        branches: Sequence[str] | None = None,
        status: Sequence[MemoryStatus] | None = ("active",),
        only: Only = ANYTHING,
    ) -> list[Candidate]:
        """Nearest items by cosine, best first, among vectors that `model` made; `query` has shape (width,)."""
        wanted = checked([query], 1)[0]
        where = Filter(session_id, exclude_session, scope, branches, status, only)
        found: list[Candidate] = []
        if limit < 1:
            return found
        with self._log.reading():
            width = self._state.vectors.width(model)
            if width is None:
                return found
            check_width(model, width, len(wanted))
            for kind in dict.fromkeys(kinds):
                hits = self._state.vectors.nearest(kind, model, wanted, self._passing(kind, where), limit)
                found += [Candidate(kind, item_id, score) for item_id, score in hits]
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
        with self._log.reading():
            state = self._state
            if "message" in kinds:
                shown = (m for m in state.messages.values() if is_searched(m.role, m.state, m.metadata))
                found += [(m.timestamp, m.id, "message") for m in shown if not m.metadata.get(FORGOTTEN)]
            if "short_term" in kinds:
                found += [(summary.updated_at, summary.id, "short_term") for summary in state.summaries.values()]
            if "long_term" in kinds:
                found += [(memory.updated_at, memory.id, "long_term") for memory in state.memories.values()]
            passing = sorted((one for one in found if state.passes(one[2], one[1], where)), reverse=True)
        return [Candidate(kind, item, 0.0) for _, item, kind in passing[: max(limit, 0)]]

    def document_frequency(self, terms: Sequence[str]) -> tuple[int, dict[str, int]]:
        """How many texts there are in all, and in how many each (normalised) term occurs: for coverage weights."""
        with self._log.reading():
            indexes = self._state.texts.values()
            return sum(map(len, indexes)), {term: sum(index.count(term) for index in indexes) for term in terms}

    def waiting_for_embedding(self, *, model: str, limit: int = 100) -> list[tuple[ItemKind, int, str]]:
        """Items without a vector of `model`: kind, id and text, oldest first. Finished messages of 10 characters
        or more (15 bytes: five Chinese characters) by user and assistant, all summaries (neither of incognito
        sessions), all memories not trashed."""
        with self._log.reading():
            found = sorted(self._waiting(model), key=lambda item: item[0])
        return [(kind, item_id, text) for _, kind, item_id, text in found[: max(limit, 0)]]

    def count_waiting(self, *, model: str) -> int:
        """How many items `waiting_for_embedding` would give without a limit."""
        with self._log.reading():
            return sum(1 for _ in self._waiting(model))

    def embedding_model(self) -> tuple[str, int] | None:
        """The model that `has_embedding` speaks of, the last one that gave vectors, and their width; `None` before the
        first.
        """
        with self._log.reading():
            model = self._state.vectors.current
            width = self._state.vectors.width(model)
        return None if width is None else (model, width)

    def put_embeddings(self, items: Sequence[tuple[ItemKind, int]], vectors: "Vectors", *, model: str) -> int:
        """Store vectors (shape (len(items), width)), set `has_embedding`; items that are gone are left out.

        A row that is not finite, is zero, or has another width than `model`'s earlier ones: `InvalidVectorError`,
        nothing stored. The first vectors of another model make it the current one.
        """
        if not items:
            return 0
        matrix = checked(vectors, len(items))
        with self._log.writing() as append:
            known = self._state.vectors.width(model)
            if known is not None:
                check_width(model, known, matrix.shape[1])
            texts = [self._state.text_of(kind, item_id) for kind, item_id in items]
            kept = [place for place, text in enumerate(texts) if text is not None]
            keys = [[*items[place], digest(texts[place] or "")] for place in kept]
            data = base64.b64encode(matrix[kept].astype("<f4").tobytes()).decode()
            append(VECTORS, to_line("vectors", {"model": model, "items": keys, "vectors": data}))
            return len(kept)

    def _passing(self, kind: ItemKind, where: Filter) -> Callable[[int], bool]:
        return lambda item_id: self._state.passes(kind, item_id, where)

    def _waiting(self, model: str) -> Iterator[tuple[str, ItemKind, int, str]]:
        """Age, kind, id and text."""
        state, has = self._state, self._state.vectors.has
        hidden = {session.id for session in state.sessions.values() if session.incognito}
        for message in state.messages.values():
            if (
                _worth_a_vector(message)
                and message.session_id not in hidden
                and not has(("message", message.id), model)
            ):
                yield message.timestamp, "message", message.id, message.content
        for summary in state.summaries.values():
            if summary.session_id not in hidden and not has(("short_term", summary.id), model):
                yield summary.created_at, "short_term", summary.id, summary.content
        for memory in state.memories.values():
            if memory.status != "trashed" and not has(("long_term", memory.id), model):
                yield memory.created_at, "long_term", memory.id, memory.content


def _worth_a_vector(message: Message) -> bool:
    finished = is_searched(message.role, message.state, message.metadata)
    text = message.content
    return finished and (len(text) >= LEAST_LENGTH or len(text.encode(errors="replace")) >= LEAST_BYTES)
