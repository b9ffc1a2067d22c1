"""Masking of keys in what is written for others to read: logs, error texts, reports.

Two ways: by value, for the keys that this process knows, and by shape, for those that it does not. Where in doubt it
masks. What a user's own words hold is judged elsewhere, with more care (`memory.writing.secrets`).
"""

import re
from collections.abc import Iterable

MASK = "…"
SHORTEST = 6
"""Characters; masking shorter values would tear words apart."""

_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|key|api)[-_][\w*.\-]{8,}"
    r"|\b(?:gh[oprsu]_|github_pat_|glpat-|xox[abeoprs]-|hf_|npm_|pypi-|ya29\.|AIza|AKIA|ASIA)[\w.\-]{8,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY.*?(?:-----END [A-Z ]*PRIVATE KEY[A-Z ]*-----|\Z)"
    r"|(?<=bearer )[^\s\"',;]{6,}"
    r"|(?<=://)[^\s/:@]+:[^\s/@]+(?=@)"
    r"|(?<=[?&])(?:api_?key|key|token|access_token|secret|password)=[^\s&\"']+"
    r"|(?:x-api-key|api[_-]?key|authorization|password|passwd|secret)[\"']?\s*[:=]\s*[bru]{0,2}[\"']?(?!bearer)[^\s\"',;)}\]]{4,}",
    re.IGNORECASE | re.DOTALL,
)


def redact(text: str, known: Iterable[str] = ()) -> str:
    """The text with every value of `known` and everything shaped like a key replaced by `MASK`. Idempotent."""
    for secret in sorted({value for value in known if len(value) >= SHORTEST}, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return _SHAPES.sub(MASK, text)
