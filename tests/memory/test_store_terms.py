"""How text is cut into terms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.store.search import MAX_QUERY_TERMS, MAX_TERM, index_text, match_query, query_terms, terms
from memory.store.stems import stem

WORDS = """
caresses ponies ties cats feed agreed plastered bled motoring sing conflated troubled sized hopping falling hissing
failing filing happy sky relational conditional valency digitizer conformably radically differently vilely analogously
operator feudalism decisiveness hopefulness callousness formality sensitivity sensibility triplicate formative
formalize electricity electrical goodness revival allowance inference airliner gyroscopic adjustable defensible
irritant replacement adjustment dependent adoption homologous communism activate angularity effective bowdlerize
probate rate cease controlling roll generalizations oscillators decision addition tide tables harbours running flies
dying say yes syzygy apology be is
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("今天天气", "今 今天 天 天天 天 天气 气"),
        ("C++ and C#", "c c++ and c c#"),
        ("copy .env", "copi env .env"),
        ("foo-bar a.b.c snake_case", "foo bar foo-bar a b c a.b.c snake case snake_case"),
        ("it's 12:30", "it s it's 12 30 12:30"),
        ("it’s", "it s it's"),
        ("user@host", "user host user@host"),
        ("http://docs.example/a?b=1", "http doc exampl docs.example a b 1"),
        ("C语言", "c 语 语言 言"),
        ("ｔｉｄｅ CAFÉ Straße", "tide cafe strass"),
        ("한국어", "한 한국 국 국어 어"),
        ("食べる", "食 食べ べ べる る"),
        ("हिन्दी", "हिन्दी"),
        ('a\0b\ud800 ... !!! " * ( ☃', "a b"),
        ("___ '' -.- ++", ""),
        ("", ""),
    ],
)
def test_what_is_indexed(text: str, expected: str) -> None:
    assert index_text(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is the weather in the harbour?", ["weather", "harbour"]),
        ("我们的天气是什么", ["的天", "天", "天气", "气", "气是"]),
        ("harbour harbours HARBOUR", ["harbour"]),
        ("it's what it is", []),
        ("我们", []),
    ],
)
def test_terms_leave_out_what_says_nothing(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_a_query_of_stop_words_looks_for_them() -> None:
    assert query_terms("it's") == ["it", "s", "it's"]
    assert query_terms("it's open") == ["open"]
    assert query_terms("...") == []


def test_long_words_and_queries_are_cut() -> None:
    assert terms("x" * 500) == ["x" * MAX_TERM]
    assert len(query_terms(" ".join(f"word{n}" for n in range(5000)))) == MAX_QUERY_TERMS
    assert len(index_text("天" * 3000).split()) == 5999


def test_each_term_of_a_match_is_quoted() -> None:
    assert match_query(["a", 'b"c', "NOT"]) == '"a" OR "b""c" OR "NOT"'


@given(st.text(st.characters(), max_size=80))
def test_terms_are_those_of_the_index(text: str) -> None:
    assert set(terms(text)) <= set(index_text(text).split())
    assert set(query_terms(text)) <= set(index_text(text).split())
    assert not any(term != term.strip() or " " in term for term in terms(text))


def test_stems_are_those_of_the_full_text_engine() -> None:
    import apsw

    tokenizer = apsw.Connection(":memory:").fts5_tokenizer("porter", ["ascii"])
    for word in WORDS.split():
        ((theirs,),) = tokenizer(word.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False)
        assert stem(word) == theirs, word


@given(st.text())
def test_the_index_holds_what_is_looked_for(text: str) -> None:
    indexed = set(index_text(text).split(" "))
    assert set(terms(text)) <= indexed
