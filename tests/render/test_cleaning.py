"""Cleaning a stream gives what cleaning the whole gives, wherever it was cut; and nothing forbidden reaches a row."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.text import clean, strip_unsafe
from orca_tui.render.cleaning import Cleaner
from orca_tui.render.entry import Entry
from orca_tui.render.folding import View
from orca_tui.render.layout import lay_out

ESCAPES = json.loads((Path(__file__).parent / "data" / "escapes.json").read_text("utf-8"))
SIGNS = [
    *"ab1;m[\r\n\x1b\x9b\x07 中。",
    "\x1b[31m",
    "\r\n",
    "👩",
    "\u200d",
    "\ufe0f",
    "\u0301",
    "\u202e",
    "\U000e0067",
    "\ud83d",
]


@given(st.lists(st.sampled_from(SIGNS)), st.lists(st.integers(1, 4), min_size=1))
def test_cuts_do_not_matter(signs: list[str], cuts: list[int]) -> None:
    text = "".join(signs)
    cleaner, settled, at, turn = Cleaner(), "", 0, 0
    while at < len(text):
        more, _provisional = cleaner.add(text[at : at + cuts[turn % len(cuts)]])
        at, turn = at + cuts[turn % len(cuts)], turn + 1
        settled += more
    assert settled + cleaner.end() == clean(text)


@pytest.mark.parametrize("entry", ESCAPES, ids=lambda entry: entry["id"])
@pytest.mark.parametrize("kind", ["user", "assistant", "error"])
@pytest.mark.parametrize("width", [1, 79])
def test_hostile_text_is_harmless_in_every_block(entry: dict[str, object], kind: str, width: int) -> None:
    given_text = entry["s"]
    text = "".join(given_text) if isinstance(given_text, list) else str(given_text)
    for source in (text, f"```\n{text}\n```", f"| a |\n|---|\n| {text} |", f"[{text}](https://x.example/{text})"):
        shown = Entry("1", kind, source, reasoning=text, title=text, note=text, model=text)  # type: ignore[arg-type]
        layout = lay_out(shown, width, View(thought=True, text=True))
        rows = [layout.row(index) for index in range(layout.height)]
        assert all(strip_unsafe(row.text) == row.text and "\n" not in row.text and "\t" not in row.text for row in rows)
        assert all(row.width <= max(width, 2) for row in rows)
        assert all(strip_unsafe(span.link) == span.link for row in rows for span in row.spans)
