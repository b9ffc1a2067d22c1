"""The forks of a session: what stands beside a message, which path is chosen, and the whole tree. Functions block."""

from collections import defaultdict
from dataclasses import dataclass

from memory.errors import NotFoundError
from memory.store.base import ROOT, Store
from memory.text import label
from memory.types import Message, MessageState, Role, Session

WORDS_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Node:
    """One message in the tree of its session."""

    id: int
    parent_id: int | None
    role: Role
    words: str
    """The first words as one line, cleaned; empty when it says nothing (a reply that only calls tools)."""
    state: MessageState
    timestamp: str
    on_path: bool
    """Whether it is on the chosen path."""
    level: int
    """How many forks were taken above it: how far a view moves it to the right."""
    place: int
    """Its place among those below the same parent, from 1."""
    siblings: int
    """How many stand below the same parent, itself included."""


def above(message: Message) -> int:
    """What a message stands below, as the `parent_id` of one that is to stand beside it."""
    return message.parent_id or ROOT


def siblings(store: Store, message_id: int) -> list[Message]:
    """The messages that stand beside a message, itself included, the oldest first. Raises leaves of `StoreError`."""
    message = store.message(message_id)
    return [other for other in store.messages(message.session_id) if other.parent_id == message.parent_id]


def places(store: Store, session_id: str) -> dict[int, tuple[int, int]]:
    """Where a session forks: the place (from 1) of each message among those that stand beside it, and how many they
    are; only of those that do not stand alone. Raises leaves of `StoreError`."""
    beside: defaultdict[int | None, list[int]] = defaultdict(list)
    for message_id, parent_id in store.parents(session_id):
        beside[parent_id].append(message_id)
    forks = [ids for ids in beside.values() if len(ids) > 1]
    return {message_id: (place, len(ids)) for ids in forks for place, message_id in enumerate(ids, 1)}


def switch(store: Store, session_id: str, message_id: int) -> Session:
    """Choose the path that leads through a message to the newest one below it. Raises leaves of `StoreError`."""
    below = {message_id}
    messages = store.messages(session_id)
    if all(message.id != message_id for message in messages):
        raise NotFoundError(f"There is no message {message_id} in this session.")
    for message in messages:  # parents come before what stands below them
        if message.parent_id in below:
            below.add(message.id)
    return store.update_session(session_id, tip_message_id=max(below))


def tree(store: Store, session_id: str) -> tuple[Node, ...]:
    """Every message of a session: each followed by what stands below it, forks one after the other, the oldest first.

    Raises leaves of `StoreError`.
    """
    children: defaultdict[int, list[Message]] = defaultdict(list)
    messages = {message.id: message for message in store.messages(session_id)}
    for message in messages.values():
        children[message.parent_id if message.parent_id in messages else ROOT].append(message)
    chosen = {message.id for message in store.path(session_id)}
    nodes: list[Node] = []
    waiting = [(message, 0, place, len(children[ROOT])) for place, message in _numbered(children[ROOT])]
    while waiting:
        message, level, place, beside = waiting.pop()
        nodes.append(_node(message, message.id in chosen, level, place, beside))
        below = children[message.id]
        deeper = level + (len(below) > 1)
        waiting += [(child, deeper, at, len(below)) for at, child in _numbered(below)]
    return tuple(nodes)


def _numbered(messages: list[Message]) -> list[tuple[int, Message]]:
    """With their places, the last first: a stack gives them back in order."""
    return list(enumerate(messages, 1))[::-1]


def _node(message: Message, on_path: bool, level: int, place: int, beside: int) -> Node:
    words = label(message.content, WORDS_LENGTH)
    return Node(
        *(message.id, message.parent_id, message.role, words, message.state, message.timestamp),
        on_path=on_path,
        level=level,
        place=place,
        siblings=beside,
    )
