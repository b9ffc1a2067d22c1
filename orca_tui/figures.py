"""Numbers and times as the screen writes them. All pure: the time now comes from the caller."""

from memory.clock import from_iso
from orca_tui.i18n import _

MINUTE, HOUR, DAY = 60, 3600, 86_400


def count(number: int) -> str:
    """A count in full: `12,345`."""
    return f"{number:,}"


def short_count(number: int) -> str:
    """A count in at most five cells: `842`, `1.2k`, `128k`, `1.3M`."""
    for limit, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= limit * 0.9995:
            scaled = number / limit
            return f"{scaled:.0f}{unit}" if scaled >= 99.95 else f"{scaled:.1f}{unit}"
    return str(number)


def age(timestamp: str, now: str) -> str:
    """How long ago, in one short word: `now`, `5 min`, `3 h`, `4 d`, `2 mo`, `1 y`; empty when a time is unreadable."""
    try:
        seconds = (from_iso(now) - from_iso(timestamp)).total_seconds()
    except ValueError:
        return ""
    if seconds < MINUTE:
        return _("now")
    if seconds < HOUR:
        return _("{n} min", n=int(seconds // MINUTE))
    if seconds < DAY:
        return _("{n} h", n=int(seconds // HOUR))
    days = int(seconds // DAY)
    if days < 60:
        return _("{n} d", n=days)
    return _("{n} mo", n=days // 30) if days < 730 else _("{n} y", n=days // 365)


def size_words(size: int) -> str:
    """Bytes for a person: `812 B`, `34 kB`, `1.2 MB`."""
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.0f} kB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"
