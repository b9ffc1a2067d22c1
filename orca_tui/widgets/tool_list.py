"""Tools, permissions and MCP servers as one list."""

from collections.abc import Hashable, Sequence
from functools import partial

from textual.content import Content
from textual.message import Message

from memory.text import label
from memory.tools.mcp_tools import ServerReport
from orca_tui.core_words import error_said
from orca_tui.i18n import _
from orca_tui.tool_picture import Picture
from orca_tui.widgets.line_list import LineList, Row, split_line, text_row, wrapped_rows

Key = tuple[str, str]
"""Of an entry: `tool`, `always`, `session` or `server`, and its name."""


class ToolList(LineList):
    """Rows with keys `(kind, name)`."""

    class Chosen(Message):
        """Enter on an entry."""

        def __init__(self, kind: str, name: str) -> None:
            super().__init__()
            self.kind, self.name = kind, name

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._picture: Picture | None = None

    def show(self, picture: Picture) -> None:
        """How it is now."""
        self._picture = picture
        self.rebuild()

    @property
    def chosen(self) -> Key | None:
        """What is under the cursor."""
        key = self.cursor_key
        return key if isinstance(key, tuple) else None

    def choose(self, key: Hashable) -> None:
        """Tell the screen."""
        if isinstance(key, tuple):
            self.post_message(self.Chosen(*key))

    def build(self, width: int) -> Sequence[Row]:
        """Three sections."""
        shown = self._picture
        if shown is None:
            return [text_row("…", "$muted")]
        rows: list[Row] = [_head(_("Tools"))]
        if not shown.enabled:
            rows += wrapped_rows(_("All are off: [tools] enabled = false"), width, "$warning")
        for line in shown.tools:
            rows.append(Row(partial(_tool, line.name, line.description, line.why_off, width), ("tool", line.name)))
        rows += [text_row(), _head(_("Allowed without a question"))]
        for entry in shown.always:
            rows.append(Row(partial(_entry, entry, _("always"), width), ("always", entry)))
        for entry in shown.session:
            rows.append(Row(partial(_entry, entry, _("in this session"), width), ("session", entry)))
        if not shown.always and not shown.session:
            rows += wrapped_rows(_("Nothing. What you allow for longer than one call stands here."), width, "$muted")
        rows += [text_row(), _head(_("MCP servers"))]
        for server in shown.servers:
            rows += self._server_rows(server, width)
        if not shown.servers:
            rows += wrapped_rows(_("None is in use. Add one to config.toml: [mcp.NAME]"), width, "$muted")
        return rows

    def _server_rows(self, server: ServerReport, width: int) -> list[Row]:
        state = {
            "waiting": _("not started yet"),
            "starting": _("starting …"),
            "ready": _("works"),
            "failed": _("failed"),
        }[server.state]
        style = {"ready": "$success", "failed": "$error"}.get(server.state, "$muted")
        key = ("server", server.name)
        told = Content.styled(label(server.name, 60), "bold") + Content.styled(f"  {state}", style)
        if server.state == "ready":
            counts = _("{n} offered, {w} to agree to", n=len(server.offered), w=len(server.waiting))
            told += Content.styled(f" · {counts}", "$muted")
        rows = [Row(lambda: told.truncate(width, ellipsis=True), key)]
        if server.problem is not None:
            rows.append(text_row(f"  {label(error_said(server.problem), 300)}", "$error", key))
        rows += [text_row(f"  ? {label(name, 80)}", "$warning", key) for name in server.waiting]
        return rows


def _head(text: str) -> Row:
    return text_row(text, "bold $heading")


def _tool(name: str, description: str, why_off: str, width: int) -> Content:
    sign = ("○ ", "$muted") if why_off else ("● ", "$success")
    about = why_off or label(description[:400])
    told = Content.assemble(sign, (label(name, 64), "bold" if not why_off else "$muted"), (f"  {about}", "$muted"))
    return told.truncate(width, ellipsis=True)


def _entry(entry: str, how_long: str, width: int) -> Content:
    return split_line(Content(label(entry, 200)), Content.styled(how_long, "$muted"), width)
