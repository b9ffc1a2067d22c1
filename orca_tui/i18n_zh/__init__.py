"""The Chinese interface: English source string → Chinese, one module an area of the screen.

A string stands in one module only; words of many places stand in `main`.
"""

from collections.abc import Mapping
from importlib import import_module

AREAS = ("main", "agents", "talking", "sessions", "memory", "settings", "terminal", "core")


def _joined() -> Mapping[str, str]:
    texts: dict[str, str] = {}
    for area in AREAS:
        texts.update(import_module(f"orca_tui.i18n_zh.{area}").TEXTS)
    return texts


TEXTS: Mapping[str, str] = _joined()
