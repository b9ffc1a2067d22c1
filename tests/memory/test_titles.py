"""What a session is called after its first turns."""

from pathlib import Path

import pytest
from helpers import opened, say

from memory.errors import ServerFailed
from memory.events import SessionTitled
from memory.provider.scripted import ScriptedChat
from memory.types import Message
from memory.writing.title import MAX_CELLS, cells, title_by_words


def asked(*texts: str) -> list[Message]:
    return [Message(n, "s", "user", text, "normal", 0, False, "", {}, None, "complete") for n, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Can you please explain how tides work? I live by the sea.", "How tides work"),
        ("请问红烧肉怎么做才不腻？我试过很多次。", "红烧肉怎么做才不腻"),
        ("hello", "Hello"),
        ("", ""),
    ],
)
def test_a_title_out_of_the_first_question(text: str, title: str) -> None:
    assert title_by_words(asked(text)) == title


@pytest.mark.parametrize("text", ["word " * 200, "多" * 300, "x" * 400, "\x1b[31mred\u202e " * 30, "👨‍👩‍👧‍👦" * 60])
def test_a_title_is_never_wider_than_the_list(text: str) -> None:
    title = title_by_words(asked(text))
    assert 0 < cells(title) <= MAX_CELLS
    assert not {"\x1b", "\u202e"} & set(title)


def test_small_talk_is_passed_over() -> None:
    assert title_by_words(asked("hi!", "How long do mussels keep?")) == "How long do mussels keep"


async def test_the_model_names_the_session_once(home: Path) -> None:
    heard: list[SessionTitled] = []
    model = ScriptedChat(["Six minutes.", "User asked how long to boil eggs: six minutes.", 'Title: "Boiling eggs".'])
    async with opened(home, model) as core:
        core.subscribe(lambda event: heard.append(event) if isinstance(event, SessionTitled) else None)
        session = core.store.create_session(title="How long must I boil")
        await say(core, session.id, "How long must I boil eggs?")
        await core.maintenance.settled()
        named = core.store.session(session.id)
        assert (named.title, named.title_by) == ("Boiling eggs", "model")
        assert [event.session for event in heard] == [named]
        await say(core, session.id, "And how long on a mountain?")
        await core.maintenance.settled()
        assert core.store.session(session.id).title == "Boiling eggs"


@pytest.mark.parametrize("answer", ["多" * 10, "w" * 80, "", [ServerFailed("500")]])
async def test_what_the_model_gives_is_checked(home: Path, answer: object) -> None:
    async with opened(home, ScriptedChat(["Six.", "no summary", answer])) as core:  # type: ignore[list-item]
        session = core.store.create_session()
        await say(core, session.id, "How long must I boil eggs?")
        await core.maintenance.settled()
        named = core.store.session(session.id)
        assert (named.title, named.title_by) == ("How long must I boil eggs", "words")


async def test_a_tiny_model_is_not_asked(home: Path) -> None:
    model = ScriptedChat(["六分钟。"], tiny=True)
    async with opened(home, model) as core:
        session = core.store.create_session()
        await say(core, session.id, "请问鸡蛋要煮多久？")
        await core.maintenance.settled()
        assert core.store.session(session.id).title == "鸡蛋要煮多久"
    assert len(model.requests) == 1


async def test_neither_incognito_nor_the_users_own_title_is_touched(home: Path) -> None:
    model = ScriptedChat(["Six.", "Boiling eggs"])
    async with opened(home, model) as core:
        hidden = core.store.create_session(title="as it was", incognito=True)
        await say(core, hidden.id, "How long must I boil eggs?")
        await core.maintenance.settled()
        assert core.store.session(hidden.id).title == "as it was"
        assert len(model.requests) == 1
        mine = core.store.create_session()
        core.store.update_session(mine.id, title="Mine")
        await say(core, mine.id, "How long must I boil eggs?")
        await core.maintenance.settled()
        assert core.store.session(mine.id).title == "Mine"
