"""What a question asks for, and whether a text looks like an answer to it. Pure; English and Chinese.

Vectors hardly see polarity, numbers and dates, and they rate a question next to another question higher than the
answer to it. These are the hints that put that right; each is worth little, so that none decides alone.
"""

import math
import re
from dataclasses import dataclass

from memory.text import is_cjk
from memory.writing.worth import is_negative

DATE_FIT = 0.35
NUMBER_FIT = 0.25
POLARITY_FIT = 0.5
QUESTION_COST = 0.6
LENGTH_WEIGHT = 0.6
USUAL_SIZE = 80
LENGTH_RANGE = (0.25, 2.6)
"""Shortest and longest that count, in usual sizes: a page says no more than a paragraph."""
LOOKED_AT = 2000
"""Characters of a text that are looked at."""

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_ASKS_DATE = re.compile(
    r"\bwhen\b|\b(?:what|which) (?:day|date|month|year|time|evening|week)\b|\bhow (?:long|often)\b|\b(?:until|since)\b"
    r"|什么时候|何时|哪[一]?[天年月日]|[哪几](?:个)?月|几[号点]|多久|日期|到期|从何时|何日",
    re.IGNORECASE,
)
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|old|long|large|big|often|far|tall|high|strong)\b|\bwhat (?:price|size|port|number|age)\b"
    r"|几|多少|多[大长高远重久]|第几|价格|尺[寸码]",
    re.IGNORECASE,
)
_ASKS_NEGATIVE = re.compile(
    r"\b(?:avoid\w*|stop(?:ped)?|drop(?:ped)?|gave up|give up|abandon\w*|left out|leave out|forbidden|turned down)\b"
    r"|[不没别禁避]|去掉|推后|放弃",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\b(?:yesterday|today|tomorrow|tonight|last|next|ago|since|until|weeks?|weekends?|months?|years?|spring|summer"
    r"|autumn|winter|christmas|easter|morning|evening|noon|(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    rf"|{_MONTHS}|(?:19|20)\d\d)\b|[昨今明后前]天|[上下这]个?[周月年]|周[一二三四五六日天末]|星期|礼拜|[月号日年春夏秋冬]",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred"
    r"|thousand|half|twice|once|first|second|third)\b|[一二三四五六七八九十百千万半两]",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?。！？；\n]+[.!?。！？；]*")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a question asks for."""

    date: bool
    number: bool
    negative: bool

    @classmethod
    def by(cls, question: str) -> "Wanted":
        """Read it from the words of the question."""
        return cls(
            date=_ASKS_DATE.search(question) is not None,
            number=_ASKS_NUMBER.search(question) is not None,
            negative=is_negative(question) or _ASKS_NEGATIVE.search(question) is not None,
        )

    def fit(self, text: str) -> float:
        """What a text gains by holding what is asked for: a date, a number, a denial."""
        text = text[:LOOKED_AT]
        gain = DATE_FIT if self.date and _DATE.search(text) else 0.0
        gain += NUMBER_FIT if self.number and _NUMBER.search(text) else 0.0
        return gain + (POLARITY_FIT if self.negative and is_negative(text) else 0.0)


def substance(text: str) -> float:
    """How much a text is likely to say: less when it is short, less when it mostly asks. About -1.4 to 0.6."""
    low, high = LENGTH_RANGE
    length = math.log(min(high, max(low, size(text) / USUAL_SIZE)))
    return LENGTH_WEIGHT * length - QUESTION_COST * question_share(text)


def size(text: str) -> int:
    """Characters of the part that is looked at; a Chinese, Japanese or Korean one says as much as six."""
    text = text[:LOOKED_AT]
    return len(text) if text.isascii() else len(text) + 5 * sum(map(is_cjk, text))


def question_share(text: str) -> float:
    """The share of a text, by characters, that are questions, 0–1."""
    asked = whole = 0
    for sentence in _SENTENCE.findall(text[:LOOKED_AT]):
        whole += len(sentence)
        asked += len(sentence) if sentence.endswith(("?", "？")) else 0
    return asked / whole if whole else 0.0
