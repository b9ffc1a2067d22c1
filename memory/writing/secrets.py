"""Keys, tokens and passwords in what a user writes: noticed before they become memory, and masked where text travels.

What the user wrote stays in the conversation as it is. It is not made a memory or part of a summary, and goes masked
to the embedder, to extraction and into the prompts of other conversations.
"""

import re
from typing import Literal

SecretKind = Literal["key", "token", "private key", "password", ""]

MASK = "[…]"

_MIXED = r"(?=[\w.\-]*\d)"
"""A key has digits in it; `sk-learn-contrib-examples` has none."""
_NO_VALUE = (
    r"(?!(?:required|not|too|wrong|incorrect|invalid|missing|needed|expired|stored|kept|set|the|an?|in|on|at|to|of|or|and"
    r"|what|where|how|when|why|important|optional|empty|never|always|for|used|hashed|encrypted|reset|safe|secure|weak"
    r"|strong|correct|shown|hidden|changed|being|going|also|still|now|just|very|so|that|this|my|your|our|it|true|false"
    r"|null|none|str|string|int|bool|bytes|there|only|valid|checked|based|called|like|field|by|from|with|left|right"
    r"|compulsory|mandatory|longer|shorter|at)\b|[\[{<(*…]|\.\.\.)"
)
_ZH_NO_VALUE = (
    r"(?!什么|多少|几|否|不|必|空|需|如何|怎|错|对的|一|用|在|由|指|很|最|要|应|可|我|你|他|谁|哪|[\[{<（(*…])"
)

_PATTERNS: tuple[tuple[SecretKind, re.Pattern[str]], ...] = (
    (
        "private key",
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY.*?(?:-----END [A-Z ]*PRIVATE KEY[A-Z ]*-----|\Z)", re.DOTALL),
    ),
    (
        "key",
        re.compile(
            rf"\b(?:(?:sk|pk|rk)[-_]{_MIXED}[\w\-]{{16,}}|AIza[\w\-]{{20,}}|(?:AKIA|ASIA)[A-Z0-9]{{12,}})(?![\w\-])"
            rf"|\b(?:gh[oprsu]_|github_pat_|glpat-|xox[abeoprs]-|hf_|npm_|pypi-){_MIXED}[\w\-]{{12,}}"
        ),
    ),
    ("token", re.compile(r"\beyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*)?")),
    ("token", re.compile(r"(?i:\bbearer )(?=[^\s\"']*\d)[\w.~+/=\-]{12,}")),
    ("password", re.compile(r"(?<=://)[^\s/:@]+:[^\s/@]+(?=@)")),
    (
        "password",
        re.compile(
            r"\b(?:password|passwd|passphrase|passcode|pin(?: code)?|cvv|(?:api|access|secret)[ _-]?key)\b"
            r"(?: (?:for|to|of|on) [^\n.:=]{1,40}?)?[\"']?\s*(?:is now|is|are|=|:|：)\s*[\"']?"
            rf"{_NO_VALUE}[^\s\"',，。;；]+",
            re.IGNORECASE,
        ),
    ),
    (
        "token",
        re.compile(
            rf"\b(?:secret|token)[\"']?\s*(?:is|=|:|：)\s*[\"']?{_NO_VALUE}(?=[^\s]*\d)(?=[^\s]*[A-Za-z])[^\s\"',，。]{{6,}}",
            re.IGNORECASE,
        ),
    ),
    ("password", re.compile(rf"(?:密码|口令|密钥|验证码|令牌)\s*(?:是|为|：|:|=)\s*{_ZH_NO_VALUE}[^\s，。；,;]+")),
)


def secret_kind(text: str) -> SecretKind:
    """What the first secret in a text seems to be; empty when there is none."""
    return next((kind for kind, pattern in _PATTERNS if pattern.search(text)), "")


def holds_secret(text: str) -> bool:
    """Whether a text seems to hold a key, token or password; such text is never made a memory."""
    return bool(secret_kind(text))


def masked(text: str) -> str:
    """The text with every secret replaced by `MASK`; the same object when there is none. Idempotent."""
    for _kind, pattern in _PATTERNS:
        if pattern.search(text):
            text = pattern.sub(MASK, text)
    return text
