"""The messages of one request, exactly as they are sent. Those before the newest are folded; Enter unfolds."""

from collections.abc import Hashable, Sequence
from functools import partial

from textual.content import Content

from memory.provider.base import ChatMessage
from memory.text import clean, label
from orca_tui.figures import count
from orca_tui.i18n import _
from orca_tui.widgets.line_list import LineList, Row, split_line, text_row


class RequestList(LineList):
    """One entry a message."""

    def __init__(self, messages: Sequence[tuple[ChatMessage, int]], *, id: str | None = None) -> None:  # noqa: A002
        """`messages`: each with its tokens."""
        super().__init__(id=id)
        self._messages = messages
        self._open = {len(messages) - 1}

    def on_mount(self) -> None:
        """The newest is what one wants to see."""
        self.call_after_refresh(self.action_last)

    def choose(self, key: Hashable) -> None:
        """Unfold or fold."""
        if isinstance(key, int):
            self._open ^= {key}
            self.rebuild()

    def build(self, width: int) -> Sequence[Row]:
        """Role and tokens, then the text or its first words."""
        rows: list[Row] = []
        for at, (message, tokens) in enumerate(self._messages):
            rows.append(Row(partial(self._head, at, message, tokens, width), at))
            if at in self._open:
                text = Content(clean(message.content).expandtabs(4))
                rows += [Row(lambda line=line: line) for line in text.wrap(max(4, width - 1))]  # type: ignore[misc]
                rows.append(text_row())
        return rows

    def _head(self, at: int, message: ChatMessage, tokens: int, width: int) -> Content:
        opened = at in self._open
        left = Content.assemble(("▾ " if opened else "▸ ", "$muted"), (_(message.role), "bold $heading"))
        if not opened:
            left += Content.styled(f"  {label(message.content[:400], 200)}", "$muted")
        return split_line(left, Content.styled(_("{n} tokens", n=count(tokens)), "$muted"), width)
