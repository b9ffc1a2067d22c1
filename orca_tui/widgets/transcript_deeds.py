"""What keys and clicks do with the entry under the cursor: fold, look at its source, choose links and code, or ask the
app for more (`Asked`).
"""

from collections.abc import Callable

from textual import events
from textual.message import Message

from orca_tui.message_keys import in_force
from orca_tui.render.entry import Entry
from orca_tui.render.folding import View
from orca_tui.render.ledger import Place
from orca_tui.render.palette import GUTTER
from orca_tui.widgets.passing_on import passed_on
from orca_tui.widgets.transcript_cursor import TranscriptCursor


class TranscriptDeeds(TranscriptCursor):
    """A transcript whose entries can be dealt with."""

    opener: Callable[[], None] | None = None
    """Opens the search and gives it the focus, at once."""
    has_runs: Callable[[str], bool] = staticmethod(lambda key: False)  # noqa: ARG005
    """Whether agents worked for the entry with a key."""

    class Asked(Message, namespace="transcript"):
        """Something is to be done with an entry that is not the transcript's own affair."""

        def __init__(self, deed: str, key: str, text: str = "") -> None:
            super().__init__()
            self.deed = deed
            """Name in `orca_tui.message_keys`; `nothing` when a key has no meaning here."""
            self.key = key
            """The entry's; empty when there is none."""
            self.text = text
            """What is to be copied; for `copy_code` the source that has it."""

    def possible(self) -> list[str]:
        """Names of the deeds that make sense now, the most useful first."""
        entry = self.current
        if entry is None:
            return []
        target, layout = self.target, self._ledger.lay(self._cursor)
        is_reply = entry.kind == "assistant" and entry.state != "streaming"
        is_message = entry.kind not in ("notice", "error")
        offered = {
            "open": target is not None,
            "fold": layout.foldable,
            "copy": bool(entry.text),
            "edit": entry.kind == "user" and entry.state != "queued",
            "retry": self._is_answerable(entry),
            "continue": self._may_go_on(entry),
            "fork_before": bool(entry.fork[1]),
            "fork_after": bool(entry.fork[1]),
            "traces": self.has_runs(entry.key),
            "copy_code": has_code(entry),
            "next_target": bool(self.target_count()[1]),
            "search": True,
            "raw": is_message and bool(entry.text),
            "why": is_reply and bool(entry.text),
            "details": is_message and entry.state != "queued",
            "tree": is_message and entry.state != "queued",
            "good": is_reply and bool(entry.text),
            "bad": is_reply and bool(entry.text),
        }
        return [name for name, makes_sense in offered.items() if makes_sense]

    def _is_answerable(self, entry: Entry) -> bool:
        """Whether it can be answered again, or is an answer: also one that is nothing but its error."""
        if entry.kind == "error":
            return entry.key.removesuffix("-error").isdigit()
        return entry.kind in ("user", "assistant") and entry.state not in ("streaming", "queued")

    def _may_go_on(self, entry: Entry) -> bool:
        """Whether it is the newest reply, and not whole."""
        below = (item.entry for item in self._ledger.items[self._cursor + 1 :])
        if any(one.kind in ("user", "assistant", "tool") and one.state != "queued" for one in below):
            return False
        if entry.kind == "error":
            return self._is_answerable(entry)
        ended = entry.state not in ("streaming", "complete") or bool(entry.note)
        return entry.kind == "assistant" and entry.state != "streaming" and ended

    def action_deed(self, name: str) -> None:
        """A key of `orca_tui.message_keys`."""
        entry = self.current
        if name in ("next_target", "previous_target"):
            self._choose(1 if name == "next_target" else -1)
        elif name == "open":
            self._open()
        elif name == "search":
            self._ask("search")
        elif entry is None or name not in self.possible():
            self._ask("nothing")
        elif name == "fold":
            self.toggle()
        elif name == "raw":
            view = self._ledger.items[self._cursor].view
            self._look(self._cursor, view._replace(raw=not view.raw))
        elif name in ("copy", "copy_code"):
            self._ask(name, entry.text)
        else:
            self._ask(name)

    def on_key(self, event: events.Key) -> None:
        """What is typed behind the key that opens the search is searched for, however fast it comes."""
        if passed_on(self, event) or self.opener is None:
            return
        if event.key in in_force("search", self.app._keymap):
            event.stop()
            event.prevent_default()
            self.opener()

    def _ask(self, deed: str, text: str = "") -> None:
        entry = self.current
        self.post_message(self.Asked(deed, entry.key if entry is not None else "", text))

    def _open(self) -> None:
        target = self.target
        if target is None:
            self.toggle()
        elif target.kind == "link":
            self.post_message(self.LinkClicked(self, target.text))
        else:
            self._ask("copy", target.text)

    def _choose(self, direction: int) -> None:
        """With Tab one leaves the transcript behind the last target; with the brackets one goes around."""
        if not self.step_target(direction, around=True):
            self._ask("nothing")

    def action_tab(self, direction: int) -> None:
        """The next (1) or previous (-1) target; behind the last one the next part of the screen."""
        if not self.step_target(direction, around=False):
            (self.screen.focus_next if direction > 0 else self.screen.focus_previous)()

    # folding

    def toggle(self) -> None:
        """Fold all of the entry under the cursor, or unfold all when something is folded."""
        if self.current is None:
            return
        layout = self._ledger.lay(self._cursor)
        if not layout.foldable:
            self._ask("nothing")
            return
        opened = not layout.all_open
        self._look(self._cursor, View(thought=opened, text=opened, raw=layout.view.raw))

    def fold(self, index: int, part: str) -> None:
        """Fold or unfold the `thought` or the `text` of an entry."""
        view = self._ledger.items[index].view
        changed = view._replace(thought=not view.thought) if part == "thought" else view._replace(text=not view.text)
        self._look(index, changed)

    def _look(self, index: int, view: View) -> None:
        """Look at an entry in another way; its beginning stays where it is in view, or comes into view."""
        above = self._ledger.row_of(Place(index, 0)) - self.scroll_offset.y
        self._unselect()
        self._ledger.look(index, view)
        self._target = None
        self._follow(False)
        if above >= 0:
            self._place = self._ledger.moved(Place(index, 0), -above)
        elif self._place.entry == index:
            self._place = Place(index, min(self._place.row, self._ledger.heights[index] - 1))
            if not view.text:
                self._place = Place(index, 0)
        self._relaid()
        self._show()
        self.post_message(self.CursorMoved())

    # mouse

    def on_click(self, event: events.Click) -> None:
        """Go to what was clicked; fold or unfold it, or tell which link it was."""
        row = next(self._ledger.rows(self.scroll_offset.y + event.y, 1), None)
        if row is None or self.text_selection is not None:
            return
        index, _at, line = row
        self._set_cursor(index)
        if line.kind:
            event.stop()
            self.fold(index, "thought" if line.kind == "fold" else "text")
            return
        target = self.render_line(event.y).crop(0, event.x).text
        if url := line.link_at(len(target) - GUTTER):
            event.stop()
            self.post_message(self.LinkClicked(self, url))


def has_code(entry: Entry) -> bool:
    """Whether there is likely code to copy in an entry."""
    return entry.kind != "tool" and ("```" in entry.text or "~~~" in entry.text)
