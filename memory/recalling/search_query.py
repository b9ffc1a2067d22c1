"""What is typed into the search box: words, and filters such as `role:user since:2026-11-01 branch:user_preference`.

Pure. What cannot be understood is told (`Problem`) and looked for as words, so that no search comes to nothing over a
colon.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeVar

from memory.clock import from_iso, to_iso
from memory.store.filters import Only
from memory.types import ITEM_KINDS, ItemKind, Role

Meant = TypeVar("Meant", ItemKind, Role)
FilterName = Literal["kind", "role", "branch", "session", "since", "until", "project"]
NAMES: dict[str, FilterName] = {
    **dict.fromkeys(("kind", "in", "type", "类型"), "kind"),
    **dict.fromkeys(("role", "from", "by", "角色"), "role"),
    **dict.fromkeys(("branch", "分支"), "branch"),
    **dict.fromkeys(("session", "会话"), "session"),
    **dict.fromkeys(("since", "after", "自", "从"), "since"),
    **dict.fromkeys(("until", "before", "到", "至"), "until"),
    **dict.fromkeys(("project", "scope", "项目"), "project"),
}
"""Every name that a filter may be written with."""
KINDS: dict[str, ItemKind] = {
    **dict.fromkeys(("message", "messages", "消息"), "message"),
    **dict.fromkeys(("summary", "summaries", "摘要"), "short_term"),
    **dict.fromkeys(("memory", "memories", "记忆"), "long_term"),
}
ROLES: dict[str, Role] = {
    **dict.fromkeys(("user", "me", "我", "用户"), "user"),
    **dict.fromkeys(("assistant", "model", "ai", "助手", "模型"), "assistant"),
}
HERE = "this"
"""`session:this` is the open one."""
_HERE = frozenset((HERE, "here", "本会话", "此"))
_TOKEN = re.compile(r"([^\s:：\"]{1,20})[:：](\"[^\"]*\"|[^\s\"]*)|\"[^\"]*\"|\S+")
_NEAR_NAME = re.compile(r"[a-z]{2,12}|[\u4e00-\u9fff]{1,4}", re.IGNORECASE)
_BACK = re.compile(r"(\d{1,6})\s*(s|min|mo|m|h|d|w|y|秒|分钟|小时|天|周|个月|月|年)")
_UNITS: dict[str, timedelta] = {
    **dict.fromkeys(("s", "秒"), timedelta(seconds=1)),
    **dict.fromkeys(("m", "min", "分钟"), timedelta(minutes=1)),
    **dict.fromkeys(("h", "小时"), timedelta(hours=1)),
    **dict.fromkeys(("d", "天"), timedelta(days=1)),
    **dict.fromkeys(("w", "周"), timedelta(weeks=1)),
    **dict.fromkeys(("mo", "个月", "月"), timedelta(hours=730)),
    **dict.fromkeys(("y", "年"), timedelta(hours=8766)),
}
"""What a number may be followed by; `m` is minutes and `mo` months, here as everywhere."""
_DATE = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?")
_DAYS = {"today": 0, "今天": 0, "yesterday": 1, "昨天": 1}


@dataclass(frozen=True, slots=True)
class Chip:
    """One filter as it was understood."""

    name: FilterName
    value: str
    start: int
    end: int
    """Where it stands in the text."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One filter that was not understood; it is looked for as words."""

    name: str
    value: str
    allowed: tuple[str, ...]
    """Names of filters, or values of this one; empty when a time is wanted."""

    @property
    def value_is_free(self) -> bool:
        """Whether the name is what is not known, not the value."""
        return self.name.casefold() not in NAMES


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What to look for, and where."""

    words: str = ""
    kinds: tuple[ItemKind, ...] = ITEM_KINDS
    branches: tuple[str, ...] | None = None
    session: str | None = None
    """The beginning of an id, or `HERE`."""
    project: str | None = None
    only: Only = field(default_factory=Only)
    chips: tuple[Chip, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for."""
        return not self.words.strip() and not self.chips


def parse(text: str, now: str) -> SearchQuery:
    """Read what was typed; `now` is what `3d` and `today` are reckoned from. Dates are local."""
    reading = _Reading(now)
    words: list[str] = []
    for match in _TOKEN.finditer(text):
        name, value = match[1], (match[2] or "").strip('"')
        if name is None or not reading.take(name, value, match.start(), match.end()):
            words.append(match[0].strip('"'))
    return reading.query(" ".join(words))


class _Reading:
    def __init__(self, now: str) -> None:
        self._now = now
        self._query = SearchQuery()
        self._kinds: list[ItemKind] = []
        self._roles: list[Role] = []
        self._branches: list[str] = []

    def take(self, name: str, value: str, start: int, end: int) -> bool:
        """Whether it is a filter that is understood."""
        known = NAMES.get(name.casefold())
        if known is None:
            if _NEAR_NAME.fullmatch(name) and value and not value.startswith("/"):
                self._refuse(name, value, tuple(dict.fromkeys(NAMES.values())))
            return False
        if not value:
            return False
        deeds: dict[FilterName, Callable[[str], bool]] = {
            "kind": lambda v: self._one_of(name, v, KINDS, self._kinds),
            "role": lambda v: self._one_of(name, v, ROLES, self._roles),
            "branch": self._branch,
            "session": self._session,
            "since": lambda v: self._time(name, v, "since"),
            "until": lambda v: self._time(name, v, "until"),
            "project": self._project,
        }
        if not deeds[known](value):
            return False
        chip = Chip(known, value, start, end)
        self._query = replace(self._query, chips=(*self._query.chips, chip))
        return True

    def query(self, words: str) -> SearchQuery:
        """All together: a filter that only one kind has leaves out the others."""
        asked: list[ItemKind] = self._kinds or list(ITEM_KINDS)
        allowed: set[ItemKind] = set(ITEM_KINDS)
        if self._roles:
            allowed &= {"message"}
        if self._branches:
            allowed &= {"long_term"}
        if self._query.session is not None:
            allowed &= {"message", "short_term"}
        kinds = tuple(kind for kind in dict.fromkeys(asked) if kind in allowed)
        only = replace(self._query.only, roles=tuple(self._roles) or None)
        return replace(self._query, words=words, kinds=kinds, branches=tuple(self._branches) or None, only=only)

    def _one_of(self, name: str, value: str, known: dict[str, Meant], found: list[Meant]) -> bool:
        meant = [known[one] for one in value.casefold().split(",") if one in known]
        if len(meant) <= value.count(","):
            self._refuse(name, value, tuple(one for one in known if one.isascii()))
            return False
        found += [one for one in meant if one not in found]
        return True

    def _branch(self, value: str) -> bool:
        self._branches += value.split(",")
        return True

    def _session(self, value: str) -> bool:
        self._query = replace(self._query, session=HERE if value.casefold() in _HERE else value)
        return True

    def _project(self, value: str) -> bool:
        self._query = replace(self._query, project=value)
        return True

    def _time(self, name: str, value: str, edge: Literal["since", "until"]) -> bool:
        try:
            moment = time_of(value, self._now, end=edge == "until")
        except (ValueError, OverflowError):
            self._refuse(name, value, ())
            return False
        only = self._query.only
        only = replace(only, since=moment) if edge == "since" else replace(only, until=moment)
        self._query = replace(self._query, only=only)
        return True

    def _refuse(self, name: str, value: str, allowed: tuple[str, ...]) -> None:
        problem = Problem(name, value, allowed)
        self._query = replace(self._query, problems=(*self._query.problems, problem))


def time_of(text: str, now: str, *, end: bool = False) -> str:
    """A moment: `2026-11-01`, `2026-11`, `2026`, `today`, a whole ISO time, or back from now: `30m`, `2h`, `3d`, `2w`,
    `1mo`, `1y`. Of a span its beginning, or `end`.

    Raises `ValueError` or `OverflowError` when it is none.
    """
    text = text.strip().casefold()
    if back := _BACK.fullmatch(text):
        return to_iso(from_iso(now) - int(back[1]) * _UNITS[back[2]])
    if text in _DAYS:
        day = from_iso(now).astimezone().replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
        begin = day - timedelta(days=_DAYS[text])
        return _utc(begin + timedelta(days=1) if end else begin)
    if date := _DATE.fullmatch(text):
        year, month, day_of = int(date[1]), int(date[2] or 1), int(date[3] or 1)
        begin = datetime(year, month, day_of)  # noqa: DTZ001 - local, as a person means it
        if not end:
            return _utc(begin)
        if date[3]:
            return _utc(begin + timedelta(days=1))
        following = (year + 1, 1) if month == 12 or not date[2] else (year, month + 1)
        return _utc(datetime(*following, 1))  # noqa: DTZ001
    moment = datetime.fromisoformat(text.upper())
    return to_iso(moment.astimezone(UTC))


def _utc(local: datetime) -> str:
    return to_iso(local.astimezone(UTC))
