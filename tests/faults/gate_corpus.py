"""The hostile texts for the gate: the two corpora as entries with a tag in front that shows where one begins."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LONGEST = 1200
"""Characters of a text that are used here: what size does is for the tests of the gate and of the layout."""
DATA = Path(__file__).parents[1] / "data"
PLAIN = (
    "plain",
    "你好，世界",
    "a **bold** `code` https://a.example/x [link](https://a.example)",
    "one\ntwo\tthree",
    "",
)
"""What a run on honest text is: what it makes the terminal do is what hostile text may make it do."""
FULL = os.environ.get("ORCA_SWEEP") == "full"
"""Every text goes to every place (`make gate`)."""


@dataclass(frozen=True)
class Entry:
    """One text to show."""

    id: str
    tag: str
    """Stands in front of the text, and must be seen."""
    raw: str
    pieces: tuple[str, ...]
    """The text in the pieces in which a stream would bring it."""

    @property
    def text(self) -> str:
        """Tag and text."""
        return f"{self.tag} {self.raw} {self.tag}z"

    @property
    def line(self) -> str:
        """The same without line ends."""
        return self.text.replace("\n", " ")


def hostile() -> list[tuple[str, tuple[str, ...]]]:
    """Id and pieces of every entry of both corpora."""
    found = []
    for name in ("escapes", "markup"):
        for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines():
            entry = json.loads(line)
            found.append((entry["id"], _pieces(entry)))
    return found


def _pieces(entry: dict[str, Any]) -> tuple[str, ...]:
    if "hex" in entry:
        return (bytes.fromhex(entry["hex"]).decode("utf-8", errors="replace"),)
    if "gen" in entry:
        character, count = entry["gen"].split("*")
        return (character.strip("'") * min(int(count), LONGEST),)
    given = entry["s"]
    if isinstance(given, list):
        return tuple(given)
    given = given[:LONGEST]
    return tuple(given[at : at + 3] for at in range(0, len(given), 3)) or ("",)


def entries() -> list[Entry]:
    """The plain ones, then all hostile ones."""
    given = [(f"plain-{number}", (text,)) for number, text in enumerate(PLAIN)] + hostile()
    return [Entry(name, f"q{number:03d}", "".join(pieces), pieces) for number, (name, pieces) in enumerate(given)]


def part(place: int, parts: int) -> list[Entry]:
    """The plain ones, then those that the place with this number is given; the next place is given the next part."""
    plain, rest = entries()[: len(PLAIN)], entries()[len(PLAIN) :]
    return plain + (rest if FULL else rest[place % parts :: parts])
