"""What the core says about a choice of model, in the language of the screen: the core itself speaks English."""

import re
from functools import cache

from orca_tui.i18n import _

DETAILS = (
    "Not found at {host}. Start it with: ollama serve",
    "Runs at {host} without a model. Get one with: ollama pull qwen3:4b",
    "Runs at {host} without {model}. Get it with: ollama pull {model}",
    "Runs at {host}.",
    "Chat and embeddings at {host}.",
    "Chat at {host}.",
    "Canned answers, to look around without a model.",
    "Runs inside orca, without a network.",
    "Get one with: orca-tui model add (the built-in model is 93 MB).",
    'Install it with: pip install "orca-tui[local]"',
    "Set {name}, or api_key under [{section}] in config.toml.",
    "Set api_key or api_key_env under [{section}] in config.toml.",
)
"""Sentences of `memory.provider.factory`; `{…}` stands for a name without blanks."""


def detail_said(text: str) -> str:
    """`text` translated when it is one of `DETAILS`, else as it is."""
    for source, pattern in _patterns():
        found = pattern.fullmatch(text)
        if found is not None:
            return _(source, **found.groupdict())
    return text


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((source, re.compile(_pattern(source))) for source in DETAILS)


def _pattern(source: str) -> str:
    """A name that comes twice must be the same both times."""
    seen: set[str] = set()
    pieces = []
    for piece in re.split(r"(\{\w+\})", source):
        name = piece[1:-1] if piece.startswith("{") else ""
        pieces.append(re.escape(piece) if not name else f"(?P={name})" if name in seen else rf"(?P<{name}>\S+)")
        seen.add(name)
    return "".join(pieces)
