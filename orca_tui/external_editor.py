"""The user's own editor on a text: the terminal is the editor's until it ends; replies go on behind it."""

import asyncio
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from memory.errors import OrcaError
from memory.text import label
from orca_tui.i18n import _

if TYPE_CHECKING:
    from orca_tui.app import OrcaApp

LARGEST = 5 * 1024 * 1024
"""Bytes of a text that is taken back."""


def command_of(env: Mapping[str, str]) -> list[str]:
    """The program and its arguments, from `$VISUAL` or `$EDITOR`. Raises `OrcaError` when there is none."""
    chosen = (env.get("VISUAL") or env.get("EDITOR") or "").strip()
    try:
        words = shlex.split(chosen)
    except ValueError:
        words = []
    if not words:
        raise OrcaError(_("No editor is set."), hint=_("Set VISUAL or EDITOR in your shell: export EDITOR=nano"))
    if shutil.which(words[0]) is None:
        raise OrcaError(
            _("The editor {name} was not found.", name=label(words[0], 80)), hint=_("Look at VISUAL and EDITOR.")
        )
    return words


async def edit_text(app: "OrcaApp", text: str) -> str:
    """`text` as the editor left it. Raises `OrcaError`: no editor, no terminal, or an editor that failed; the text is
    then as it was."""
    command = command_of(os.environ if app.env is None else app.env)
    driver = app._driver
    if driver is None or not driver.can_suspend:
        raise OrcaError(_("An editor cannot be opened here."), hint=_("It needs a terminal of its own."))
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="orca-"))  # for its owner only
    try:
        path = folder / "message.md"
        await asyncio.to_thread(_write, path, text)
        code = await _run(app, [*command, str(path)])
        if code != 0:
            raise OrcaError(_("The editor ended with {code}; the text is as it was.", code=code))
        return await asyncio.to_thread(_read, path)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _run(app: "OrcaApp", command: list[str]) -> int:
    """Run a program on the terminal; nothing of ours is drawn meanwhile, and Ctrl+C is the program's."""
    with app.lent_terminal():
        ended = await asyncio.to_thread(_call, command)
    if isinstance(ended, OSError):
        raise OrcaError(_("The editor could not be started: {why}", why=ended.strerror or "")) from ended
    return ended


def _call(command: list[str]) -> int | OSError:
    """The exit code. Nothing is raised: the terminal must come back first."""
    try:
        return subprocess.run(command, check=False).returncode  # noqa: S603 - the user's own choice
    except OSError as error:
        return error


def _write(path: Path, text: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
        file.write(text)


def _read(path: Path) -> str:
    """What the editor saved, without the line break that it puts at the end."""
    try:
        if path.stat().st_size > LARGEST:
            raise OrcaError(_("That text is larger than {n} MB; the text is as it was.", n=LARGEST >> 20))
        return path.read_text("utf-8").removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise OrcaError(_("What the editor left cannot be read; the text is as it was.")) from error
