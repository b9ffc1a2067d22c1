"""Stored messages as they are shown: what a state means to a person."""

from collections.abc import Mapping
from typing import Any

import pytest

from memory.errors import AuthenticationFailed
from memory.types import Message, MessageState, Role
from orca_tui.entries import entries_of, error_entry, note_of


def message(
    content: str = "text",
    *,
    role: Role = "assistant",
    state: MessageState = "complete",
    metadata: Mapping[str, Any] | None = None,
    id: int = 7,  # noqa: A002
) -> Message:
    return Message(
        id, "s", role, content, "normal", 1, False, "2026-01-02T03:04:05.000000+00:00", metadata or {}, None, state
    )


def test_a_path_becomes_one_entry_a_message() -> None:
    entries = entries_of([message("hi", role="user", id=1), message("hello", id=2, metadata={"reasoning": "hm"})])
    assert [(entry.key, entry.kind, entry.text, entry.note) for entry in entries] == [
        ("1", "user", "hi", ""),
        ("2", "assistant", "hello", ""),
    ]
    assert entries[1].reasoning == "hm"


@pytest.mark.parametrize(
    ("state", "metadata", "reason", "told"),
    [
        ("stopped", {}, "", "stopped"),
        ("stopped", {"interrupted": True}, "", "interrupted"),
        ("failed", {}, "", "incomplete"),
        ("complete", {}, "length", "longest"),
        ("complete", {}, "content_filter", "filter"),
        ("complete", {}, "stop", ""),
    ],
)
def test_what_is_not_whole_says_so(state: MessageState, metadata: dict[str, Any], reason: str, told: str) -> None:
    note = note_of(message(state=state, metadata=metadata), reason)
    assert told in note
    assert bool(note) == bool(told)


def test_a_failed_reply_keeps_its_text_and_its_error() -> None:
    stored = {"error": {"type": "AuthenticationFailed", "message": "The key was refused.", "hint": "Set another."}}
    partial, error = entries_of([message("as far as it came", state="failed", metadata=stored)])
    assert (partial.text, partial.state) == ("as far as it came", "failed")
    assert (error.kind, error.text, error.title, error.note) == (
        "error",
        "The key was refused.",
        "Model",
        "Set another.",
    )


def test_a_failed_reply_without_text_is_its_error() -> None:
    (error,) = entries_of([message("", state="failed", metadata={"error": {"type": "clean", "message": "No."}})])
    assert error.kind == "error"


def test_an_error_says_what_to_do() -> None:
    shown = error_entry("1", AuthenticationFailed("The key was refused."), "")
    assert shown.text == "The key was refused."
    assert "/retry" in shown.note
