"""`orca-tui model`: the models that run on this machine."""

import sys
from argparse import Namespace

from memory.config import Home
from memory.errors import ModelFileError
from memory.provider import model_files
from memory.text import label
from orca_tui.cli.stored import prepare
from orca_tui.plain import complain, plain_print, print_json


def run(arguments: Namespace, home: Home) -> int:
    """Do one of list, add, remove."""
    match arguments.action:
        case "list":
            _list(arguments, home)
        case "add":
            _add(arguments, home)
        case _:
            model_files.remove(home, arguments.name)
            sys.stderr.write(f"{label(arguments.name)} is removed.\n")
    return 0


def _list(arguments: Namespace, home: Home) -> None:
    files, entries = model_files.installed(home), model_files.catalogue()
    if arguments.json:
        print_json({"installed": files, "catalogue": entries})
        return
    plain_print("Installed:" if files else "No model is installed.")
    for file in files:
        plain_print(f"  {label(file.name):24} {_size(file.size):>8}  {label(file.licence)}")
    there = {file.name for file in files}
    plain_print("\nTo be had with `orca-tui model add NAME`:")
    for entry in entries:
        if entry.name not in there:
            size = _size(entry.size) if entry.size else "?"
            plain_print(f"  {entry.name:24} {size:>8}  {entry.licence}  {entry.note}")
    plain_print("\nAny GGUF file: orca-tui model add PATH_OR_URL --sha256 HEX")


def _add(arguments: Namespace, home: Home) -> None:
    if arguments.if_missing:
        try:
            model_files.find(home, arguments.name or arguments.source)
        except ModelFileError:
            pass
        else:
            return
    prepare(home)
    bar = Progress(label(arguments.source, 40))
    try:
        file = model_files.add(
            home, arguments.source, name=arguments.name, sha256=arguments.sha256, progress=bar.report
        )
    finally:
        bar.end()
    ready = f"{label(file.name)} is ready ({_size(file.size)})."
    sys.stderr.write(ready + "\n")
    if not (arguments.sha256 or file.sha256):
        complain("Nobody vouches for this file: no SHA-256 was given.")


class Progress:
    """How far a download is, on stderr: one line that counts up on a terminal, a few lines elsewhere."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._terminal = sys.stderr.isatty()
        self._shown = -1

    def report(self, done: int, total: int) -> None:
        """Bytes so far, and in all (0: not known)."""
        percent = min(100, 100 * done // total) if total else 0
        step = percent if self._terminal else percent // 25 * 25
        if step == self._shown and (total or not self._terminal):
            return
        self._shown = step
        text = f"{self._name}: {percent:3d} % of {_size(total)}" if total else f"{self._name}: {_size(done)}"
        sys.stderr.write(f"\r{text}  " if self._terminal else f"{text}\n")
        sys.stderr.flush()

    def end(self) -> None:
        """Leave the counting line."""
        if self._terminal and self._shown >= 0:
            sys.stderr.write("\n")


def _size(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
