"""What is being written, kept on disk: what was not sent yet is in the composer again after a crash or a restart.

Nothing is sent from here. What of the text was pasted is kept with it, so that it does not count as typed afterwards.
"""

import asyncio
import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orca_tui.outgoing import Outgoing
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
    files: tuple[str, ...] = ()
    """Paths of what goes with it."""
    before: tuple["Piece", ...] = ()
    """What was being written before an edit, and messages that waited: texts that come before this one."""

    def joined(self) -> "Draft":
        """All of it as one text: nothing waits any more after a restart."""
        pieces = [*self.before, Piece(self.text, self.pasted, self.files)]
        text = "\n\n".join(piece.text for piece in pieces if piece.text)
        pasted = tuple(part for piece in pieces for part in piece.pasted)
        files = dict.fromkeys(path for piece in pieces for path in piece.files)
        return Draft(text, pasted, self.incognito, tuple(files))


@dataclass(frozen=True, slots=True)
class Piece:
    """One text of a draft."""

    text: str
    pasted: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def read_draft(home: "Home") -> Draft:
    """The draft of a home; an empty one when there is none that can be read."""
    try:
        data = json.loads(_path(home).read_bytes())
        if not isinstance(data["text"], str) or not isinstance(data["pasted"], list):
            return Draft()
        before = data.get("before")
        pieces = [
            Piece(str(one.get("text") or ""), _texts(one.get("pasted")), _texts(one.get("files")))
            for one in (before if isinstance(before, list) else ())
            if isinstance(one, dict)
        ]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return Draft()
    incognito = data.get("incognito") is True
    return Draft(data["text"], _texts(data["pasted"]), incognito, _texts(data.get("files")), tuple(pieces))


def _texts(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def write_draft(home: "Home", draft: Draft) -> None:
    """Put `draft` in the place of the one before, readable by its owner only; an empty one goes. Raises `OSError`."""
    path = _path(home)
    if not (draft.text or draft.files or draft.before):
        path.unlink(missing_ok=True)
        return
    home.ensure()
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            json.dump(asdict(draft), file)
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
        self._lost: tuple[str, ...] = ()
        """Paths of files that are being read again."""
        self._due = 0.0
        self._timer: Timer | None = None
        self._writing = asyncio.Lock()

    def restore(self) -> None:
        """Put the draft from disk into the empty composer; what was not to be remembered is not when it is sent now."""
        self._kept = read_draft(self._app.home)
        draft = self._kept.joined()
        if self._kept == Draft():
            return
        if draft.incognito:
            self._app.chat.go_incognito()
        self._app.chat.composer.restore(draft.text, draft.pasted)
        self._lost = draft.files
        if draft.files:
            self._app.spawn("files", self._attach_again, draft.files)

    async def _attach_again(self, paths: Sequence[str]) -> None:
        """The files of the draft, as far as they are still there."""
        from orca_tui.attaching import read_again

        found, problems = await asyncio.to_thread(read_again, paths)
        self._lost = ()
        self._app.writing.attach(found)
        for problem in problems:
            self._app.tell_error(problem)

    def changed(self) -> None:
        """The text changed: save it when typing stops; forget it at once when it was sent or taken out."""
        if not self._app.chat.composer.text:
            if self._kept != self._now():
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
            draft = self._now()
            if draft == self._kept:
                return
            try:
                await asyncio.to_thread(write_draft, self._app.home, draft)
                self._kept = draft
            except OSError as error:
                write_log(self._app.home, f"draft: {error.strerror}")

    def _now(self) -> Draft:
        app = self._app
        composer, edit, waiting = app.chat.composer, app.writing.editing, app.queue.all
        text = composer.value
        pieces = [*([edit.draft] if edit is not None else []), *(one.outgoing.as_written for one in waiting)]
        return Draft(
            text,
            composer.pasted_in(text),
            app.chat.target.incognito or any(one.target.incognito for one in waiting),
            tuple(dict.fromkeys([*self._lost, *Outgoing("", (), app.writing.files).paths])),
            tuple(Piece(one.text, one.pasted, one.paths) for one in pieces if one.text or one.files),
        )
