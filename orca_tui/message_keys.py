"""What can be done with a message of the transcript, and by which key: one table for bindings, footer and help page.

A binding's id is `message_` and the name; `[keys]` remaps it like any other.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from textual.binding import Binding, BindingType

from orca_tui import keys

PREFIX = "message_"


@dataclass(frozen=True, slots=True)
class MessageKey:
    """One deed."""

    name: str
    keys: str
    """Default keys, comma separated."""
    word: str
    """For the footer; the English source of a translated string."""
    summary: str
    """For the help page; the English source of a translated string."""


MESSAGE_KEYS: tuple[MessageKey, ...] = (
    MessageKey("open", "enter", "open", "Open the chosen link, copy the chosen code; else fold or unfold"),
    MessageKey("copy", "y", "copy", "Copy the message"),
    MessageKey("copy_code", "Y", "copy code", "Copy all code of the message"),
    MessageKey("fold", "space,z", "fold", "Fold or unfold reasoning, tool calls and long text"),
    MessageKey("raw", "v", "raw", "Show the text as it came, or as Markdown again"),
    MessageKey("next_target", "right_square_bracket", "next link", "Next link or code of the message"),
    MessageKey("previous_target", "left_square_bracket", "link before", "Link or code before"),
    MessageKey("search", "slash", "search", "Search in this session"),
    MessageKey("next_hit", "n", "next", "Next place that was found"),
    MessageKey("previous_hit", "N", "before", "Place before"),
    MessageKey("leave_search", "escape", "end search", "End the search and stay"),
    MessageKey("why", "w", "why", "Show what memory the reply was given"),
    MessageKey("good", "plus,equals_sign", "good", "Rate the reply as good"),
    MessageKey("bad", "minus", "bad", "Rate it as bad, and see what it was given"),
    MessageKey("details", "i", "details", "Model, tokens, time and state of the message"),
    MessageKey("edit", "e", "edit", "Edit the message and send it again, as a fork"),
    MessageKey("retry", "r", "retry", "Answer it again, as a fork"),
    MessageKey("continue", "c", "continue", "Let the model go on with the reply"),
    MessageKey("fork_before", "less_than_sign,h", "fork before", "Show the fork before"),
    MessageKey("fork_after", "greater_than_sign,l", "next fork", "Show the next fork"),
    MessageKey("traces", "a", "agents", "Show what the agents did that worked for it"),
    MessageKey("tree", "t", "tree", "Show all forks as a tree"),
)
BY_NAME = {key.name: key for key in MESSAGE_KEYS}


def message_bindings() -> list[BindingType]:
    """The transcript's bindings; each runs its action `deed` with the name."""
    return [
        Binding(key.keys, f"deed({key.name!r})", key.word, id=PREFIX + key.name, show=False) for key in MESSAGE_KEYS
    ]


def shown(name: str, chosen: Mapping[str, str]) -> str:
    """The first key of a deed as a person reads it; empty when it has none. `chosen`: what the user set, by id."""
    return next((keys.display(key) for key in in_force(name, chosen)), "")


def in_force(name: str, chosen: Mapping[str, str]) -> list[str]:
    """The keys of a deed."""
    return keys.split(chosen.get(PREFIX + name, BY_NAME[name].keys))
