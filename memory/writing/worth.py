"""Judgements about a piece of text: is it worth remembering, does it say the same as another, is it grounded.

Pure and cheap; used before anything is written to memory. No model is asked here.
"""

import re

from memory.store.search import terms
from memory.text import is_cjk
from memory.types import MemoryType

TYPED_LIMIT = 1000
"""Characters; a longer message was most likely pasted, so it is not taken for the user's own words."""

_NEGATIVE = re.compile(
    r"\b(?:no|not|never|none|cannot|without|hates?|hated|dislikes?|disliked|avoids?|allergic|stopped|quit|refuses?)\b"
    r"|n[’']t\b|不(?!错|过|但|仅|只|同)|没|别(?!人|的|墅)|勿|讨厌|拒绝|受不了|过敏|从未|戒",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_LATIN_WORD = re.compile(r"\d*[^\W\d_][^\W_]*(?:[-'’][^\W_]+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")
_FUNCTION_CHARACTERS = frozenset("的了着过在是我你您他她它们这那一个很都也就还吗呢吧啊呀和与及或请要会能想把被给对从到")

_SMALL_TALK = re.compile(
    r"(?<!\w)(?:hi|hey|hello|yo|good (?:morning|evening|night|afternoon)|thanks?(?: you)?(?: (?:so|very) much| a lot)?"
    r"|thx|ty|ok(?:ay)?|k|yes|yeah|yep|no|nope|sure|cool|nice|great|perfect|awesome|got it|sounds good|go (?:on|ahead)"
    r"|continue|next|more|please|bye|goodbye|see you|how are you(?: doing)?(?: today)?|what'?s up|lol|haha+"
    r"|test(?:ing)?|there|orca|again|all|so|much|then|now|and|well|oh)(?!\w)",
    re.IGNORECASE,
)
_SMALL_TALK_ZH = re.compile(
    r"(?:你好|您好|嗨|哈喽|早上好|早安|晚安|晚上好|下午好|早|谢谢(?:你|您)?|多谢|感谢|好的?|嗯+|哦+|是的?|对的?|不是?"
    r"|可以|行|没问题|继续|再来|收到|明白|知道|懂|再见|拜拜|哈哈+|在吗|测试|不客气|啊|呀|吧|了|啦|呢)+"
)
_ARITHMETIC = re.compile(
    r"(?:what(?:'s| is)|how much is|calculate|compute|计算|算一下|请问)?"
    r"\s*[\d\s.,()+\-*/×÷^%=]+(?:等于多少|是多少|等于几)?\s*[?？=]*",
    re.IGNORECASE,
)
_FENCE = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|\|).*$", re.MULTILINE)
_LONG_QUOTE = re.compile(r"[“\"「『«][^”\"」』»]{40,}[”\"」』»]")


_ASKED: tuple[tuple[MemoryType, str], ...] = (
    (
        "preference",
        r"\b(?:prefer|like|favou?rite|love|hate|usually|enjoy|recommend|suggest)|喜欢|偏好|讨厌|习惯|推荐|口味",
    ),
    ("decision", r"\b(?:decid|decision|chose|choose|agreed|settled|why did we)|决定|选定|选择|敲定"),
    ("project", r"\b(?:project|repo|codebase|deadline)|项目|仓库|工程"),
    ("event", r"\b(?:when|yesterday|tomorrow|last|next|appointment|meeting)\b|什么时候|何时|昨天|明天|上周|下周|会议"),
)


def asked_types(query: str) -> list[MemoryType]:
    """The memory types that a question seems to ask for; a hint for ranking, nothing more."""
    return [memory_type for memory_type, pattern in _ASKED if re.search(pattern, query, re.IGNORECASE)]


def is_small_talk(text: str) -> bool:
    """Whether a message holds nothing to keep or to look up: greetings, thanks, confirmations, bare arithmetic."""
    bare = text.strip()
    if _ARITHMETIC.fullmatch(bare):
        return True
    rest = re.sub(r"[\W_]+", "", _SMALL_TALK.sub(" ", bare))
    return not rest or _SMALL_TALK_ZH.fullmatch(rest) is not None


def sentences(text: str) -> list[str]:
    """The sentences of a text, trimmed, without empty ones."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


def is_negative(text: str) -> bool:
    """Whether a statement denies or rejects something. Two texts of different polarity never count as one."""
    return _NEGATIVE.search(text) is not None


def numbers(text: str) -> frozenset[str]:
    """The numbers in a text, as written."""
    return frozenset(_NUMBER.findall(text))


def names(text: str) -> frozenset[str]:
    """Words that look like names: capitals or digits inside, or a capital that no sentence begins with. Folded."""
    found: set[str] = set()
    for sentence in sentences(text):
        for position, word in enumerate(_LATIN_WORD.findall(sentence)):
            inner = any(ch.isupper() or ch.isdigit() for ch in word[1:])
            if inner or (position and word[0].isupper() and word not in ("I", "A")):
                found.add(re.sub(r"['’]s$|['’]\w+$", "", word).casefold())
    return frozenset(found - {"i"})


def similarity(one: str, other: str) -> float:
    """How much two texts share, 0–1: the Dice measure over their normalised search terms."""
    a, b = set(terms(one)), set(terms(other))
    return 2 * len(a & b) / (len(a) + len(b)) if a and b else float(one.strip() == other.strip())


def is_near_duplicate(one: str, other: str, threshold: float) -> bool:
    """Whether two statements say the same: alike by at least `threshold`, of one polarity, same numbers and names.

    Chinese has no capitals to tell names by, so there no character that carries meaning may differ.
    """
    if is_negative(one) != is_negative(other) or numbers(one) != numbers(other) or names(one) != names(other):
        return False
    different = _characters(one) ^ _characters(other)
    return not different and similarity(one, other) >= threshold


def _characters(text: str) -> frozenset[str]:
    return frozenset(ch for ch in text if is_cjk(ch)) - _FUNCTION_CHARACTERS


def is_grounded(claim: str, source: str, *, share: float = 0.6) -> bool:
    """Whether a claim can have come from `source`: enough of its terms, all its numbers and all its names are there."""
    wanted = set(terms(claim))
    if not wanted or not numbers(claim) <= numbers(source):
        return False
    folded = source.casefold()
    if not all(name in folded for name in names(claim)):
        return False
    return len(wanted & set(terms(source))) >= share * len(wanted)


def typed_part(text: str) -> str:
    """What of a message the user is likely to have typed: without code fences, quoted lines and long quotations."""
    text = _FENCE.sub("\n", text)
    text = _QUOTED_LINE.sub("", text)
    return _LONG_QUOTE.sub("", text).strip()


def looks_pasted(text: str) -> bool:
    """Whether a message is too long to have been typed as it stands; what it says needs the user's review."""
    return len(text) > TYPED_LIMIT or text.count("\n") > 20
