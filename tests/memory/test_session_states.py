"""Titles, the archive, the trash and erasing of sessions."""

from pathlib import Path

import pytest

from memory.errors import NotFoundError
from memory.store import open_store
from memory.store.base import Store
from memory.store.filters import Only
from memory.store.ledger import Ledger


def talk(store: Store, text: str = "where do the salmon spawn", title: str = "salmon") -> str:
    session = store.create_session(title=title)
    store.add_message(session.id, "user", text)
    store.add_message(session.id, "assistant", "In the upper river, salmon spawn in gravel.")
    return session.id


def test_a_suggested_title_never_takes_the_place_of_the_users(store: Store) -> None:
    session_id = talk(store)
    assert store.session(session_id).title_by == "words"
    assert store.suggest_title(session_id, "Salmon in the river").title_by == "model"
    assert store.update_session(session_id, title="Mine").title_by == "user"
    assert store.suggest_title(session_id, "Salmon again").title == "Mine"
    with pytest.raises(NotFoundError):
        store.suggest_title("f" * 32, "none")


def test_title_and_state_do_not_move_a_session_up_the_list(store: Store) -> None:
    first, second = talk(store), talk(store)
    store.update_session(first, title="renamed")
    store.update_session(first, state="archived")
    store.update_session(first, state="open")
    assert [session.id for session in store.sessions()] == [second, first]


def test_a_trashed_session_is_listed_apart_and_found_by_no_search(store: Store) -> None:
    session_id = talk(store)
    assert store.update_session(session_id, state="archived").state == "archived"
    assert store.search_text("salmon", kinds=("message",))
    assert store.update_session(session_id, state="trashed").state == "trashed"
    assert store.sessions() == []
    assert store.sessions(state="archived") == []
    assert [session.id for session in store.sessions(state="trashed")] == [session_id]
    assert [session.id for session in store.sessions(state=None)] == [session_id]
    assert not store.search_text("salmon", kinds=("message",))
    assert store.search_text("salmon", kinds=("message",), session_id=session_id)
    assert store.update_session(session_id, state="open").state == "open"
    assert store.search_text("salmon", kinds=("message",))


def test_a_search_is_narrowed_by_role_and_time(store: Store) -> None:
    session_id = talk(store)
    question, answer = store.path(session_id)
    for only, wanted in (
        (Only(roles=("user",)), {question.id}),
        (Only(roles=("assistant",)), {answer.id}),
        (Only(since=answer.timestamp), {answer.id}),
        (Only(until=answer.timestamp), {question.id}),
        (Only(until=question.timestamp), set()),
    ):
        found = store.search_text("salmon", kinds=("message",), only=only)
        assert {candidate.id for candidate in found} == wanted
    store.add_short_term(session_id, "about salmon")
    assert store.search_text("salmon", kinds=("short_term",), only=Only(roles=("user",)))
    assert not store.search_text("salmon", kinds=("short_term",), only=Only(until=question.timestamp))


def test_all_messages_of_a_session_are_given_with_their_forks(store: Store) -> None:
    session_id = talk(store)
    question, answer = store.path(session_id)
    other = store.add_message(session_id, "assistant", "another answer", parent_id=question.id)
    talk(store)
    assert [message.id for message in store.messages(session_id)] == [question.id, answer.id, other.id]


def test_an_erased_session_leaves_nothing_but_long_term_memories(home: Path) -> None:
    store = open_store(home / "memory.db")
    assert isinstance(store, Ledger)
    session_id, other = talk(store, "the wreck lies at sixty fathoms"), talk(store)
    question, answer = store.path(session_id)
    store.add_short_term(session_id, "the wreck is deep", first_message_id=question.id, last_message_id=answer.id)
    store.add_message(session_id, "assistant", "a fork", parent_id=question.id)
    store.erase_session(session_id, actor="user")
    with pytest.raises(NotFoundError):
        store.session(session_id)
    with pytest.raises(NotFoundError):
        store.message(question.id)
    assert not store.search_text("wreck", kinds=("message", "short_term", "long_term"))
    assert len(store.path(other)) == 2
    store.close()
    left = b"".join(path.read_bytes() for path in home.glob("memory.db*"))
    assert b"sixty fathoms" not in left
    assert b"salmon" in left
