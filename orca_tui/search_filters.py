"""The filters of the search box by key and mouse: what a key makes of the text that is typed there. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from memory.recalling.search_query import FilterName, Problem, SearchQuery
from orca_tui.i18n import _

SPANS = ("today", "7d", "1mo", "1y")
"""What the key for `since` goes through."""
KINDS = ("message", "summary", "memory")
ROLES = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class FilterKey:
    """One filter that has a key."""

    name: FilterName
    key: str
    """Default key while the box is typed into, and in the list."""
    word: str
    """English source of a translated string."""


FILTER_KEYS: tuple[FilterKey, ...] = (
    FilterKey("kind", "ctrl+t,alt+k", "kind"),
    FilterKey("role", "ctrl+r,alt+r", "role"),
    FilterKey("since", "ctrl+y,alt+d", "since"),
    FilterKey("branch", "ctrl+b,alt+b", "branch"),
    FilterKey("session", "ctrl+l,alt+s", "session"),
)


def values_of(name: FilterName, branches: Sequence[str]) -> Sequence[str]:
    """What a key goes through, one after the other; behind the last it is none again."""
    match name:
        case "kind":
            return KINDS
        case "role":
            return ROLES
        case "since":
            return SPANS
        case "branch":
            return branches
        case _:
            return ("this",)


def turned(text: str, query: SearchQuery, name: FilterName, branches: Sequence[str]) -> str:
    """The text with the next value of a filter; `query` is how it was understood."""
    values = values_of(name, branches)
    now = next((chip.value for chip in query.chips if chip.name == name), None)
    at = values.index(now) + 1 if now in values else len(values) if now is not None else 0
    bare = without(text, query, name)
    if at >= len(values):
        return bare
    value = f'"{values[at]}"' if " " in values[at] else values[at]
    return f"{bare} {name}:{value}".strip()


def without(text: str, query: SearchQuery, name: FilterName) -> str:
    """The text without a filter."""
    for chip in sorted(query.chips, key=lambda chip: -chip.start):
        if chip.name == name:
            text = f"{text[: chip.start].rstrip()} {text[chip.end :].lstrip()}".strip()
    return text


def problem_said(problem: Problem) -> str:
    """A filter that was not understood, as a sentence."""
    if not problem.allowed:
        return _("“{value}” is no time: write 2026-11-01, 2026-11, today, 2h, 3d or 1mo", value=problem.value)
    known = ", ".join(problem.allowed)
    if problem.value_is_free:
        return _(
            "There is no filter “{name}”, it is searched as words; there are {known}", name=problem.name, known=known
        )
    return _(
        "“{value}” is nothing for {name}, it is searched as words; there are {known}",
        value=problem.value,
        name=problem.name,
        known=known,
    )
