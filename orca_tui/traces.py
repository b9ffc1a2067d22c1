"""The runs of subagents as the screen knows them: their rows, and what those on their way have said up to now.

Deltas only add to lists here; who looks is told at most `RATE` times a second, and not at all while nothing comes. What
is kept of a stream is bounded; the rows hold what is stored.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from memory.events import SubagentDelta, SubagentFinished, SubagentStarted
    from memory.types import SubagentRun

RATE = 8
"""Times a second that watchers are told."""
MAX_KEPT = 200_000
"""Characters of one run's stream that are kept, text and reasoning each; the oldest go first."""
MAX_STEPS = 200
MAX_STREAMS = 64
"""Streams of runs that are over which are kept for their reasoning and steps."""

Watcher = Callable[[set[int]], None]
"""Gets the ids of the runs that changed."""


@dataclass(slots=True)
class Stream:
    """What a run has said while somebody listened. All text is foreign."""

    pieces: dict[Literal["text", "reasoning"], list[str]] = field(default_factory=lambda: {"text": [], "reasoning": []})
    sizes: dict[Literal["text", "reasoning"], int] = field(default_factory=lambda: {"text": 0, "reasoning": 0})
    fed: dict[Literal["text", "reasoning"], int] = field(default_factory=lambda: {"text": 0, "reasoning": 0})
    """Characters that have come in all."""
    steps: list[str] = field(default_factory=list)
    tokens: int = 0
    """Used up to now."""

    def add(self, kind: Literal["text", "reasoning"], text: str) -> None:
        """More of it; what is too old goes."""
        pieces = self.pieces[kind]
        pieces.append(text[-MAX_KEPT:])
        self.fed[kind] += len(text)
        self.sizes[kind] += len(pieces[-1])
        if self.sizes[kind] > 2 * MAX_KEPT:
            kept = "".join(pieces)[-MAX_KEPT:]
            pieces[:] = [kept]
            self.sizes[kind] = len(kept)

    def end_paragraph(self) -> None:
        """What it says next is another reply."""
        if self.pieces["text"] and not self.pieces["text"][-1].endswith("\n"):
            self.add("text", "\n\n")

    def since(self, kind: Literal["text", "reasoning"], seen: int) -> tuple[str, int]:
        """What came after the first `seen` characters, as far as it is kept, and how many have come now."""
        new = self.fed[kind] - seen
        if new <= 0:
            return "", self.fed[kind]
        joined = "".join(self.pieces[kind])
        self.pieces[kind][:] = [joined]
        return joined[-new:], self.fed[kind]


class Traces:
    """The runs of all sessions that were looked at. For the event loop's thread."""

    def __init__(self, later: Callable[[float, Callable[[], None]], object]) -> None:
        """`later` calls a function after some seconds, once."""
        self._later = later
        self._runs: dict[int, SubagentRun] = {}
        self._streams: OrderedDict[int, Stream] = OrderedDict()
        self._changed: set[int] = set()
        self._is_due = False
        self._watchers: list[Watcher] = []

    # what happens

    def take(self, event: "SubagentStarted | SubagentDelta | SubagentFinished") -> None:
        """Something happened to a run."""
        from memory.events import SubagentDelta, SubagentFinished, SubagentStarted

        match event:
            case SubagentDelta(run_id=run_id, kind=kind, text=text):
                stream = self._stream(run_id)
                stream.tokens = max(stream.tokens, event.tokens)
                if kind == "step":
                    stream.end_paragraph()
                    stream.steps.append(text)
                    del stream.steps[:-MAX_STEPS]
                else:
                    stream.add(kind, text)
                self._tell_later(run_id)
            case SubagentStarted(run=run) | SubagentFinished(run=run):
                self._runs[run.id] = run
                self._stream(run.id)
                self._drop_old()
                self._tell_later(run.id)

    def learn(self, runs: "Iterable[SubagentRun]") -> None:
        """Rows as they are stored; a run that has ended here is not begun again by an older row."""
        for run in runs:
            known = self._runs.get(run.id)
            if known is None or known.state == "running":
                self._runs[run.id] = run
                self._tell_later(run.id)

    def watch(self, watcher: Watcher) -> Callable[[], None]:
        """Tell `watcher` of changes. Returns the way out."""
        self._watchers.append(watcher)

        def leave() -> None:
            if watcher in self._watchers:
                self._watchers.remove(watcher)

        return leave

    # what is known

    def of(self, session_id: str | None) -> "list[tuple[int, SubagentRun]]":
        """The runs of a session as a tree: callers before those that they called, each with its depth from 0."""
        runs = {run.id: run for run in self._runs.values() if run.session_id == session_id}
        below: dict[int | None, list[SubagentRun]] = {}
        for run in sorted(runs.values(), key=lambda run: run.id):
            below.setdefault(run.parent_run_id if run.parent_run_id in runs else None, []).append(run)
        found: list[tuple[int, SubagentRun]] = []
        waiting = [(0, run) for run in reversed(below.get(None, []))]
        while waiting:
            depth, run = waiting.pop()
            found.append((depth, run))
            waiting += [(depth + 1, child) for child in reversed(below.get(run.id, []))]
        return found

    def run(self, run_id: int) -> "SubagentRun | None":
        """One run."""
        return self._runs.get(run_id)

    def stream(self, run_id: int) -> Stream | None:
        """What it said while somebody listened; `None` when nobody did."""
        return self._streams.get(run_id)

    def running(self, session_id: str | None) -> "list[SubagentRun]":
        """Those of a session that are on their way."""
        return [run for run in self._runs.values() if run.session_id == session_id and run.state == "running"]

    def below(self, message_ids: Iterable[int]) -> "list[SubagentRun]":
        """The runs that messages called for, in the order in which they began."""
        wanted = set(message_ids)
        return sorted((run for run in self._runs.values() if run.parent_msg_id in wanted), key=lambda run: run.id)

    def tokens(self, run: "SubagentRun") -> tuple[int, int]:
        """What a run has used itself, and with those that it called."""
        if run.state != "running":
            return run.token_count, run.subtree_tokens
        own = self._own(run)
        return own, own + sum(self.tokens(child)[1] for child in self._children(run.id))

    def step(self, run: "SubagentRun") -> str:
        """What a run does now (foreign text, or an English source of `_`); empty when it does not say."""
        stream = self._streams.get(run.id)
        return stream.steps[-1] if stream and stream.steps and run.state == "running" else ""

    def _own(self, run: "SubagentRun") -> int:
        stream = self._streams.get(run.id)
        return stream.tokens if stream else run.token_count

    def _children(self, run_id: int) -> "list[SubagentRun]":
        return [run for run in self._runs.values() if run.parent_run_id == run_id]

    def _stream(self, run_id: int) -> Stream:
        if run_id not in self._streams:
            self._streams[run_id] = Stream()
        return self._streams[run_id]

    def _drop_old(self) -> None:
        over = [run_id for run_id in self._streams if (run := self._runs.get(run_id)) and run.state != "running"]
        for run_id in over[: max(0, len(over) - MAX_STREAMS)]:
            del self._streams[run_id]

    def _tell_later(self, run_id: int) -> None:
        self._changed.add(run_id)
        if not self._is_due:
            self._is_due = True
            self._later(1 / RATE, self._tell)

    def _tell(self) -> None:
        self._is_due = False
        changed, self._changed = self._changed, set()
        for watcher in tuple(self._watchers):
            watcher(changed)
