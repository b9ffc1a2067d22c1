"""Sessions and their messages, as the protocol promises them."""

from collections.abc import Callable

import pytest

from memory.errors import NotFoundError, StoreError
from memory.store.base import Store
from memory.types import Scope


def test_a_session_keeps_what_it_was_begun_with(store: Store) -> None:
    scope = Scope("ann", "harbour", "pilot")
    session = store.create_session(scope=scope, title="Tides", model="m", incognito=True)
    assert store.session(session.id) == session
    assert (session.scope, session.title, session.model, session.incognito) == (scope, "Tides", "m", True)
    assert (session.tip_message_id, session.state) == (None, "open")


def test_sessions_lists_those_with_messages_the_last_changed_first(store: Store) -> None:
    first, second, empty = (store.create_session() for _ in range(3))
    store.add_message(first.id, "user", "one")
    store.add_message(second.id, "user", "two")
    assert [session.id for session in store.sessions()] == [second.id, first.id]
    store.add_message(first.id, "assistant", "three")
    assert [session.id for session in store.sessions()] == [first.id, second.id]
    assert [session.id for session in store.sessions(limit=1, offset=1)] == [second.id]
    store.update_session(first.id, state="archived")
    assert [session.id for session in store.sessions()] == [second.id]
    assert [session.id for session in store.sessions(state="archived")] == [first.id]
    assert len(store.sessions(state=None)) == 2
    assert empty.id not in {session.id for session in store.sessions(state=None)}


def test_find_session_by_the_beginning_of_its_id(store: Store) -> None:
    first, second = store.create_session(), store.create_session()
    assert store.find_session(first.id) == first
    assert store.find_session(second.id[:8]) == second
    for prefix in ("", "000", first.id[:7], "zzzz", "%", "____", "\ud800\ud800\ud800\ud800"):
        with pytest.raises(NotFoundError) as caught:
            store.find_session(prefix)
        assert caught.value.hint


def test_update_session_changes_only_what_is_given(store: Store) -> None:
    session = store.create_session(title="old", model="m")
    message = store.add_message(session.id, "user", "hello")
    store.add_message(session.id, "assistant", "hi")
    changed = store.update_session(session.id, title="new\0", tip_message_id=message.id)
    assert (changed.title, changed.model, changed.tip_message_id) == ("new\ufffd", "m", message.id)
    assert changed.updated_at > session.updated_at
    other = store.create_session()
    with pytest.raises(NotFoundError):
        store.update_session(other.id, tip_message_id=message.id)


def test_messages_form_a_path_from_the_root_to_the_tip(store: Store) -> None:
    session = store.create_session()
    ids = [store.add_message(session.id, "user", f"message {n}", token_count=n).id for n in range(5)]
    assert [message.id for message in store.path(session.id)] == ids
    assert [message.id for message in store.path(session.id, limit=2)] == ids[-2:]
    assert store.path(session.id, limit=0) == []
    assert [message.id for message in store.path(session.id, tip=ids[2])] == ids[:3]
    assert [message.parent_id for message in store.path(session.id)] == [None, *ids[:-1]]
    assert store.session(session.id).tip_message_id == ids[-1]


def test_a_fork_leaves_the_other_path_as_it_was(store: Store) -> None:
    session = store.create_session()
    question = store.add_message(session.id, "user", "question")
    first = store.add_message(session.id, "assistant", "first answer")
    second = store.add_message(session.id, "assistant", "second answer", parent_id=question.id)
    assert [message.id for message in store.path(session.id)] == [question.id, second.id]
    assert [message.id for message in store.path(session.id, tip=first.id)] == [question.id, first.id]


def test_an_empty_session_has_an_empty_path(store: Store) -> None:
    assert store.path(store.create_session().id) == []


def test_what_is_not_there_is_said_to_be_missing(store: Store) -> None:
    session, other = store.create_session(), store.create_session()
    message = store.add_message(other.id, "user", "elsewhere")
    for ask in (
        lambda: store.session("nobody"),
        lambda: store.session("\ud800"),
        lambda: store.message(999),
        lambda: store.path("nobody"),
        lambda: store.path(session.id, tip=message.id),
        lambda: store.add_message("nobody", "user", "x"),
        lambda: store.add_message(session.id, "user", "x", parent_id=message.id),
        lambda: store.update_message(999, content="x"),
        lambda: store.update_session("nobody", title="x"),
        lambda: store.add_short_term("nobody", "x"),
        lambda: store.short_term_memory(999),
        lambda: store.memory(999),
        lambda: store.update_memory(999, {"content": "x"}, actor="user"),
    ):
        with pytest.raises(NotFoundError):
            ask()


def test_a_value_the_schema_forbids_is_refused_and_nothing_is_written(store: Store) -> None:
    session = store.create_session()
    with pytest.raises(StoreError):
        store.add_message(session.id, "nobody", "x")  # type: ignore[arg-type]
    with pytest.raises(StoreError):
        store.add_message(session.id, "user", "x", token_count=-1)
    with pytest.raises(StoreError):
        store.message(1 << 70)
    assert store.stats()["messages"] == 0
    assert store.session(session.id).tip_message_id is None


def test_text_is_stored_as_it_came_and_repairs_are_counted(store: Store) -> None:
    session = store.create_session()
    hostile = "\x1b]52;c;aGk=\x07 [/x] \u202e عربى 👩\u200d👩\u200d👧 \r\n\t"
    assert store.add_message(session.id, "user", hostile).content == hostile
    broken = store.add_message(
        session.id, "user", "a\0b\ud800c", metadata={"error": "x\0", "usage": {"n": float("nan")}}
    )
    assert broken.content == "a\ufffdb\ufffdc"
    assert broken.metadata == {"error": "x\ufffd", "usage": {"n": None}, "repaired": 2}
    assert store.message(broken.id) == broken
    assert store.update_message(broken.id, content="whole").metadata.get("repaired") is None


def test_update_message_merges_its_facts(store: Store) -> None:
    session = store.create_session()
    message = store.add_message(session.id, "assistant", "", state="streaming", metadata={"a": 1, "b": {"c": 2}})
    changed = store.update_message(
        message.id, content="done", state="complete", token_count=7, metadata={"a": None, "d": [1]}
    )
    assert (changed.content, changed.state, changed.token_count) == ("done", "complete", 7)
    assert changed.metadata == {"b": {"c": 2}, "d": [1]}
    assert changed == store.message(message.id)
    assert store.update_message(message.id) == changed


def test_interrupted_replies_are_marked_once_and_only_when_their_owner_is_gone(store: Store) -> None:
    session = store.create_session()
    store.add_message(session.id, "user", "question")
    gone = store.add_message(
        session.id, "assistant", "partial harbour", state="streaming", metadata={"stream": {"pid": 1}}
    )
    alive = store.add_message(session.id, "assistant", "going on", state="streaming", metadata={"stream": {"pid": 2}})
    nobody = store.add_message(session.id, "assistant", "no owner", state="streaming")
    marked = store.recover_interrupted(lambda owner: owner.get("pid") == 2)
    assert [message.id for message in marked] == [gone.id, nobody.id]
    assert {message.state for message in marked} == {"stopped"}
    assert all(message.metadata["interrupted"] is True for message in marked)
    assert marked[0].content == "partial harbour"
    assert store.message(alive.id).state == "streaming"
    assert [hit.id for hit in store.search_text("harbour", kinds=["message"])] == [gone.id]
    assert store.recover_interrupted(lambda owner: True) == []


def test_a_reply_that_goes_on_while_it_is_judged_is_left_alone(store: Store) -> None:
    session = store.create_session()
    reply = store.add_message(session.id, "assistant", "part", state="streaming")

    def goes_on(owner: object) -> bool:
        store.update_message(reply.id, content="part and more")
        return False

    assert store.recover_interrupted(goes_on) == []
    assert store.message(reply.id).state == "streaming"


def test_everything_is_there_after_opening_again(reopen: Callable[[], Store]) -> None:
    store = reopen()
    session = store.create_session(title="kept")
    message = store.add_message(session.id, "user", "kept as well")
    store.close()
    store.close()
    with pytest.raises(StoreError):
        store.session(session.id)
    with pytest.raises(StoreError):
        store.add_message(session.id, "user", "too late")
    again = reopen()
    assert again.path(session.id) == [message]
    assert again.session(session.id).title == "kept"
