"""An editor in which a path behind a command is completed by Tab."""

import re
from collections.abc import Awaitable, Callable, Sequence

from orca_tui.widgets.completion import Entry
from orca_tui.widgets.safe_editor import SafeEditor
from orca_tui.widgets.veil import unveil
from orca_tui.work import start

PATH_COMMAND = re.compile(r"/(attach|import|export (?:md|json)|export|rescue|backup) +(?=[^\n]*\Z)", re.IGNORECASE)
"""Commands that a path follows."""


class PathTyping(SafeEditor):
    """The composer's part about paths."""

    completer: Callable[[str], Awaitable[list[str]]] | None = None
    """Gives what a path that is being typed may go on as."""

    def _show_menu(self, found: Sequence[Entry]) -> None:
        """Offer these; none: close the menu."""
        raise NotImplementedError

    def _path_command(self) -> str | None:
        """The command, with the blank behind it, whose path is being typed."""
        found = PATH_COMMAND.match(self.text)
        return found[0] if found else None

    def _complete_path(self, key: str) -> bool:
        """Tab goes on with a path as far as it is clear, and shows what there is; tells whether it was one."""
        command = self._path_command() if key == "tab" else None
        if command is None or self.completer is None:
            return False
        start(self, "paths", self._find_paths, command, self.text, exclusive=True)
        return True

    async def _find_paths(self, command: str, text: str) -> None:
        if self.completer is None:
            return
        typed = text.removeprefix(command)
        found = await self.completer(unveil(typed))
        if self.text != text:
            return
        common = common_start(found)
        if len(common) > len(typed):
            self._put_path(command, common)
        self._show_menu([(path, "") for path in found] if len(found) > 1 else [])

    def _put_path(self, command: str, path: str) -> None:
        self._replace_via_keyboard(f"{command}{path}", (0, 0), self.document.end)


def common_start(texts: Sequence[str]) -> str:
    """The longest beginning that all share."""
    first, last = min(texts, default=""), max(texts, default="")
    same = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return first[:same]
