"""What is being written, kept on disk: what was not sent yet is in the composer again after a crash or a restart.

Nothing is sent from here. What of the text was pasted is kept with it, so that it does not count as typed afterwards.
"""

import asyncio
import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orca_tui.terminal import write_log

if TYPE_CHECKING:
    from textual.timer import Timer

    from memory.config import Home
    from orca_tui.app import OrcaApp

SAVE_AFTER = 1.0
"""Seconds without a key after which the text is saved."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A text that is not sent yet, and what of it was pasted."""

    text: str = ""
    pasted: tuple[str, ...] = ()
    incognito: bool = False
    """Whether it was written to a session that is not remembered."""


def read_draft(home: "Home") -> Draft:
    """The draft of a home; an empty one when there is none that can be read."""
    try:
        data = json.loads(_path(home).read_bytes())
        text, pasted, incognito = data["text"], data["pasted"], data.get("incognito") is True
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return Draft()
    if not isinstance(text, str) or not isinstance(pasted, list):
        return Draft()
    return Draft(text, tuple(piece for piece in pasted if isinstance(piece, str)), incognito)


def write_draft(home: "Home", draft: Draft) -> None:
    """Put `draft` in the place of the one before, readable by its owner only; an empty one goes. Raises `OSError`."""
    path = _path(home)
    if not draft.text:
        path.unlink(missing_ok=True)
        return
    home.ensure()
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            json.dump({"text": draft.text, "pasted": draft.pasted, "incognito": draft.incognito}, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _path(home: "Home") -> Path:
    return home.root / "draft.json"


class DraftKeeper:
    """Keeps the draft of one app in step with its composer."""

    def __init__(self, app: "OrcaApp") -> None:
        self._app = app
        self._kept = Draft()
        """What is on disk."""
        self._due = 0.0
        self._timer: Timer | None = None
        self._writing = asyncio.Lock()

    def restore(self) -> None:
        """Put the draft from disk into the empty composer; what was not to be remembered is not when it is sent now."""
        self._kept = read_draft(self._app.home)
        if self._kept.text:
            if self._kept.incognito:
                self._app.chat.go_incognito()
            self._app.chat.composer.restore(self._kept.text, self._kept.pasted)

    def changed(self) -> None:
        """The text changed: save it when typing stops; forget it at once when it was sent or taken out."""
        if not self._app.chat.composer.text:
            if self._kept.text:
                self._app.spawn("draft", self.save)
            return
        self._due = time.monotonic() + SAVE_AFTER
        if self._timer is None:
            self._timer = self._app.set_timer(SAVE_AFTER, self._at_rest)

    def _at_rest(self) -> None:
        left = self._due - time.monotonic()
        if left > 0:
            self._timer = self._app.set_timer(left, self._at_rest)
        else:
            self._timer = None
            self._app.spawn("draft", self.save)

    async def save(self) -> None:
        """Bring the disk up to date. What keeps it from being saved is for the log: writing goes on."""
        async with self._writing:
            composer = self._app.chat.composer
            text = composer.value
            draft = Draft(text, composer.pasted_in(text), self._app.chat.target.incognito)
            if draft == self._kept:
                return
            try:
                await asyncio.to_thread(write_draft, self._app.home, draft)
                self._kept = draft
            except OSError as error:
                write_log(self._app.home, f"draft: {error.strerror}")
