"""The one router of long-term memory."""

import pytest

from memory.branches import GENERAL, expiry, route_branch, searched_branches
from memory.config import BranchSettings, default_branches
from memory.types import MemorySource, MemoryType

NOW = "2026-03-01T12:00:00.000000+00:00"


@pytest.mark.parametrize(
    ("memory_type", "content", "branch"),
    [
        ("preference", "likes tea", "user_preference"),
        ("constraint", "answer in Chinese", "user_preference"),
        ("fact", "x" * 51, "long_term_knowledge"),
        ("fact", "x" * 50, "short_term_fact"),
        ("fact", "  " + "x" * 50 + "  ", "short_term_fact"),
        ("decision", "use Postgres", "long_term_knowledge"),
        ("project", "orca", "long_term_knowledge"),
        ("skill", "Rust", "long_term_knowledge"),
        ("event", "dentist on Monday", "task_event"),
    ],
)
def test_the_default_rules(memory_type: MemoryType, content: str, branch: str) -> None:
    assert route_branch("user", memory_type, content, default_branches()) == branch


def test_the_first_rule_that_matches_wins() -> None:
    rules = {
        "a": BranchSettings(types=("fact",), sources=("tool",)),
        "b": BranchSettings(types=("fact",)),
        "c": BranchSettings(),
    }
    assert route_branch("tool", "fact", "x", rules) == "a"
    assert route_branch("user", "fact", "x", rules) == "b"
    assert route_branch("user", "event", "x", rules) == "c"


@pytest.mark.parametrize("source", ["user", "agent", "system", "knowledge", "tool"])
def test_what_no_rule_takes_is_general(source: MemorySource) -> None:
    assert route_branch(source, "event", "x", {"only": BranchSettings(types=("fact",))}) == GENERAL
    assert route_branch(source, "event", "x", {}) == GENERAL


def test_lifetimes() -> None:
    rules = {"year": BranchSettings(lifetime_days=365), "ever": BranchSettings(lifetime_days=0)}
    assert expiry("year", rules, NOW) == "2027-03-01T12:00:00.000000+00:00"
    assert expiry("ever", rules, NOW) is None
    assert expiry("unknown", rules, NOW) == "2026-03-31T12:00:00.000000+00:00"


def test_general_memory_is_not_searched_by_default() -> None:
    assert searched_branches(default_branches()) == (
        "user_preference",
        "long_term_knowledge",
        "short_term_fact",
        "task_event",
    )
