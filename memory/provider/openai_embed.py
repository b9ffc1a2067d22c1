"""Any OpenAI-compatible server as an `Embedder`, over plain HTTP: one request needs no SDK."""

import asyncio
import base64
import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memory.config import EmbeddingSettings, Secret
from memory.errors import ContextTooLong, EmbeddingFailed, InvalidVectorError, ProviderError
from memory.provider import http_errors, wire
from memory.provider.base import EmbedKind
from memory.provider.endpoint import Endpoint
from memory.text import label, repair

if TYPE_CHECKING:
    import httpx2

    from memory.provider.base import Vectors

MAX_INPUTS = 32
"""Texts in one request; SiliconFlow takes no more."""
CONNECT_TIMEOUT = 5.0

_WIDTHS = {"bge-m3": 1024, "text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "ada-002": 1536}
_RESIZABLE = re.compile(r"text-embedding-3|qwen3-embedding", re.IGNORECASE)
_SHORT = re.compile(r"bge-(large|base|small)|bce-embedding|\be5-|minilm|mxbai", re.IGNORECASE)
_PREFIXES: tuple[tuple[re.Pattern[str], dict[EmbedKind, str]], ...] = (
    (re.compile(r"\be5-", re.IGNORECASE), {"query": "query: ", "passage": "passage: "}),
    (re.compile(r"nomic-embed", re.IGNORECASE), {"query": "search_query: ", "passage": "search_document: "}),
)
_LONG_CHARACTERS, _SHORT_CHARACTERS = 8000, 500
"""A text is cut to this many: 8,192 and 512 tokens hold them even at one token a character."""


class OpenAIEmbedder:
    """An embedder behind `{base_url}/embeddings`.

    `dimensions` 0 takes the width that the model makes. `transport` is for tests.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: Secret,
        dimensions: int,
        settings: EmbeddingSettings,
        key_hint: str = "Set api_key or api_key_env under [embedding] in config.toml.",
        transport: "httpx2.AsyncBaseTransport | None" = None,
    ) -> None:
        self._endpoint = Endpoint(base_url, api_key, key_hint)
        self._model = model
        self._asked = dimensions
        self._width = dimensions or next((width for name, width in _WIDTHS.items() if name in model.lower()), 0)
        self._timeout = settings.timeout
        self._transport = transport
        self._opening = asyncio.Lock()
        self._http: httpx2.AsyncClient | None = None

    @property
    def model(self) -> str:
        """Which model makes the vectors."""
        return self._model

    @property
    def width(self) -> int:
        """Length of every vector; 0 while neither the configuration nor a first vector has told it."""
        return self._width

    async def embed(self, texts: Sequence[str], kind: EmbedKind) -> "Vectors":
        """Embed `texts`; see `Embedder.embed`. A text beyond the model's limit counts by its beginning."""
        if not texts or not all(text.strip() for text in texts):
            raise EmbeddingFailed("An empty text cannot be embedded.")
        import numpy as np

        prefix = next((forms[kind] for pattern, forms in _PREFIXES if pattern.search(self._model)), "")
        limit = _SHORT_CHARACTERS if _SHORT.search(self._model) else _LONG_CHARACTERS
        inputs = [prefix + repair(text[:limit])[0] for text in texts]
        batches = [inputs[start : start + MAX_INPUTS] for start in range(0, len(inputs), MAX_INPUTS)]
        return np.concatenate([await self._batch(batch) for batch in batches])

    async def close(self) -> None:
        """Let go of the connections. Safe to call twice."""
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    async def _batch(self, inputs: list[str]) -> "Vectors":
        """One request; a quarter of each text when the server finds them too long after all."""
        try:
            rows = await self._request(inputs)
        except ContextTooLong:
            try:
                rows = await self._request([text[: max(len(text) // 4, 1)] for text in inputs])
            except ContextTooLong as error:
                raise EmbeddingFailed(str(error), hint="Choose an embedding model that takes longer texts.") from None
        return self._vectors(rows)

    async def _request(self, inputs: list[str]) -> list[Any]:
        """The raw vectors, in the order of `inputs`. Raises `EmbeddingFailed` or `ContextTooLong`."""
        body: dict[str, Any] = {"model": self._model, "input": inputs, "encoding_format": "float"}
        if self._asked and _RESIZABLE.search(self._model):
            body["dimensions"] = self._asked
        answer = await self._ask(body)
        if answer.status != 200:
            failure = http_errors.from_status(
                answer.status, answer.content, answer.headers, self._endpoint, self._model
            )
            if isinstance(failure.error, ContextTooLong) or answer.status == 413:
                raise ContextTooLong(str(failure.error))
            raise _failed(failure.error, failure.wait)
        try:
            content = json.loads(answer.content)
        except (ValueError, RecursionError):
            raise self._odd("something that is not JSON") from None
        return self._in_order(content, len(inputs))

    async def _ask(self, body: dict[str, Any]) -> wire.Answer:
        import anyio
        import httpx2

        try:
            http_errors.check_key(self._endpoint)
            async with asyncio.timeout(self._timeout):
                http = await self._open()
                return await wire.ask(http, "POST", f"{self._endpoint.base_url}/embeddings", body=body)
        except TimeoutError:
            raise EmbeddingFailed(
                f"{self._endpoint.host} did not embed within {self._timeout:g} seconds.",
                hint="It is tried again later; a slow server needs a larger embedding.timeout.",
            ) from None
        except ProviderError as error:
            raise _failed(error) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, anyio.EndOfStream, OSError) as error:
            raise _failed(http_errors.from_exception(error, self._endpoint).error) from None
        except ValueError:
            raise self._odd("more than vectors can be") from None

    async def _open(self) -> "httpx2.AsyncClient":
        async with self._opening:
            if self._http is None:
                try:
                    self._http = await asyncio.to_thread(
                        wire.open_client, self._endpoint, connect_timeout=CONNECT_TIMEOUT, transport=self._transport
                    )
                except (ImportError, ValueError):
                    raise http_errors.bad_proxy(self._endpoint) from None
            return self._http

    def _in_order(self, content: Any, count: int) -> list[Any]:
        """The vectors by their index; by their place when the server gives none."""
        data = content.get("data") if isinstance(content, dict) else None
        if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
            detail = http_errors.tidy(http_errors.words_of(content), self._endpoint)
            raise self._odd(detail or "something that is not a list of vectors")
        if len(data) != count:
            raise self._odd(f"{len(data)} vectors for {count} texts")
        places = [item.get("index") for item in data]
        if all(place is None for place in places):
            places = list(range(count))
        if sorted(place for place in places if isinstance(place, int)) != list(range(count)):
            raise self._odd("vectors whose order is not clear")
        return [item.get("embedding") for _, item in sorted(zip(places, data, strict=True), key=lambda pair: pair[0])]

    def _vectors(self, rows: list[Any]) -> "Vectors":
        """Checked, and of length 1 each."""
        import numpy as np

        name = label(self._model)
        try:
            vectors = np.array([_row(row) for row in rows], dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidVectorError(
                f"{name} made vectors that are no rows of numbers of one width.", hint="Choose another model."
            ) from None
        width = vectors.shape[1] if vectors.ndim == 2 else 0
        if width == 0 or (self._width and width != self._width):
            raise InvalidVectorError(
                f"{name} made vectors {width} wide; {self._width} are expected.",
                hint=f"Set dimensions = {width} if this is the right model." if width else "Choose another model.",
            )
        with np.errstate(over="ignore"):
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not (lengths > 0).all():
            raise InvalidVectorError(
                f"{name} made a vector that is zero or not finite.",
                hint="Look at the server of the embedding model, or choose another model.",
            )
        self._width = width
        return np.asarray(vectors / lengths, dtype=np.float32)

    def _odd(self, what: str) -> EmbeddingFailed:
        return EmbeddingFailed(f"{self._endpoint.host} answered with {what}.", hint="Look at the embedding model.")


def _failed(error: ProviderError, wait: float | None = None) -> EmbeddingFailed:
    return EmbeddingFailed(str(error), hint=error.hint, retry_after=wait)


def _row(value: Any) -> Any:
    """One vector: numbers, numbers in one more list, or base64 of little-endian float32."""
    import numpy as np

    if isinstance(value, str):
        return np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4")
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        return value[0]
    if not isinstance(value, list):
        raise TypeError
    return value
