"""What is typed into the search box, and what is shown of what it finds."""

from pathlib import Path

import pytest
from helpers import opened, say

from memory.errors import NotFoundError
from memory.recalling.search_query import Only, SearchQuery, parse
from memory.recalling.snippets import snippet
from memory.store.search import query_terms

NOW = "2026-12-01T12:00:00.000000+00:00"


def read(text: str) -> SearchQuery:
    return parse(text, NOW)


def test_filters_are_taken_out_of_the_words() -> None:
    query = read("role:user salmon since:2026-11-01 in river")
    assert query.words == "salmon in river"
    assert query.kinds == ("message",)
    assert query.only.roles == ("user",)
    assert [(chip.name, chip.value) for chip in query.chips] == [("role", "user"), ("since", "2026-11-01")]
    assert query.problems == ()


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("kind:memory x", ("long_term",)),
        ("kind:message,summary x", ("message", "short_term")),
        ("branch:user_preference x", ("long_term",)),
        ("session:abcd x", ("message", "short_term")),
        ("role:user kind:memory x", ()),
        ("类型：记忆 鱼", ("long_term",)),
    ],
)
def test_a_filter_that_one_kind_has_leaves_out_the_others(text: str, kinds: tuple[str, ...]) -> None:
    assert read(text).kinds == kinds


@pytest.mark.parametrize(
    ("text", "days"),
    [("2026-11-01", 1), ("2026-11", 30), ("2024-02", 29), ("2026", 365), ("today", 1), ("yesterday", 1), ("昨天", 1)],
)
def test_a_span_reaches_from_its_beginning_to_its_end(text: str, days: int) -> None:
    from memory.clock import from_iso

    only = read(f"since:{text} until:{text}").only
    assert (from_iso(str(only.until)) - from_iso(str(only.since))).days == days


@pytest.mark.parametrize(
    ("text", "hours"), [("3h", 3), ("2d", 48), ("1w", 168), ("3天", 72), ("30m", 0.5), ("1mo", 730)]
)
def test_back_from_now(text: str, hours: float) -> None:
    from memory.clock import from_iso

    only = read(f"since:{text}").only
    assert (from_iso(NOW) - from_iso(str(only.since))).total_seconds() == hours * 3600


@pytest.mark.parametrize(
    "text",
    [
        "rol:user fish",
        "role:nobody fish",
        "since:soon fish",
        "kind:fish fish",
        "until:2026-13-45 fish",
        "since:99999999d",
    ],
)
def test_what_is_not_understood_is_told_and_looked_for(text: str) -> None:
    query = read(text)
    assert len(query.problems) == 1
    assert query.words == text
    assert query.chips == ()
    assert query.only == Only()


@pytest.mark.parametrize(
    "text", ["http://a.example/b", "12:30 lunch", "a:b", "role:", ":", "::", '"role:user"', "", "C:\\x"]
)
def test_what_is_no_filter_is_words(text: str) -> None:
    query = read(text)
    assert query.problems == ()
    assert query.chips == ()
    assert query.words == text.strip('"')


def test_what_matched_is_marked() -> None:
    found = snippet("x " * 200 + "The salmons spawn upriver.", query_terms("salmon spawning"), 60)
    assert [found.text[start:end] for start, end in found.places] == ["salmons", "spawn"]
    assert found.text.startswith("…")
    chinese = snippet("我喜欢在河里看鲑鱼产卵", query_terms("鲑鱼"), 60)
    assert [chinese.text[start:end] for start, end in chinese.places] == ["鲑鱼"]
    assert snippet("nothing here", query_terms("salmon"), 60).places == ()
    assert snippet("", (), 60).text == ""


async def test_one_box_finds_everything(home: Path) -> None:
    async with opened(home) as core:
        session = core.store.create_session(title="Fish")
        await say(core, session.id, "Salmon spawn in the upper river, I saw that.")
        core.curator.add("The user likes salmon", "preference")
        found = await core.searcher.find("salmon")
        assert {item.hit.kind for item in found.items} == {"message", "short_term", "long_term"}
        assert {item.session.title for item in found.items if item.session} == {core.store.session(session.id).title}
        for text, kinds in (
            ("salmon kind:memory", {"long_term"}),
            ("salmon role:user", {"message"}),
            ("salmon until:2020", set()),
            ("role:assistant", {"message"}),
            ("salmon session:this", {"message", "short_term"}),
        ):
            found = await core.searcher.find(text, here=session.id)
            assert {item.hit.kind for item in found.items} == kinds, text
        assert (await core.searcher.find("  ")).items == ()
        with pytest.raises(NotFoundError):
            await core.searcher.find("salmon session:ffff")
        with pytest.raises(NotFoundError):
            await core.searcher.find("salmon session:this")
